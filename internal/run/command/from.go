package command

import (
	"fmt"
	"slices"

	"github.com/ntconv/ntconv/internal/run/formats"
	"github.com/spf13/cobra"
)

// fromCmd returns ntconv from FORMAT to FORMAT, for inputs whose content does not identify their format. Building
// commands and flags for all pairs of formats would take most of the time of a short run. Therefore only formats that
// are among args get commands, and only if args contain "from". nil args mean all formats.
func (a *app) fromCmd(args []string) *cobra.Command {
	table := formats.Readable()
	cmd := &cobra.Command{
		Use:   "from",
		Short: "Convert from a named format, if the content of the input does not show it",
		Long: "Convert from a named format, if the content of the input does not show it, or with the flags of that format's inputs.\n" +
			"ntconv to FORMAT recognizes the format of its input.\n\nFormats that can be read:\n" + readLines(table),
		Example: examples(
			"a profile from a pipe",
			"curl -s https://host/debug/pprof/heap | ntconv from pprof to nettrace - > heap.nettrace",
			"folded stacks whose numbers are milliseconds",
			"ntconv from folded to pprof --folded-value cpu/milliseconds out.txt -o out.pb.gz",
		),
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return fmt.Errorf("%s: no such format; these can be read: %s%s", args[0], formats.List(table),
					didYouMean(args[0], subcommandNames(cmd)))
			}
			return fmt.Errorf("no format given; these can be read: %s", formats.List(table))
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	for _, f := range table {
		of := a.fromFormatCmd(f)
		if args == nil || slices.Contains(wordsAfter(args, "from"), f.Name) {
			of.AddCommand(a.toCmd(f, wordsAfter(args, f.Name)))
		}
		cmd.AddCommand(of)
	}
	return cmd
}

// fromFormatCmd is ntconv from FORMAT.
func (a *app) fromFormatCmd(from *formats.Format) *cobra.Command {
	return &cobra.Command{
		Use:   from.Name + " to FORMAT IN...",
		Short: "Convert " + from.Doc,
		Long:  "Convert from " + from.Name + ": " + from.Doc + ".",
		Example: examples(
			"from a pipe to a trace", "ntconv from "+from.Name+" to nettrace - > out.nettrace",
		),
		Args: func(cmd *cobra.Command, args []string) error {
			return fmt.Errorf("the format of the output is missing: %s to FORMAT IN", cmd.CommandPath())
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
}
