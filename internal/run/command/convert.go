package command

import (
	"fmt"
	"strings"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/data/message"
	"github.com/ntconv/ntconv/internal/files/fileio"
	"github.com/ntconv/ntconv/internal/run/formats"
	"github.com/ntconv/ntconv/internal/run/input"
	"github.com/ntconv/ntconv/internal/run/job"
	"github.com/ntconv/ntconv/internal/run/pass"
	"github.com/ntconv/ntconv/symbol"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

func (a *app) convertCmd() *cobra.Command {
	var to string
	var c conversion
	set := new(inputFlags)
	var files symbol.Options // with the flags of symbols
	table := formats.Writable()
	cmd := &cobra.Command{
		Use:   "convert IN [OUT]",
		Short: "Convert a trace or a profile; the format follows from the name of the output",
		Long: "Convert a trace or a profile. The format is that of OUT's extension, or the one that --to names:\n" +
			formatLines(table) +
			"Without OUT the output is named after the input, in the current directory, with the extension of the format.\n" +
			"If .gz or .zst follows the extension, the output is compressed.\n" +
			"Some formats have flags of their own, such as --kind of pprof: ntconv to FORMAT takes them.\n\n" + inputsHelp,
		Example: examples(
			"a profile for go tool pprof", "ntconv convert trace.nettrace trace.pb.gz",
			"from a pipe to a pipe", "curl -s https://host/trace | ntconv convert --to pprof - - > trace.pb.gz",
			"the last ten seconds", "ntconv convert --from-time -10s trace.nettrace end.pb.gz",
		),
		Args:              inAndOut,
		ValidArgsFunction: inputCompletion,
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		c.take(args)
		var err error
		if c.To, err = outputFormat(to, c.out); err != nil {
			return err
		}
		c.bind(pflag.NewFlagSet("", pflag.ContinueOnError))
		if c.Symbols != nil {
			c.Symbols.Native, c.Symbols.Lines = files.Native, files.Lines
		}
		return a.convertSeveral(cmd, &c, set, args[:1])
	}
	return a.withFlags(cmd, func() {
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
	})
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
		parts = append(parts, formats.OrderName(f.Out.Needs.Order)+" for "+f.Name)
	}
	return strings.Join(parts, ", ")
}

// A conversion is a request to write one format.
type conversion struct {
	job.Job
	in, out string      // out may be empty, see output
	others  []string    // further inputs
	scrub   *scrubFlags // the secrets of the input are replaced; nil means they are not
	// to returns the delivery of a pass into the output with a name; nil means that of the format.
	to func(p *pass.Pass, name string) *delivery
}

// bind defines the flags of the format.
func (c *conversion) bind(flags *pflag.FlagSet) {
	c.Settings = c.To.Out.Bind(flags)
	if c.To.Out.Needs.Names != formats.NoNames {
		c.Symbols = formats.NamesFlag(flags)
	}
	if c.To.Out.Needs.Subset {
		flags.BoolVar(&c.KeepSymbols, "keep-symbols", true,
			"with a selection: keep method, module and symbol events of the selected processes")
	}
}

// prepare plans the pass of a conversion.
func (a *app) prepare(cmd *cobra.Command, c *conversion) error {
	c.chooseByName()
	sel, err := a.pick.options()
	if err == nil {
		c.Version = message.ModuleVersion()
		err = c.Prepare(a.read, cmd.Flags().Changed("order"), sel)
	}
	if err != nil {
		return fail(exitUsage, err)
	}
	c.Plan.Progress = a.progress
	return nil
}

// convert reads inputs and writes an output. The conversion is prepared.
func (a *app) convert(c *conversion) error {
	inputs := append([]string{c.in}, c.others...)
	return a.convertFrom(c, inputs, func() (*input.Input, error) { return a.open(inputs, c.NeedsAgain()) })
}

// convertFrom writes an output from an input that open returns, once it is certain that the output can be written. inputs are
// the names of what it reads.
func (a *app) convertFrom(c *conversion, inputs []string, open func() (*input.Input, error)) error {
	sum := &pass.Summary{Input: c.in, To: c.To.Name, Flags: a.openers.Notes}
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
	if err := checkCompression(c.To, outName); err != nil {
		return err
	}
	if to := c.Output.Destination; to == formats.ToDir && a.force {
		if err := checkReplaced(c.To, outName, inputs...); err != nil {
			return err
		}
	}
	if err := a.checkTerminal(c.To.Name, c.Output.Binary, outName); err != nil {
		return err
	}
	a.sum.Naming = misnamed(c.To, outName)
	c.Plan.Check = isStdout(outName) || outName == "" // output that is written or sent cannot be taken back
	in, err := open()
	if err != nil {
		return err
	}
	defer in.Close()
	to := c.to
	if to == nil {
		to = func(p *pass.Pass, name string) *delivery { return a.delivery(p, c, name) }
	}
	return a.runJob(c, in, func(p *pass.Pass) *delivery { return to(p, outName) })
}

// runJob runs a conversion into the output that to returns for each pass.
func (a *app) runJob(c *conversion, in *input.Input, to func(*pass.Pass) *delivery) error {
	formats.Serve(c.Symbols, a.downloads())
	return readFailure(c.Plan, c.Run(in, func(p *pass.Pass) error {
		err := a.deliver(p, to(p))
		if n, _, ok := c.Subset(); ok {
			a.sum.Selected, a.sum.Symbols = n.Selected, n.Symbols
		}
		return err
	}))
}

// delivery returns the delivery of a conversion.
func (a *app) delivery(p *pass.Pass, c *conversion, name string) *delivery {
	to := c.Output.Destination
	return &delivery{
		name:   name,
		to:     to,
		create: func(out *fileio.Outputs) (ntconv.Sink, error) { return c.Create(p, out) },
		done: func() error {
			result, lacks := c.Finish()
			a.sum.Result = result
			c.Spans.Describe(a.sum)
			if _, detail, ok := c.Subset(); ok {
				result.Remark(detail)
			}
			if c.scrub != nil {
				if err := a.scrubbed(c.scrub, p); err != nil {
					return err
				}
			}
			if lacks != "" {
				return a.nothing(p, lacks, c.advice(result))
			}
			return nil
		},
	}
}

// advice returns the next step for an empty output.
func (c *conversion) advice(r formats.Result) string {
	if e, ok := r.(formats.FlagEmptied); ok && e.EmptiedByFlag() {
		return ""
	}
	return c.Output.Advice
}

// checkTerminal rejects a binary format for a terminal.
func (a *app) checkTerminal(format string, binary bool, out string) error {
	if binary && isStdout(out) && terminal(a.stdout) {
		return failf(exitUsage,
			"%s is binary and would garble the terminal; write to a file with -o FILE, or to a pipe", format)
	}
	return nil
}
