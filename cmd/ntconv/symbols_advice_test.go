package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestSymbolsAdvice checks that ntconv symbols gives the advice that fits the recorder: perf maps do not help with
// stacks of EventPipe, whose names are in the rundown.
func TestSymbolsAdvice(t *testing.T) {
	for _, c := range []struct{ trace, want, not string }{
		{trace(t, "cpu-norundown"), "methods of process 15742 (shop): no rundown", "perf map"},
		{trace(t, "cpu-default"), "0 of 20,919 frames are native or unresolved: all are managed methods", "UNRESOLVED"},
		{trace(t, "cpu-v6"), "generated code of process 17984 (shop): no perf map", "rundown, in which"},
		{trace(t, "empty"), "no event has a stack", "UNRESOLVED"},
		{webappNet5, "events of the rundown, in which .NET names methods, were lost; record with a larger buffer", "perf map"},
	} {
		if c.trace == webappNet5 {
			if _, err := os.Stat(webappNet5); err != nil {
				continue
			}
		}
		r := invoke(t, "", nil, "symbols", c.trace)
		if r.code != exitOK && r.code != exitIncomplete || !strings.Contains(r.stdout, c.want) || strings.Contains(r.stdout, c.not) {
			t.Errorf("%s: exit code %d: %s%s", c.trace, r.code, r.stdout, r.stderr)
		}
	}
}

// webappNet5 is a trace whose recorder lost events of the rundown.
const webappNet5 = "../../../shared/data/nettrace/dotnetdiag-webapp-net5.nettrace.zst"

// TestSymbolsPerfMapWithoutUse checks that a perf map that names nothing is shown with the reason.
func TestSymbolsPerfMapWithoutUse(t *testing.T) {
	name := filepath.Join(t.TempDir(), "perf-17984.map")
	for text, want := range map[string]string{
		"":                  "perf-17984.map: 0 functions: the file is empty",
		"\x00\xff random\n": "perf-17984.map: 0 functions: no line is valid",
		"1000 10 f\n":       "perf-17984.map (1 function): none contains these addresses",
	} {
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		r := invoke(t, "", nil, "symbols", "--symbols", name, trace(t, "cpu-v6"))
		if r.code != exitOK || !strings.Contains(r.stdout, want) {
			t.Errorf("%q: exit code %d: %s%s", text, r.code, r.stdout, r.stderr)
		}
	}
}
