package command

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ntconv/ntconv/internal/data/message"
	"github.com/ntconv/ntconv/internal/run/formats"
	"github.com/ntconv/ntconv/internal/run/job"
	"github.com/ntconv/ntconv/internal/run/pass"
	"github.com/ntconv/ntconv/reader"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// toCmd returns ntconv to FORMAT. from is the format of the inputs, nil to detect it. If the word after "to" is a
// format, there are no others.
func (a *app) toCmd(from *formats.Format, args []string) *cobra.Command {
	table := formats.Writable()
	cmd := &cobra.Command{
		Use:   "to",
		Short: "Convert a trace or a profile to a format, with that format's own flags",
		Long:  "Each format has flags of its own: ntconv to FORMAT --help describes them.",
		Example: examples(
			"a profile for go tool pprof", "ntconv to pprof trace.nettrace",
		),
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return noFormat(cmd, args[0])
			}
			return fmt.Errorf("no format given; these can be written: %s", formats.List(table))
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	if f := formats.ByName(table, firstWord(wordsAfter(args, "to"))); f != nil {
		table = []*formats.Format{f}
	}
	for _, f := range table {
		cmd.AddCommand(a.toFormatCmd(from, f))
	}
	return cmd
}

func (a *app) toFormatCmd(from, f *formats.Format) *cobra.Command {
	c := conversion{Job: job.Job{To: f}}
	var openers *formats.Openers
	set := &collection{inputFlags: new(inputFlags)}
	use := "IN... [-o OUT]"
	if f.Out.Dataset {
		use += " | IN... --dataset DIR"
	}
	cmd := &cobra.Command{
		Use:               f.Name + " " + use,
		Short:             strings.ToUpper(f.Out.Doc[:1]) + f.Out.Doc[1:],
		Long:              longHelp(f),
		Example:           examples(f.Out.Examples...),
		Args:              set.anyInputs,
		ValidArgsFunction: anyCompletion,
		RunE: func(cmd *cobra.Command, args []string) error {
			if from != nil || f.Out.InFlags {
				a.openers = openers
			}
			if err := a.readAs(from); err != nil {
				return err
			}
			if err := set.check(cmd, &c); err != nil {
				return err
			}
			if set.dir != "" {
				return a.collect(cmd, &c, set, args)
			}
			return a.convertSeveral(cmd, &c, set.inputFlags, args)
		},
	}
	return a.withFlags(cmd, func() {
		addGroup(cmd, groupOwn, func(flags *pflag.FlagSet) {
			c.bindOut(flags, "output `file`; - is standard output")
			flags.BoolVarP(&a.force, "force", "f", false, "overwrite an existing output")
			c.bind(flags)
			set.inputFlags.bind(flags)
			if f.Out.Dataset {
				set.bind(flags)
			}
			openers = bindOpeners(flags, from, f)
		})
		a.addInputFlags(cmd)
		hideInputFlags(cmd, from)
		if f.Out.Dataset {
			set.complete(cmd)
		}
		showOrder(cmd, formats.OrderName(f.Out.Needs.Order))
	})
}

// bindOpeners defines the flags of inputs for a conversion to a format. from is the format of the inputs, nil for any.
func bindOpeners(flags *pflag.FlagSet, from, to *formats.Format) *formats.Openers {
	switch {
	case from != nil:
		return formats.BindOpeners(flags, from)
	case to.Out.InFlags:
		return formats.BindOpeners(flags, formats.Readable()...)
	}
	return new(formats.Openers)
}

// hideInputFlags hides the flags without effect on inputs of format from; nil means any format.
func hideInputFlags(cmd *cobra.Command, from *formats.Format) {
	if from == nil {
		return
	}
	cmd.Flags().Lookup("from").Hidden = true
	cmd.Flags().VisitAll(func(flag *pflag.Flag) { // of other formats
		flag.Hidden = flag.Hidden || flag.Name == "map" && !from.In.Needed
	})
}

// readAs makes all inputs of a format, nil to recognize each.
func (a *app) readAs(from *formats.Format) error {
	if from == nil {
		return nil
	}
	if a.from != "" && a.from != from.Name {
		return fmt.Errorf("--from %s: ntconv from %s names the format; omit --from", a.from, from.Name)
	}
	a.from = from.Name
	return nil
}

// convertAll writes one output from all inputs.
func (a *app) convertAll(cmd *cobra.Command, c *conversion, inputs []string) error {
	c.in, c.others = inputs[0], inputs[1:]
	if err := a.prepare(cmd, c); err != nil {
		return err
	}
	if len(c.others) > 0 {
		if err := planSeveral(cmd, c.Plan, c.out); err != nil {
			return err
		}
	}
	if len(inputs) > 1 && a.areParts(inputs) {
		c.Remarks = func() string {
			return "the inputs are parts of a split, whose copies of events remain; ntconv merge drops them"
		}
	}
	return a.convert(c)
}

// longHelp returns the description of the conversion to a format.
func longHelp(f *formats.Format) string {
	return fmt.Sprintf(
		"Convert to %s: %s.\n\nWithout -o the output is named after the input, in the current directory, with the extension %s;\n"+
			"standard input is converted to standard output.%s\n\n%s",
		f.Name, f.Out.Doc, f.Exts[0], compressionHelp(f), inputsHelp,
	) + ownHelp(f.Out)
}

// compressionHelp describes which names of outputs select a compression.
func compressionHelp(f *formats.Format) string {
	if len(f.Out.Compressions) == 0 {
		return ""
	}
	names := strings.NewReplacer(".gz", "gzip", ".zst", "zstd").Replace(strings.Join(f.Out.Compressions, " or "))
	return fmt.Sprintf("\nA file whose name ends in %s is compressed with %s.", strings.Join(f.Out.Compressions, " or "), names)
}

// ownHelp returns the part of the help that the format adds.
func ownHelp(out *formats.Out) string {
	if out.Help == "" {
		return ""
	}
	return "\n\n" + out.Help
}

// someInputs is the argument check of commands that merge inputs.
func someInputs(_ *cobra.Command, args []string) error {
	if i := slices.Index(args, "-"); i >= 0 && slices.Contains(args[i+1:], "-") {
		return errors.New("only one of the inputs can be standard input")
	}
	return oneInput(nil, args[:min(1, len(args))])
}

// planSeveral checks the requirements of several inputs, and selects time order.
func planSeveral(cmd *cobra.Command, plan *pass.Plan, out string) error {
	if out == "" {
		if last := cmd.Flags().Args()[cmd.Flags().NArg()-1]; meantAsOutput(cmd, last) {
			return failf(exitUsage, "several inputs and no output; if %s is the output, use -o %s", last, message.ShellWord(last))
		}
		return fail(exitUsage, errors.New("several inputs: name the output with -o"))
	}
	if plan.Read.Order != reader.ByTime && cmd.Flags().Changed("order") {
		return fail(exitUsage, errors.New("several inputs are merged in time order; omit --order"))
	}
	plan.Read.Order, plan.AnyOrder = reader.ByTime, false
	return nil
}
