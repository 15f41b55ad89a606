package command

import (
	"io"
	"strings"
	"testing"

	"github.com/ntconv/ntconv/internal/run/formats"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Every command has a description and examples of commands. Its help begins with its usage and examples, names no flag of
// a limit, and says where they are described if the command has them.
func TestHelp(t *testing.T) {
	root := newApp(io.Discard, io.Discard).command(nil)
	withLimits := 0
	var walk func(*cobra.Command)
	walk = func(c *cobra.Command) {
		for _, sub := range c.Commands() {
			walk(sub)
		}
		c.Example = strings.ReplaceAll(c.Example, "ntconv-fleet pipeline", "ntconv pipeline") // the same command, with runners
		if c.Short == "" || c.Long == "" || !strings.Contains(c.Example, "ntconv ") || !strings.Contains(c.Example, "# ") {
			t.Errorf("%s: no description or no example", c.CommandPath())
		}
		for line := range strings.Lines(c.Example) {
			if words := strings.Fields(line); words[0] == "ntconv" {
				if found, _, err := root.Find(words[1:]); err != nil || found == root && len(words) > 1 {
					t.Errorf("%s: example of an unknown command: %s", c.CommandPath(), line)
				}
			}
		}
		if !c.IsAdditionalHelpTopicCommand() && checkHelp(t, c) {
			withLimits++
		}
	}
	walk(root)
	if withLimits < 10 {
		t.Errorf("%d commands have limits", withLimits)
	}
	for command, order := range map[string]string{
		"to nettrace": "file", "filter": "file", "to pprof": "time", "print": "time", "info": "file", "top": "time", "verify": "time",
		"convert": ordersOf(formats.Writable()), "to folded": "time", "from pprof to nettrace": "file",
	} {
		c, _, err := root.Find(strings.Fields(command))
		if err != nil || !strings.Contains(c.Flags().FlagUsages(), "time or file (default "+order+")") {
			t.Errorf("%s: the help does not state the default of --order as %s: %v", command, order, err)
		}
	}
	for _, args := range [][]string{{"--help"}, {"help", "top"}, {"to", "pprof", "-h"}, {"help", "limits"}, {}, {"to"}} {
		r := invoke(t, t.TempDir(), nil, args...)
		if len(args) == 1 && args[0] == "to" {
			if r.code != exitUsage {
				t.Errorf("%q: code %d", args, r.code)
			}
			continue
		}
		if r.code != exitOK || !strings.Contains(r.stdout, "Examples:") || r.stderr != "" {
			t.Errorf("%q: code %d, %s", args, r.code, r.stderr)
		}
	}
}

// checkHelp checks the text of the help of a command, and reports whether the command has limits.
func checkHelp(t *testing.T, c *cobra.Command) (limits bool) {
	t.Helper()
	var b strings.Builder
	c.SetOut(&b)
	must(t, c.Help())
	text := b.String()
	_, rest, _ := strings.Cut(text, "\n\nUsage:\n")
	if _, rest, _ = strings.Cut(rest, "\n\n"); !strings.HasPrefix(text, c.Short+"\n\nUsage:\n  ntconv") || !strings.HasPrefix(rest, "Examples:\n") {
		t.Errorf("%s: does not begin with what it does, its usage and examples:\n%.200s", c.CommandPath(), text)
	}
	limits = c.Flags().Lookup(formats.FlagMemory) != nil
	if strings.Contains(text, "--max-t") || strings.Contains(text, "Limits: see ntconv help limits") != limits {
		t.Errorf("%s: flags of limits in the help, or no word about them", c.CommandPath())
	}
	if strings.Contains(text, "(default [])") {
		t.Errorf("%s: an empty list for a default:\n%s", c.CommandPath(), text)
	}
	for line := range strings.Lines(text) {
		if len(line) > 200 { // of descriptions that are not wrapped
			t.Errorf("%s: %d bytes in the line %q", c.CommandPath(), len(line), line)
		}
	}
	return limits
}

// The topics say what the help of the commands says no more: every limit, format and exit code.
func TestTopics(t *testing.T) {
	limits := invoke(t, t.TempDir(), nil, "help", "limits").stdout
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	newApp(io.Discard, io.Discard).bindLimits(flags)
	flags.VisitAll(func(f *pflag.Flag) {
		if !strings.Contains(limits, "--"+f.Name+" ") {
			t.Errorf("help limits: no --%s in\n%s", f.Name, limits)
		}
	})
	table := invoke(t, t.TempDir(), nil, "help", "formats").stdout
	for _, f := range formats.All() {
		if !strings.Contains(table, "  "+f.Name+" ") {
			t.Errorf("help formats: no %s in\n%s", f.Name, table)
		}
	}
	codes := invoke(t, t.TempDir(), nil, "help", "exit-codes").stdout
	for _, code := range []string{"0", "1", "2", "3", "4", "5", "6"} {
		if !strings.Contains(codes, "\n  "+code+"  ") {
			t.Errorf("help exit-codes: no %s in\n%s", code, codes)
		}
	}
	first := invoke(t, t.TempDir(), nil, "--help").stdout
	for _, topic := range topics() {
		if !strings.Contains(first, "\n  "+topic.Name()+" ") {
			t.Errorf("--help: no topic %s in\n%s", topic.Name(), first)
		}
	}
	_, listed, _ := strings.Cut(first, "\nTopics")
	listed, _, _ = strings.Cut(listed, "\n\n")
	if n := strings.Count(listed, "\n"); n != len(topics()) {
		t.Errorf("--help lists %d topics, want %d:\n%s", n, len(topics()), listed)
	}
	if strings.Contains(first, "  2  ") || strings.Contains(first, ".pb.gz") || strings.Count(first, "\n") > 50 {
		t.Errorf("--help has more than commands and topics:\n%s", first)
	}
}

// Shells show the usage of flags as it is, so it has no back quotes.
func TestCompletionHasNoBackQuotes(t *testing.T) {
	for _, args := range []string{"top --", "to pprof --", "verify --", "sql --", "dataset rm --"} {
		r := invoke(t, t.TempDir(), nil, append([]string{"__complete"}, strings.Fields(args)...)...)
		if r.code != exitOK || strings.Contains(r.stdout, "`") || strings.Count(r.stdout, "--") < 3 {
			t.Errorf("%s: code %d:\n%s", args, r.code, r.stdout)
		}
	}
	if help := invoke(t, t.TempDir(), nil, "completion", "--help").stdout; !strings.Contains(help, "bash-completion") {
		t.Errorf("nothing about bash-completion in\n%s", help)
	}
}

// Reflow keeps all words, makes no line longer than the width unless it is one word, and changes no line that begins
// with a blank.
func TestReflow(t *testing.T) {
	const text = "one two three\nfour five\n\n  a list   with columns that are wide\n  b\nsix seven eightnineteneleven\n"
	const want = "one two\nthree four\nfive\n\n  a list   with columns that are wide\n  b\nsix seven\neightnineteneleven"
	if got := reflow(text, 10); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
