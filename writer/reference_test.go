package writer_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/testing/corpus"
	"github.com/ntconv/ntconv/ntconvtest"
)

// traceEvent runs TraceEvent on a file and returns its output.
func traceEvent(t *testing.T, command string, trace []byte) []byte {
	t.Helper()
	if testing.Short() {
		t.Skip("runs another program")
	}
	tool := corpus.Shared(t, "oracle", "traceevent")
	path := filepath.Join(t.TempDir(), "written.nettrace")
	if err := os.WriteFile(path, trace, 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(tool, command, path).Output()
	if err != nil {
		if probe := exec.Command(tool, "summary", corpus.Shared(t, "data", "vectors", "ParseMinimalTraceV6.nettrace")); probe.Run() != nil {
			t.Skipf("the reference reader cannot be run: %v", err)
		}
		t.Fatalf("TraceEvent rejects the written trace: %v\n%s", err, out)
	}
	return out
}

// TestReferenceReadsRealTraces checks that TraceEvent reads the same events and values from a rewritten trace as from
// the original.
func TestReferenceReadsRealTraces(t *testing.T) {
	for i, name := range []string{"nettrace/countercow-aspnet-net9", "own/threads-reused", "own/sources", "own/activities", "own/three-processes-v6"} {
		if corpus.IsOmitted(i, 2) {
			continue
		}
		t.Run(filepath.Base(name), func(t *testing.T) {
			f := corpus.SharedTrace(t, name)
			got := traceEvent(t, "events", write(t, read(t, f.Data), nil))
			ours := filepath.Join(t.TempDir(), "ours.jsonl")
			if err := os.WriteFile(ours, got, 0o600); err != nil {
				t.Fatal(err)
			}
			python, err := exec.LookPath("python3")
			if err != nil {
				t.Skip(err)
			}
			reference := corpus.Shared(t, "oracle", "events", filepath.Base(name)+".jsonl.zst")
			if out, err := exec.Command(python, corpus.Shared(t, "oracle", "compare.py"), reference, ours).CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

// TestReferenceReadsFixtures checks that TraceEvent reads every event of a written trace, and no losses.
func TestReferenceReadsFixtures(t *testing.T) {
	traces := map[string]ntconvtest.Trace{}
	for _, f := range ntconvtest.Fixtures() {
		traces[f.Name] = f.Trace
	}
	unnumbered := ntconvtest.Fixtures()[3].Trace
	for _, e := range unnumbered.Events {
		e.Seq = 0
	}
	traces["without sequence numbers"] = unnumbered
	for name, tr := range traces {
		t.Run(name, func(t *testing.T) {
			events := 0
			for _, e := range tr.Events {
				if e.Kind == ntconv.KindEvent {
					events++
				}
			}
			var summary struct{ Events, EventsLost int }
			out := traceEvent(t, "summary", write(t, tr.Source(), nil))
			if err := json.NewDecoder(bytes.NewReader(out)).Decode(&summary); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			if summary.Events != events || summary.EventsLost != 0 {
				t.Errorf("%d events of %d, %d lost", summary.Events, events, summary.EventsLost)
			}
		})
	}
}
