package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// splitTraces are the traces that are split without -rewrite-all.
var splitTraces = []string{"cpu-v6", "onecollect-small-v6", "sources-netperf3", "threads-reused"}

// TraceEvent reads every part of a split trace, and finds the same events in the trace that ntconv merge restores from the
// parts as in the original.
func TestSplitTraces(t *testing.T) {
	tool := shared(t, "oracle", "traceevent")
	if r := run(t, tool, "summary", shared(t, "data", "vectors", "ParseMinimalTraceV6.nettrace")); r.code != 0 {
		t.Skipf("the reference reader cannot be run: %s", r.stderr)
	}
	for _, tr := range sharedTraces(t) {
		if exitCode(tr.name) == unreadable || !*rewriteAll && !slices.Contains(splitTraces, tr.name) {
			continue
		}
		divisions := []string{"400ms", "process", "$provider"}
		if !slices.Contains(splitTraces, tr.name) { // a process of TraceEvent per part takes a second
			divisions = []string{fmt.Sprint(max(4096, len(unzstd(t, tr.path))/3), "B")}
		}
		for _, every := range divisions {
			t.Run(tr.name+"/"+every, func(t *testing.T) {
				t.Parallel()
				checkSplit(t, tool, tr, every)
			})
		}
	}
}

func checkSplit(t *testing.T, tool string, tr trace, every string) {
	c := newRewriting(t, tool, tr, "time")
	dir := filepath.Join(t.TempDir(), "parts")
	if r := run(t, command, "split", "--every", every, c.files[0], dir); r.code != exitCode(tr.name) {
		t.Fatalf("split: exit code %d: %s", r.code, r.stderr)
	}
	parts, err := filepath.Glob(filepath.Join(dir, "*.nettrace"))
	if err != nil || len(parts) == 0 {
		t.Fatalf("no parts: %v", err)
	}
	lost := 0
	for _, part := range parts {
		r := run(t, tool, "summary", part)
		var s struct{ EventsLost int }
		if r.code != 0 || json.Unmarshal(r.stdout, &s) != nil {
			t.Fatalf("%s: exit code %d: %s", filepath.Base(part), r.code, r.stderr)
		}
		lost += s.EventsLost
	}
	must(t, os.Remove(c.files[1]))
	succeed(t, append(append([]string{"merge"}, parts...), c.files[1])...)
	c.verify(t)
	c.events(t)
	if !truncated[tr.name] {
		c.lost(t)
		c.stacks(t)
	}
	t.Logf("%d parts, %d events lost", len(parts), lost)
}

// TraceEvent reads a trace that was merged from two, with all events of both.
func TestMergedTraces(t *testing.T) {
	tool := shared(t, "oracle", "traceevent")
	if r := run(t, tool, "summary", shared(t, "data", "vectors", "ParseMinimalTraceV6.nettrace")); r.code != 0 {
		t.Skipf("the reference reader cannot be run: %s", r.stderr)
	}
	names := []string{"cpu-v6", "onecollect-small-v6", "cpu-env", "sources-netperf3"}
	var inputs []string
	want := 0
	for _, tr := range sharedTraces(t) {
		if !slices.Contains(names, tr.name) {
			continue
		}
		inputs = append(inputs, tr.path)
		plain := filepath.Join(t.TempDir(), "trace.nettrace")
		if r := run(t, command, "to", "nettrace", tr.path, "-o", plain); r.code != exitCode(tr.name) {
			t.Fatalf("%s: %s", tr.name, r.stderr)
		}
		want += eventsRead(t, tool, plain)
	}
	merged := filepath.Join(t.TempDir(), "merged.nettrace")
	succeed(t, append(append([]string{"merge"}, inputs...), merged)...)
	if got := eventsRead(t, tool, merged); got != want || want == 0 {
		t.Errorf("TraceEvent reads %d events of the merged trace, %d of its inputs", got, want)
	}
}

// eventsRead returns the number of events that TraceEvent finds in a file.
func eventsRead(t *testing.T, tool, file string) int {
	t.Helper()
	r := run(t, tool, "events", file)
	if r.code != 0 {
		t.Fatalf("%s: exit code %d: %s", filepath.Base(file), r.code, r.stderr)
	}
	return len(readLines(t, r.stdout))
}
