package command

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"github.com/ntconv/ntconv/internal/data/message"
	"github.com/ntconv/ntconv/internal/files/fileio"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// manCmd writes manual pages. It is hidden because packages run it, not users. It is a command of the binary, so that
// the pages of a binary are always its own.
func (a *app) manCmd() *cobra.Command {
	var date string
	cmd := &cobra.Command{
		Use:    "man DIR",
		Hidden: true,
		Short:  "Write the manual pages of all commands and topics to a directory",
		Long:   "Write the manual pages of all commands and topics to the directories man1 and man7 below DIR, from the texts of the help.",
		Example: examples(
			"read one of them", "ntconv man /tmp/man && man -l /tmp/man/man1/ntconv-top.1",
		),
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error { return writeManual(args[0], date) },
	}
	addGroup(cmd, groupOwn, func(flags *pflag.FlagSet) {
		flags.StringVar(&date, "date", commitDate(), "`date` of the pages")
	})
	return cmd
}

// commitDate returns the date of the commit that the binary was built from, "" if it does not contain it. It makes
// pages reproducible.
func commitDate() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	for _, s := range info.Settings {
		if at, err := time.Parse(time.RFC3339, s.Value); s.Key == "vcs.time" && err == nil {
			return at.UTC().Format(time.DateOnly)
		}
	}
	return ""
}

// writeManual writes the pages of all commands and topics.
func writeManual(dir, date string) error {
	root := newApp(nil, nil).command(nil)
	var walk func(*cobra.Command) error
	walk = func(cmd *cobra.Command) error {
		if cmd.Hidden {
			return nil
		}
		name, section := manName(cmd)
		path := filepath.Join(dir, "man"+section, name+"."+section)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			return fail(exitOutput, err)
		}
		if err := os.WriteFile(path, []byte(manPage(cmd, date)), 0o666); err != nil {
			return fail(exitOutput, &fileio.Error{Name: path, Op: "write", Bytes: -1, Err: err})
		}
		for _, c := range manChildren(cmd) {
			if err := walk(c); err != nil {
				return err
			}
		}
		return nil
	}
	return walk(root)
}

// manChildren returns the commands below a command that have a page. The pages of ntconv to FORMAT describe the pairs
// below ntconv from.
func manChildren(cmd *cobra.Command) (list []*cobra.Command) {
	for _, c := range cmd.Commands() {
		if !c.Hidden && cmd.Name() != "from" {
			list = append(list, c)
		}
	}
	return list
}

// manName returns the name and section of the page of a command or topic.
func manName(cmd *cobra.Command) (name, section string) {
	section = "1"
	if cmd.IsAdditionalHelpTopicCommand() {
		section = "7" // overviews and conventions
	}
	return strings.ReplaceAll(cmd.CommandPath(), " ", "-"), section
}

// manPage returns the page of a command or topic in the macros of man(7).
func manPage(cmd *cobra.Command, date string) string {
	cmd.InitDefaultHelpFlag()
	cmd.InitDefaultVersionFlag()
	var b strings.Builder
	name, section := manName(cmd)
	fmt.Fprintf(&b, ".TH %s %s %q %q %q\n", roff(strings.ToUpper(name)), section, date, "ntconv "+message.ModuleVersion(), "ntconv manual")
	fmt.Fprintf(&b, ".SH NAME\n%s \\- %s\n", roff(name), roff(strings.ToLower(cmd.Short[:1])+cmd.Short[1:]))
	topic := cmd.IsAdditionalHelpTopicCommand()
	if !topic {
		use := cmd.UseLine()
		if cmd.HasAvailableSubCommands() {
			use = cmd.CommandPath() + " COMMAND"
		}
		fmt.Fprintf(&b, ".SH SYNOPSIS\n\\fB%s\\fR%s\n", roff(cmd.CommandPath()), roff(strings.TrimPrefix(use, cmd.CommandPath())))
	}
	if cmd.Long != "" {
		b.WriteString(".SH DESCRIPTION\n")
		manText(&b, cmd.Long)
	}
	manCommands(&b, cmd)
	if !topic {
		manFlags(&b, cmd)
	}
	b.WriteString(".SH EXAMPLES\n")
	manText(&b, cmd.Example)
	if !topic && cmd.Runnable() {
		b.WriteString(".SH EXIT STATUS\n0 on success.\n.BR ntconv\\-exit\\-codes (7)\nlists the other codes.\n")
	}
	manSeeAlso(&b, cmd)
	return b.String()
}

// manText writes a text of the help: paragraphs are filled, lines that begin with white space are kept.
func manText(b *strings.Builder, text string) {
	kept, broken, first := false, false, true // within lines that are kept; after the end of a paragraph
	for line := range strings.Lines(strings.Trim(text, "\n")) {
		line = strings.TrimSuffix(line, "\n")
		keep := line != "" && (line[0] == ' ' || line[0] == '\t')
		switch {
		case keep && !kept:
			if !first { // a heading ends the paragraph, too
				b.WriteString(".PP\n")
			}
			b.WriteString(".nf\n")
			broken = false
		case line == "" && kept: // more of them may follow
			broken = true
			continue
		case line == "":
			broken = true
			continue
		case kept && !keep:
			b.WriteString(".fi\n")
			broken = true
		}
		if broken && keep {
			b.WriteString("\n")
		} else if broken {
			b.WriteString(".PP\n")
		}
		kept, broken, first = keep, false, false
		b.WriteString(roff(line) + "\n")
	}
	if kept {
		b.WriteString(".fi\n")
	}
}

// manCommands writes the commands and topics below a command.
func manCommands(b *strings.Builder, cmd *cobra.Command) {
	for _, list := range []struct {
		heading string
		wanted  func(*cobra.Command) bool
	}{
		{"COMMANDS", (*cobra.Command).IsAvailableCommand}, {"TOPICS", (*cobra.Command).IsAdditionalHelpTopicCommand},
	} {
		heading := ".SH " + list.heading + "\n"
		for _, c := range cmd.Commands() {
			if list.wanted(c) {
				fmt.Fprintf(b, "%s.TP\n\\fB%s\\fR\n%s\n", heading, roff(c.Name()), roff(c.Short))
				heading = ""
			}
		}
	}
}

// flagUsage matches a flag in the usage that pflag prints: its name and value, and its description.
var flagUsage = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\s*(\S.*?) {2,}(.*)\n$`) })

// manFlags writes the flags of a command in the groups of the help.
func manFlags(b *strings.Builder, cmd *cobra.Command) {
	heading := ".SH OPTIONS\n"
	for _, group := range groups {
		set := flagsOf(cmd, group)
		if !set.HasAvailableFlags() {
			continue
		}
		fmt.Fprintf(b, "%s.SS %s\n", heading, roff(group))
		heading = ""
		if group == groupLimits {
			b.WriteString("The options for limits are described in\n.BR ntconv\\-limits (7).\n")
			continue
		}
		set.VisitAll(func(f *pflag.Flag) {
			one := pflag.NewFlagSet("", pflag.ContinueOnError)
			one.AddFlag(f)
			if m := flagUsage().FindStringSubmatch(one.FlagUsages()); m != nil {
				fmt.Fprintf(b, ".TP\n\\fB%s\\fR\n%s\n", roff(m[1]), roff(m[2]))
			}
		})
	}
}

// manSeeAlso writes references to the pages above and below a command, and to all topics.
func manSeeAlso(b *strings.Builder, cmd *cobra.Command) {
	var pages []*cobra.Command
	if cmd.HasParent() {
		pages = append(pages, cmd.Parent())
	}
	pages = append(pages, manChildren(cmd)...)
	if cmd.HasParent() {
		for _, c := range cmd.Root().Commands() {
			if c.IsAdditionalHelpTopicCommand() && c != cmd {
				pages = append(pages, c)
			}
		}
	}
	b.WriteString(".SH SEE ALSO\n")
	for i, c := range pages {
		name, section := manName(c)
		end := ","
		if i == len(pages)-1 {
			end = ""
		}
		fmt.Fprintf(b, ".BR %s (%s)%s\n", roff(name), section, end)
	}
}

// roff escapes text for man(7): hyphens that are to be copied, backslashes, and control characters of a line.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`, "`", `\(ga`, "^", `\(ha`, "~", `\(ti`, "\t", "    ").Replace(text)
	if strings.HasPrefix(text, ".") {
		text = `\&` + text
	}
	return text
}
