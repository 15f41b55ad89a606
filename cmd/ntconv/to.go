package main

import (
	"fmt"
	"strings"

	"github.com/ntconv/ntconv/internal/formats"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

func (a *app) toCmd() *cobra.Command {
	table := formats.Writable()
	cmd := &cobra.Command{
		Use:     "to",
		Short:   "Convert a trace or a profile to a format, with that format's own flags",
		Long:    "Convert a trace or a profile to a format:\n" + formatLines(table),
		Example: examples(formats.Example{Remark: "a profile for go tool pprof", Line: "ntconv to pprof trace.nettrace"}),
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return noFormat(cmd, args[0])
			}
			return fmt.Errorf("no format given; these can be written: %s", formats.List(table))
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	for _, f := range table {
		cmd.AddCommand(a.toFormatCmd(f))
	}
	return cmd
}

func (a *app) toFormatCmd(f *formats.Format) *cobra.Command {
	c := conversion{to: f}
	args, use := oneInput, "IN [-o OUT]"
	if f.Merges {
		args, use = someInputs, "IN... [-o OUT]"
	}
	cmd := &cobra.Command{
		Use:   f.Name + " " + use,
		Short: strings.ToUpper(f.Makes[:1]) + f.Makes[1:],
		Long: fmt.Sprintf("Convert to %s: %s.\n\nWithout -o the output is called as the input, in the current directory, with the extension %s;\n"+
			"what is read from standard input goes to standard output.", f.Name, f.Makes, f.Exts[0]),
		Example:           examples(f.Examples...),
		Args:              args,
		ValidArgsFunction: inputCompletion,
		RunE: func(cmd *cobra.Command, args []string) error {
			c.in, c.others = args[0], args[1:]
			a.readFor(cmd, f)
			if len(c.others) > 0 {
				if err := a.readSeveral(cmd, c.out); err != nil {
					return err
				}
			}
			return a.convert(&c)
		},
	}
	addGroup(cmd, groupOwn, func(flags *pflag.FlagSet) {
		c.bindOut(flags, "output `file`; - is standard output")
		flags.BoolVarP(&a.force, "force", "f", false, "overwrite an existing output")
		c.bind(flags)
		if f.Reading != nil {
			f.Reading(flags, &a.read)
		}
	})
	a.addInputFlags(cmd)
	showOrder(cmd, formats.OrderName(f.Order))
	return cmd
}
