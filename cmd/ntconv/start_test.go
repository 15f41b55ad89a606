package main

import (
	"io"
	"testing"
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
