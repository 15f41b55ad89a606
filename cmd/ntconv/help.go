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
	if cmd.HasHelpSubCommands() {
		b.WriteString("\nHelp on other things:\n")
		for _, c := range cmd.Commands() {
			if c.IsAdditionalHelpTopicCommand() {
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
	return "Reads:\n" + readLines(formats.Readable()) + "Writes:\n" + formatLines(formats.Writable())
}

// readLines describes formats as inputs, one per line.
func readLines(table []*formats.Format) string {
	var b strings.Builder
	for _, f := range table {
		fmt.Fprintf(&b, "  %-10s %-24s %s\n", f.Name, strings.Join(f.Exts, " "), f.Doc)
	}
	return b.String()
}

// whereTopic is the help on expressions.
func whereTopic() *cobra.Command {
	return &cobra.Command{
		Use:   "where",
		Short: "The expressions of --where and --during",
		Long: `--where 'EXPRESSION' selects events by what stands in them, beside the other flags of a selection. It may be given more than
once: all must hold.

A comparison has a field or a property on its left and a value on its right:

  Size, Payload.Mean          a field of the payload, as ntconv print shows it; of an object in it
  "field with spaces"         the same, quoted
  $time                       since the start of the trace: 1.5s, 200ms, or "2026-11-21T06:52:53.5Z"
  $tid $pid $cpu              thread, process, processor: numbers
  $provider $event            names
  $level $opcode $keywords $id $version $size   numbers; $size is that of the payload in bytes
  $activity_id $related_activity_id $trace_id $span_id   ids as text
  $label.KEY                  a label of the event

  == != < <= > >=             numbers (15, 0xff, 1.5e3), texts in quotes, durations, true, false
  =~                          a regular expression that fits some part of the text
  in (a, b, c)                one of several values
  has(Field)                  whether there is a value
  && || ! ( )                 and, or, not

Text is compared with ids, dates, and names of the runtime's numbers too: Type == "Managed". A comparison with something that
an event does not have is false, != too. Of a list, one element must fit. If a comparison could not hold for any event, as for
a field that no event has, the summary says so.

--during 'EXPRESSION' selects events that were recorded while a span was active for which the expression holds, or a descendant of
such a span. The operators are the same; the properties are those of spans:

  span.name span.scope        strings; the scope is the ActivitySource or event source that recorded the span
  span.kind                   internal, server, client, producer or consumer
  span.status                 unset, ok or error
  span.duration               100ms, 1.5s
  span.start                  since the start of the trace, or a date and time
  span.trace_id span.span_id span.parent_id   IDs in hexadecimal
  span.attributes.KEY         an attribute: a string, a number, true or false; a key may contain dots, or be quoted

A span is active on the thread that started and ended it. If only its end was recorded, that is the thread of the end. --span-link
chooses the evidence: labels of the event, activity IDs, threads.`,
		Example: examples(
			formats.Example{
				Remark: "large objects of some types",
				Line:   "ntconv print --where 'ObjectSize > 85000 && TypeName =~ \"Buffer|Stream\"' trace.nettrace",
			},
			formats.Example{
				Remark: "methods that ran in slow requests",
				Line:   "ntconv top --during 'span.name =~ \"GET /cart\" && span.duration > 100ms' trace.nettrace",
			},
			formats.Example{
				Remark: "the first five seconds of two threads",
				Line:   "ntconv print --where '$time < 5s && $tid in (4711, 4712)' trace.nettrace",
			},
		),
	}
}

// addStandardCommands adds the library's own commands now, so that they get examples as every verb has.
func addStandardCommands(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		switch c.Name() {
		case "help":
			c.Example = examples(formats.Example{Remark: "the same as ntconv top --help", Line: "ntconv help top"})
			show := c.Run
			c.Run, c.RunE = nil, func(c *cobra.Command, args []string) error {
				// The library would show the help of what it found up to a word that it does not know.
				found, rest, err := root.Find(args)
				switch {
				case err != nil:
					return err
				case len(rest) > 0 && found == root:
					return noVerb(root, rest[0])
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
			c.RunE = func(c *cobra.Command, _ []string) error { return c.Help() } // without it, arguments are not checked
			for _, shell := range c.Commands() {
				shell.Example = examples(
					formats.Example{Remark: "a script for " + shell.Name(), Line: "ntconv completion " + shell.Name()},
				)
			}
			c.Example = examples(
				formats.Example{Remark: "for this session of bash", Line: "source <(ntconv completion bash)"},
			)
		}
	}
}
