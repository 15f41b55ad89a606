package command

import (
	"io"
	"slices"
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

// If the first word is a command, a run has only that command, and of the formats only the named one. Its name is that
// of the table.
func TestOneCommand(t *testing.T) {
	children := func(cmd *cobra.Command) (names []string) {
		for _, c := range cmd.Commands() {
			names = append(names, c.Name())
		}
		return names
	}
	a := newApp(io.Discard, io.Discard)
	for name := range a.commands(nil) {
		if got := children(a.command([]string{name, "x"})); !slices.Equal(got, []string{name}) {
			t.Errorf("%s: commands %q", name, got)
		}
	}
	to := a.command([]string{"to", "pprof", "x"}).Commands()[0]
	if got := children(to); !slices.Equal(got, []string{"pprof"}) {
		t.Errorf("to pprof: formats %q", got)
	}
	for _, words := range [][]string{nil, {"help", "top"}, {"--version"}, {"topp"}, {cobra.ShellCompRequestCmd, "t"}} {
		if got := children(a.command(words)); len(got) < len(a.commands(nil)) {
			t.Errorf("%q: commands %q", words, got)
		}
	}
}
