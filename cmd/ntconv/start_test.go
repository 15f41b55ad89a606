package main

import (
	"io"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// A run builds only the commands and flags that its arguments can mean: those of all pairs of formats would take longer
// than a small trace.
func TestCommandsOnDemand(t *testing.T) {
	pairs := func(args ...string) (n int) {
		for _, of := range newApp(io.Discard, io.Discard).command(args).Commands() {
			if of.Name() == "from" {
				for _, from := range of.Commands() {
					n += len(from.Commands())
				}
			}
		}
		return n
	}
	if n := pairs("to", "pprof", "trace.nettrace"); n != 0 {
		t.Errorf("to pprof builds %d commands of from, want none", n)
	}
	one, all := pairs("from", "pprof", "to", "nettrace"), pairs()
	if one == 0 || all <= one {
		t.Errorf("from pprof builds %d commands of from, and no arguments %d", one, all)
	}
}

// A run defines only the flags of commands that its words name, and without words those of all commands.
func TestFlagsOnDemand(t *testing.T) {
	flags := func(args ...string) (names []string) {
		var visit func(cmd *cobra.Command)
		visit = func(cmd *cobra.Command) {
			if cmd.Flags().Lookup("pid") != nil {
				names = append(names, cmd.Name())
			}
			for _, c := range cmd.Commands() {
				visit(c)
			}
		}
		visit(newApp(io.Discard, io.Discard).command(args))
		return names
	}
	for _, c := range []struct{ args, want string }{
		{"top trace.nettrace", "top"},
		{"help to pprof", "pprof"},
		{"filter trace.nettrace -o part.nettrace", "filter"},
		{"--version", ""},
	} {
		if got := strings.Join(flags(strings.Fields(c.args)...), " "); got != c.want {
			t.Errorf("%s: commands with flags: %q, want %q", c.args, got, c.want)
		}
	}
	if all := flags(); len(all) < 20 {
		t.Errorf("without words %d commands have flags: %q", len(all), all)
	}
}
