package main

import (
	"fmt"
	"strings"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/files/fileio"
	"github.com/ntconv/ntconv/internal/run/formats"
	"github.com/ntconv/ntconv/internal/run/pass"
	"github.com/ntconv/ntconv/internal/trace/split"
	"github.com/ntconv/ntconv/symbol"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

func (a *app) convertCmd() *cobra.Command {
	var to string
	var c conversion
	set := new(several)
	var files symbol.Options // with the flags of symbols
	table := formats.Writable()
	cmd := &cobra.Command{
		Use:   "convert IN [OUT]",
		Short: "Convert a trace or a profile; the format follows from the name of the output",
		Long: "Convert a trace or a profile. The format is that of OUT's extension, or the one that --to names:\n" +
			formatLines(table) +
			"Without OUT the output is named after the input, in the current directory, with the extension of the format.\n" +
			"If .gz or .zst follows the extension, the output is compressed.\n" +
			"Some formats have flags of their own, such as --kind of pprof: ntconv to FORMAT takes them.\n\n" + severalHelp,
		Example: examples(
			formats.Example{Remark: "a profile for go tool pprof", Line: "ntconv convert trace.nettrace trace.pb.gz"},
			formats.Example{
				Remark: "from a pipe to a pipe",
				Line:   "curl -s https://host/trace | ntconv convert --to pprof - - > trace.pb.gz",
			},
			formats.Example{Remark: "the last ten seconds", Line: "ntconv convert --from-time -10s trace.nettrace end.pb.gz"},
		),
		Args:              inAndOut,
		ValidArgsFunction: inputCompletion,
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		c.take(args)
		var err error
		if c.to, err = outputFormat(to, c.out); err != nil {
			return err
		}
		c.bind(pflag.NewFlagSet("", pflag.ContinueOnError))
		if c.names != nil {
			c.names.Native, c.names.Lines = files.Native, files.Lines
		}
		return a.convertSeveral(cmd, &c, set, args[:1])
	}
	if !a.hasFlags(cmd) {
		return cmd
	}
	a.addInputFlags(cmd)
	showOrder(cmd, ordersOf(table))
	addGroup(cmd, groupOwn, func(flags *pflag.FlagSet) {
		flags.StringVar(&to, "to", "",
			"`format` of the output: "+strings.Join(formats.NamesOf(table), ", ")+" (default: by its extension)")
		c.bindOut(flags, "the same as OUT: output `file`; - is standard output")
		flags.BoolVarP(&a.force, "force", "f", false, "overwrite an existing output")
		set.bind(flags)
		formats.SymbolFlags(flags, &files)
	})
	complete(cmd, "to", formats.NamesOf(table))
	return cmd
}

// outputFormat returns the format of the output from --to or the extension of out. Its errors list the formats.
func outputFormat(to, out string) (*formats.Format, error) {
	table := formats.Writable()
	if to != "" {
		if f := formats.ByName(table, to); f != nil {
			return f, nil
		}
		return nil, fmt.Errorf("--to %s: no such format; these can be written: %s", to, formats.List(table))
	}
	if out == "" {
		return nil, fmt.Errorf("no output given: name one whose extension states the format, or use --to: %s",
			formats.List(table))
	}
	if f := formats.ByFile(table, out); f != nil {
		return f, nil
	}
	if f, compression := formats.ByOutput(out); f != nil && f.Out != nil && compression != "" {
		return f, nil
	}
	return nil, fmt.Errorf("%s: the name does not state a format; use --to, or one of these extensions: %s",
		out, formats.List(table))
}

// formatLines describes formats as outputs, one per line.
func formatLines(table []*formats.Format) string {
	var b strings.Builder
	for _, f := range table {
		fmt.Fprintf(&b, "  %-10s %-24s %s\n", f.Name, strings.Join(f.Exts, " "), f.Out.Doc)
	}
	return b.String()
}

// ordersOf describes the default order of events for each format.
func ordersOf(table []*formats.Format) string {
	var parts []string
	for _, f := range table {
		parts = append(parts, formats.OrderName(f.Out.Order)+" for "+f.Name)
	}
	return strings.Join(parts, ", ")
}

// A conversion is a request to write one format.
type conversion struct {
	in, out string   // out may be empty, see output
	others  []string // further inputs
	to      *formats.Format
	creator formats.Creator
	names   *symbol.Options // nil if the format needs no symbols
	trace   *formats.Trace  // nil if the output is not part of a dataset
	when    formats.Names   // when the format needs symbols
	symbols bool            // with a selection, also write events that symbolize it; see formats.Out.Subset
	part    *split.Filter   // selects the events to write; nil means the selected events only
	byName  bool            // the name of the output determines whether it is a directory
	// ordering, if not nil, reports whether the events are in time order regardless of the order of reading.
	ordering func() bool
	remarks  func() string // adds to the detail of the result; may be nil
	flagless bool          // the command does not have the flags of the format
	scrub    *scrubFlags   // the secrets of the input are replaced; nil means they are not
}

// bind defines the flags of the format.
func (c *conversion) bind(flags *pflag.FlagSet) {
	c.creator = c.to.Out.Bind(flags)
	if c.to.Out.Names != formats.NoNames {
		c.names = formats.NamesFlag(flags)
	}
	if c.to.Out.Subset {
		flags.BoolVar(
			&c.symbols,
			"keep-symbols",
			true,
			"with a selection: keep method, module and symbol events of the selected processes",
		)
	}
}

// convert reads inputs and writes an output.
func (a *app) convert(c *conversion, plan *pass.Plan) error {
	inputs := append([]string{c.in}, c.others...)
	sum := &pass.Summary{Input: c.in, To: c.to.Name, Flags: a.openers.Notes}
	if len(inputs) > 1 {
		sum.Inputs = inputs
	}
	a.begin(sum)
	outName, err := c.output()
	if err != nil {
		return err
	}
	if err := checkOutput(outName, inputs...); err != nil {
		return err
	}
	if err := checkCompression(c.to, outName); err != nil {
		return err
	}
	if to, _ := c.creator.Destination(); to == formats.ToDir && a.force {
		if err := checkReplaced(c.to, outName, inputs...); err != nil {
			return err
		}
	}
	if err := a.checkTerminal(c.to.Name, c.binary(), outName); err != nil {
		return err
	}
	a.sum.Naming = misnamed(c.to, outName)
	c.plan(plan)
	plan.Check = isStdout(outName) || outName == "" // output that is written or sent cannot be taken back
	part := c.subset(plan)
	in, err := a.open(inputs, plan.NeedsAgain() || part != nil && part.NeedsLearn())
	if err != nil {
		return err
	}
	defer in.Close()
	if part == nil {
		return a.follow(plan, in, func(p *pass.Pass) error { return a.deliver(p, a.delivery(p, c, outName)) })
	}
	return a.convertSubset(c, plan, in, outName, part)
}

// plan requests the symbols that the format needs.
func (c *conversion) plan(plan *pass.Plan) {
	if c.names != nil {
		plan.Names, plan.NamesFirst = c.names, c.when == formats.NamesFirst
	}
}

// delivery returns the delivery of a conversion.
func (a *app) delivery(p *pass.Pass, c *conversion, name string) *delivery {
	var sink formats.Sink
	to, _ := c.creator.Destination()
	d := &delivery{
		name: name,
		to:   to,
		create: func(out *fileio.Outputs) (_ ntconv.Sink, err error) {
			t := target(p)
			t.Flagless = c.flagless
			t.Trace = c.trace
			if c.ordering != nil {
				t.Ordered = c.ordering()
			}
			if c.part != nil {
				t.Kept = c.part.KeepsProcess
			}
			if c.scrub != nil {
				c.scrub.target(t)
			}
			sink, err = c.creator.Create(out, p.Info, t)
			return sink, err
		},
		advice: c.to.Out.Advice,
	}
	if own, ok := c.creator.(formats.Advisor); ok {
		d.advice = own.Advice()
	}
	if c.scrub != nil {
		d.matched = func() error { return a.scrubbed(c.scrub, p) }
	}
	d.empty = func() string {
		a.sum.Result = sink.Result()
		if c.remarks != nil {
			a.sum.Result.Remark(c.remarks())
		}
		a.spans.describe(a.sum)
		if r, ok := a.sum.Result.(formats.FlagEmptied); ok && r.EmptiedByFlag() {
			d.advice = ""
		}
		return a.sum.Result.Empty()
	}
	return d
}

// checkTerminal rejects a binary format for a terminal.
func (a *app) checkTerminal(format string, binary bool, out string) error {
	if binary && isStdout(out) && terminal(a.stdout) {
		return failf(
			exitUsage,
			"%s is binary and would garble the terminal; write to a file with -o FILE, or to a pipe",
			format,
		)
	}
	return nil
}

// binary reports whether the output must not go to a terminal.
func (c *conversion) binary() bool {
	if f, ok := c.creator.(formats.FormChooser); ok {
		return f.Binary()
	}
	return c.to.Out.Binary
}
