package command

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/data/message"
	"github.com/ntconv/ntconv/internal/files/fileio"
	"github.com/ntconv/ntconv/internal/run/formats"
	"github.com/ntconv/ntconv/internal/run/pass"
	"github.com/ntconv/ntconv/internal/trace/scrub"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// scrubFlags are the flags of scrub, and the Scrubber that they describe.
type scrubFlags struct {
	key, policy  string
	printPolicy  bool
	dryRun, json bool
	methods, ids string
	opts         scrub.Options
	scrubber     *scrub.Scrubber
	examples     int
}

const scrubDetails = `Replace the secrets of a trace, so that it can be given to others: command lines, environment variables, paths, names of
users and hosts, URLs, SQL, messages of exceptions and logs, values of headers, attributes and labels, and all text that
no rule of the policy knows. Names of methods, types, modules, providers and events stay, and so do numbers, times,
stacks and the sizes of payloads. The format follows from the name of OUT, nettrace 6 by default.

Each word is replaced by a pseudonym: a word of the same length with letters for letters and digits for digits. Equal
words have equal pseudonyms, in a path as well as in a URL. Pseudonyms depend on the key, which is random unless --key
states it: scrub the traces that belong together with the same key, and keep the key secret.

--dry-run lists what would be replaced: for each field, the class, the number of texts, and examples. The examples show
the secrets; --examples 0 omits them. --print-policy prints the default policy, whose comments explain the rules, as a
start for a policy of your own. Check a scrubbed trace with ntconv print before you give it away.`

func (a *app) scrubCmd() *cobra.Command {
	var f scrubFlags
	var c conversion
	cmd := &cobra.Command{
		Use:   "scrub IN OUT",
		Short: "Replace the secrets of a trace, so that it can be given to others",
		Long:  scrubDetails,
		Example: examples(
			"what would be replaced", "ntconv scrub --dry-run trace.nettrace",
			"replace it", "ntconv scrub trace.nettrace clean.nettrace",
			"also the names of methods, and one field of your own",
			"ntconv scrub --methods hash --field 'Shop-Orders/Placed.Customer' trace.nettrace clean.nettrace",
			"only the last minute: filter first",
			"ntconv filter --from-time -1m trace.nettrace - | ntconv scrub - clean.nettrace",
		),
		Args:              f.args,
		ValidArgsFunction: inputCompletion,
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if f.printPolicy {
			return a.printPolicy()
		}
		if err := f.open(); err != nil {
			return err
		}
		a.rewrite = f.scrubber.Source
		c.take(args)
		if f.dryRun {
			return a.scrubDryRun(&f, c.in)
		}
		return a.scrub(cmd, &f, &c)
	}
	return a.withFlags(cmd, func() {
		addGroup(cmd, groupOwn, func(flags *pflag.FlagSet) {
			c.bindOut(flags, "the same as OUT: output `file`; - is standard output")
			flags.BoolVarP(&a.force, "force", "f", false, "overwrite an existing output")
			f.bind(flags)
		})
		a.completeScrub(cmd)
		a.addReadFlags(cmd)
		showOrder(cmd, formats.OrderName(formats.Nettrace().Out.Needs.Order))
	})
}

func (f *scrubFlags) bind(flags *pflag.FlagSet) {
	f.methods, f.ids = "keep", "keep"
	flags.StringVar(&f.key, "key", "", "`key` of the pseudonyms: a file, or at least 32 hexadecimal digits (default: random)")
	flags.StringVar(&f.policy, "policy", "", "`file` with rules that precede those of the default policy")
	flags.BoolVar(&f.printPolicy, "print-policy", false, "print the default policy")
	flags.BoolVar(&f.dryRun, "dry-run", false, "write no trace; list what would be replaced")
	flags.BoolVar(&f.json, "json", false, "with --dry-run: one JSON object")
	flags.IntVar(&f.examples, "examples", 3, "with --dry-run: maximum number of examples per row, which show secrets")
	flags.Var(formats.Choice(&f.methods, "keep", "hash"), "methods",
		"names of methods, types, modules and assemblies")
	flags.Var(formats.Choice(&f.ids, "keep", "hash"), "ids", "trace and span IDs")
	flags.StringArrayVar(&f.opts.Fields, "field", nil,
		"also replace the texts and numbers of this `field`: PROVIDER/EVENT.FIELD, * matches any text; repeatable")
	flags.StringArrayVar(&f.opts.Providers, "provider-text", nil,
		"also replace all texts and numbers of the events of this `provider`, names of methods as well; repeatable")
	flags.StringArrayVar(&f.opts.Drop, "drop-provider", nil, "drop the events of this `provider`; repeatable")
	trace := pflag.NewFlagSet("", pflag.ContinueOnError)
	formats.Nettrace().Out.Bind(trace)
	for _, name := range ofTrace {
		flags.AddFlag(trace.Lookup(name))
	}
}

// ofTrace are the flags of scrub that are those of a trace to write. Messages of the format propose them.
var ofTrace = []string{"allow-large", "drop-unknown"}

// bindCreator prepares the output with the flags in ofTrace.
func bindCreator(cmd *cobra.Command, c *conversion) error {
	own := pflag.NewFlagSet("", pflag.ContinueOnError)
	c.bind(own)
	for _, name := range ofTrace {
		f := cmd.Flags().Lookup(name)
		switch {
		case !f.Changed:
		case own.Lookup(name) == nil:
			return failf(exitUsage, "--%s has no effect on %s; omit --%s", name, c.To.Name, name)
		default:
			if err := own.Set(name, f.Value.String()); err != nil {
				return fail(exitUsage, err)
			}
		}
	}
	return nil
}

// args checks the arguments IN OUT. A dry run writes no output, and --print-policy not even an input.
func (f *scrubFlags) args(cmd *cobra.Command, args []string) error {
	switch {
	case f.printPolicy:
		return cobra.NoArgs(cmd, args)
	case f.dryRun:
		return inAndOut(cmd, args) // OUT is accepted, so that --dry-run can be added to a command line
	case f.json:
		return errors.New("--json needs --dry-run")
	case cmd.Flags().Changed("examples"):
		return errors.New("--examples needs --dry-run")
	}
	if err := inAndOut(cmd, args); err != nil {
		return err
	}
	if len(args) == 1 && !cmd.Flags().Changed("output") {
		return errors.New("no output given: name a file, or - for standard output; --dry-run writes none")
	}
	return nil
}

// open reads the key and the policy.
func (f *scrubFlags) open() error {
	f.opts.HashMethods, f.opts.HashIDs = f.methods == "hash", f.ids == "hash"
	if f.dryRun {
		if f.examples < 0 {
			return failf(exitUsage, "--examples %d: want 0 or more", f.examples)
		}
		f.opts.Examples = f.examples
	}
	var err error
	if f.key != "" {
		if f.opts.Key, err = readKey(f.key); err != nil {
			return fail(exitUsage, err)
		}
	}
	if f.policy != "" {
		text, err := os.ReadFile(f.policy)
		if err != nil {
			return failf(exitUsage, "--policy: %w", err)
		}
		if f.opts.Policy, err = scrub.NewPolicy([]string{f.policy}, []string{string(text)}); err != nil {
			return failf(exitUsage, "--policy: %w", err)
		}
	}
	if f.scrubber, err = scrub.New(f.opts); err != nil {
		return failf(exitUsage, "--field: %w", err)
	}
	return nil
}

// minKey is the minimum size of a key in bytes.
const minKey = 16

// readKey returns the key that --key states: hexadecimal digits, or else the name of a file.
func readKey(s string) ([]byte, error) {
	if len(s) >= 2*minKey {
		if key, err := hex.DecodeString(s); err == nil {
			return key, nil
		}
	}
	file, err := os.Open(s)
	if err != nil {
		return nil, fmt.Errorf("--key: %w; want a file or at least %d hexadecimal digits", err, 2*minKey)
	}
	defer file.Close()
	key, err := io.ReadAll(io.LimitReader(file, 1<<20))
	if err != nil {
		return nil, fmt.Errorf("--key: %w", err)
	}
	if len(key) < minKey {
		return nil, fmt.Errorf("--key %s: %s, want at least %d", s, message.Count(int64(len(key)), "byte"), minKey)
	}
	return key, nil
}

func (a *app) printPolicy() error {
	if _, err := io.WriteString(a.stdout, scrub.DefaultPolicy); err != nil {
		return outputFailure(&fileio.Error{Name: fileio.StdoutName, Op: "write", Err: err})
	}
	return nil
}

// scrub writes a trace without its secrets.
func (a *app) scrub(cmd *cobra.Command, f *scrubFlags, c *conversion) error {
	c.scrub, c.Remarks, c.To, c.Adapt = f, f.detail, formats.Nettrace(), f.target
	if to := formats.ByFile(formats.Writable(), c.out); to != nil && !isStdout(c.out) {
		c.To = to
	} else if to, compression := formats.ByOutput(c.out); to != nil && to.Out != nil && compression != "" {
		c.To = to
	}
	if err := bindCreator(cmd, c); err != nil {
		return err
	}
	if err := a.prepare(cmd, c); err != nil {
		return err
	}
	return a.convert(c)
}

// target removes the names of files from the description of an output.
func (f *scrubFlags) target(t *formats.Target) {
	t.Flagless = true
	t.Input = "scrubbed"
	t.Comments = append(t.Comments, "scrubbed by ntconv")
	t.Filtered = t.Filtered || f.scrubber.DropsEvents()
}

// detail describes what was replaced, with counts per class.
func (f *scrubFlags) detail() string {
	r := f.scrubber.Result()
	counts := make(map[string]int64)
	var classes []string
	for _, row := range r.Rows {
		if row.Changed > 0 {
			if counts[row.Class] == 0 {
				classes = append(classes, row.Class)
			}
			counts[row.Class] += row.Changed
		}
	}
	slices.SortStableFunc(classes, func(x, y string) int { return int(max(-1, min(1, counts[y]-counts[x]))) })
	parts := make([]string, len(classes))
	for i, c := range classes {
		parts[i] = c + " " + message.Group(counts[c])
	}
	s := message.Group(r.Changed) + " of " + message.Count(r.Texts, "text") + " replaced"
	if len(parts) > 0 {
		s += " (" + strings.Join(parts, ", ") + ")"
	}
	if r.Dropped > 0 {
		s += "; " + message.Count(r.Dropped, "event") + " dropped"
	}
	if n := len(r.Unmatched); n > 0 {
		s += "; " + message.Count(int64(n), "rule") + " of the policy matched nothing: " + strings.Join(r.Unmatched, ", ")
	}
	if f.key == "" {
		s += "; the key was random, so another run has other pseudonyms"
	}
	return s
}

// scrubDryRun lists what would be replaced.
func (a *app) scrubDryRun(f *scrubFlags, in string) error {
	a.begin(&pass.Summary{Input: in, Flags: a.openers.Notes})
	plan, err := a.plan()
	if err != nil {
		return err
	}
	return a.over([]string{in}, plan, func(p *pass.Pass) error {
		fatal, partial := a.drain(p, ntconv.Tee())
		if fatal != nil {
			return fatal
		}
		a.sum.Read(p)
		if err := a.scrubbed(f, p); err != nil {
			return err
		}
		r := f.scrubber.Result()
		write := r.WriteText
		if f.json {
			write = r.WriteJSON
		}
		if err := write(a.stdout); err != nil {
			return outputFailure(&fileio.Error{Name: fileio.StdoutName, Op: "write", Err: err})
		}
		return partial
	})
}
