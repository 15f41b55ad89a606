package main

import (
	"fmt"
	"strings"

	"github.com/ntconv/ntconv/internal/formats"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// usage prints what follows the description of a verb, with the flags in groups.
func usage(cmd *cobra.Command) error {
	var b strings.Builder
	b.WriteString("Usage:\n")
	if cmd.Runnable() && (!cmd.HasAvailableSubCommands() || !cmd.HasParent()) {
		fmt.Fprintf(&b, "  %s\n", cmd.UseLine())
	}
	if cmd.HasAvailableSubCommands() {
		fmt.Fprintf(&b, "  %s COMMAND\n", cmd.CommandPath())
	}
	if cmd.HasExample() {
		fmt.Fprintf(&b, "\nExamples:\n%s\n", cmd.Example)
	}
	if cmd.HasAvailableSubCommands() {
		b.WriteString("\nCommands:\n")
		for _, c := range cmd.Commands() {
			if c.IsAvailableCommand() {
				fmt.Fprintf(&b, "  %-*s %s\n", cmd.NamePadding(), c.Name(), c.Short)
			}
		}
	}
	for _, group := range groups {
		if set := flagsOf(cmd, group); set.HasAvailableFlags() {
			fmt.Fprintf(&b, "\n%s:\n%s", group, set.FlagUsages())
		}
	}
	_, err := fmt.Fprint(cmd.OutOrStderr(), b.String())
	return err
}

// flagsOf returns the flags of a verb that belong to a group.
func flagsOf(cmd *cobra.Command, group string) *pflag.FlagSet {
	set := pflag.NewFlagSet(group, pflag.ContinueOnError)
	set.SortFlags = false
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		g := groupOwn
		if a := f.Annotations[groupKey]; len(a) > 0 {
			g = a[0]
		}
		if g == group {
			set.AddFlag(f)
		}
	})
	return set
}

// examples formats command lines for the help: the remark above the line.
func examples(list ...formats.Example) string {
	var b strings.Builder
	for i, e := range list {
		if i > 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "  # %s\n  %s", e.Remark, e.Line)
	}
	return b.String()
}

// formatsHelp describes the table of formats.
func formatsHelp() string {
	var b strings.Builder
	list := func(title string, table []*formats.Format) {
		b.WriteString(title + ":\n")
		for _, f := range table {
			fmt.Fprintf(&b, "  %-9s %-16s %s\n", f.Name, strings.Join(f.Exts, " "), f.Doc)
		}
	}
	list("Reads", formats.Readable())
	list("Writes", formats.Writable())
	return b.String()
}

// addStandardCommands adds the library's own commands now, so that they get examples as every verb has.
func addStandardCommands(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		switch c.Name() {
		case "help":
			c.Example = examples(formats.Example{Remark: "the same as ntconv top --help", Line: "ntconv help top"})
		case "completion":
			for _, shell := range c.Commands() {
				shell.Example = examples(formats.Example{Remark: "a script for " + shell.Name(), Line: "ntconv completion " + shell.Name()})
			}
			c.Example = examples(formats.Example{Remark: "for this session of bash", Line: "source <(ntconv completion bash)"})
		}
	}
}
