package command

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// helpWidth is the maximum length of lines of help. Longer lines are wrapped.
const helpWidth = 120

// showHelp prints the help of a command: its purpose, usage and examples, then the description and the flags in groups.
// For limits it refers to their topic. Topics have a description and examples only.
func showHelp(cmd *cobra.Command, _ []string) {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", cmd.Short)
	if cmd.IsAdditionalHelpTopicCommand() {
		fmt.Fprintf(&b, "\n%s\n\nExamples:\n%s\n", reflow(cmd.Long, helpWidth), cmd.Example)
	} else {
		b.WriteByte('\n')
		usageLines(&b, cmd)
		if cmd.Long != "" && cmd.Long != cmd.Short {
			fmt.Fprintf(&b, "\n%s\n", reflow(cmd.Long, helpWidth))
		}
		subcommands(&b, cmd)
		flagGroups(&b, cmd)
	}
	fmt.Fprint(cmd.OutOrStdout(), b.String()) // the root command's writer keeps the error
}

// reflow wraps text to lines of at most width. Empty lines and lines that begin with white space are not changed; the
// lines between them form a paragraph.
func reflow(text string, width int) string {
	var b strings.Builder
	column := 0 // of the current paragraph
	for line := range strings.Lines(strings.Trim(text, "\n")) {
		line = strings.TrimSuffix(line, "\n")
		if line == "" || line[0] == ' ' || line[0] == '\t' {
			if column > 0 {
				b.WriteByte('\n')
				column = 0
			}
			b.WriteString(line + "\n")
			continue
		}
		for word := range strings.FieldsSeq(line) {
			n := utf8.RuneCountInString(word)
			switch {
			case column > 0 && column+1+n > width:
				b.WriteByte('\n')
				column = 0
			case column > 0:
				b.WriteByte(' ')
				column++
			}
			b.WriteString(word)
			column += n
		}
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// usageLines writes the usage and the examples of a command.
func usageLines(b *strings.Builder, cmd *cobra.Command) {
	b.WriteString("Usage:\n")
	if cmd.Runnable() && !cmd.HasAvailableSubCommands() {
		fmt.Fprintf(b, "  %s\n", cmd.UseLine())
	}
	if cmd.HasAvailableSubCommands() {
		fmt.Fprintf(b, "  %s COMMAND\n", cmd.CommandPath())
	}
	if cmd.HasExample() {
		fmt.Fprintf(b, "\nExamples:\n%s\n", cmd.Example)
	}
}

// subcommands writes the subcommands of a command, and the topics of help.
func subcommands(b *strings.Builder, cmd *cobra.Command) {
	list := func(heading string, wanted func(*cobra.Command) bool) {
		for _, c := range cmd.Commands() {
			if wanted(c) {
				b.WriteString(heading)
				heading = ""
				fmt.Fprintf(b, "  %-*s %s\n", cmd.NamePadding(), c.Name(), c.Short)
			}
		}
	}
	list("\nCommands:\n", (*cobra.Command).IsAvailableCommand)
	list("\nTopics, shown by ntconv help TOPIC:\n", (*cobra.Command).IsAdditionalHelpTopicCommand)
}

// flagGroups writes the flags of a command in groups, and a reference to the limits.
func flagGroups(b *strings.Builder, cmd *cobra.Command) {
	for _, group := range groups {
		set := flagsOf(cmd, group)
		switch {
		case !set.HasAvailableFlags():
		case group == groupLimits:
			b.WriteString("\nLimits: see ntconv help limits\n")
		default:
			fmt.Fprintf(b, "\n%s:\n%s", group, set.FlagUsagesWrapped(helpWidth))
		}
	}
}

// flagsOf returns the flags of a command that belong to a group.
func flagsOf(cmd *cobra.Command, group string) *pflag.FlagSet {
	set := pflag.NewFlagSet(group, pflag.ContinueOnError)
	set.SortFlags = false
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if cmp.Or(groupOf(f), groupOwn) == group {
			set.AddFlag(f)
		}
	})
	return set
}

// examples formats command lines for the help. Each is preceded by its remark, which is shown above it.
func examples(pairs ...string) string {
	var b strings.Builder
	for pair := range slices.Chunk(pairs, 2) {
		fmt.Fprintf(&b, "\n  # %s\n  %s", pair[0], pair[1])
	}
	return strings.TrimPrefix(b.String(), "\n")
}

// addStandardCommands adds the commands of cobra now, so that they get examples like every command.
func addStandardCommands(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		switch c.Name() {
		case "help":
			c.Short = "Show the help of a command or of a topic"
			c.Long = "Show the help of a command, as its flag --help does, or of a topic. ntconv --help lists both."
			c.Use = "help [COMMAND | TOPIC]"
			c.Example = examples(
				"the same as ntconv top --help", "ntconv help top",
				"the limits on memory and sizes, and their flags", "ntconv help limits",
			)
			c.ValidArgsFunction = completeHelp(root)
			show := c.Run
			c.Run, c.RunE = nil, func(c *cobra.Command, args []string) error {
				// By default cobra ignores unknown words after the last known command.
				found, rest, err := root.Find(args)
				switch {
				case err != nil:
					return err
				case len(rest) > 0 && found == root:
					return noCommand(root, rest[0])
				case len(rest) > 0 && found.HasAvailableSubCommands():
					return noSubcommand(found, rest[0])
				}
				show(c, args)
				return nil
			}
		case "completion":
			c.Args = func(c *cobra.Command, args []string) error {
				if len(args) > 0 {
					return noSubcommand(c, args[0])
				}
				return nil
			}
			// Without RunE cobra does not check the arguments.
			c.RunE = func(c *cobra.Command, _ []string) error { return c.Help() }
			c.Short = "Print a script that makes a shell complete commands, flags and file names"
			c.Long = "Print a script that makes a shell complete commands, flags and file names. " +
				"The help of each shell says where to install it.\n\n" +
				"In bash the script needs the package bash-completion (apt-get install bash-completion). " +
				"Without that package, completion fails: \"_get_comp_words_by_ref: command not found\"."
			for _, shell := range c.Commands() {
				shell.Example = examples(
					"a script for "+shell.Name(), "ntconv completion "+shell.Name(),
				)
			}
			c.Example = examples(
				"for this session of bash", "source <(ntconv completion bash)",
			)
		}
	}
}
