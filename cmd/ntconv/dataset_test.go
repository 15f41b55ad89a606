package main

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ntconv/ntconv/internal/data/message"
	"github.com/ntconv/ntconv/internal/tables/dataset"
)

// fleet makes a directory of n different traces, each a recorded trace truncated at a different place, and returns its
// name.
func fleet(t *testing.T, dir string, n int) string {
	t.Helper()
	data := unpacked(t, "cpu-v6")
	must(t, os.Mkdir(filepath.Join(dir, "traces"), 0o700))
	for i := range n {
		write(t, dir, fmt.Sprintf("traces/%03d.nettrace", i), data[:len(data)-i])
	}
	return filepath.Join(dir, "traces")
}

// tracesOf returns the traces of a dataset, which must be right and without leftovers.
func tracesOf(t *testing.T, dir, set string) []dataset.Trace {
	t.Helper()
	if r := invoke(t, dir, nil, "dataset", "verify", set); r.code != exitOK || !strings.HasPrefix(r.stdout, "complete: ") {
		t.Fatalf("code %d: %s%s", r.code, r.stdout, r.stderr)
	}
	if left, err := os.ReadDir(filepath.Join(set, "_staging")); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
	d, err := dataset.Open(set)
	must(t, err)
	traces, err := d.Traces()
	must(t, err)
	return traces
}

// A trace that another run is adding is not there yet: the run ends with 3, and the next one adds it.
func TestDatasetBusy(t *testing.T) {
	dir := t.TempDir()
	set := filepath.Join(dir, "fleet")
	succeed(t, dir, "to", "parquet", "-q", "--dataset", set, trace(t, "jit"))
	d, err := dataset.Open(set)
	must(t, err)
	sum := sha256.Sum256(unpacked(t, "threads"))
	other, err := d.Begin(sum[:], nil, nil)
	must(t, err)
	args := []string{"to", "parquet", "--dataset", set, trace(t, "threads"), trace(t, "empty")}
	r := invoke(t, dir, nil, args...)
	if r.code != exitIncomplete || !strings.Contains(r.stderr, "threads.nettrace.zst: another run is adding it") ||
		!strings.Contains(r.stderr, "1 trace added, 1 being added by another run") {
		t.Errorf("code %d: %s", r.code, r.stderr)
	}
	must(t, other.Abort())
	if r := succeed(t, dir, args...); !strings.Contains(r.stderr, "1 trace added, 1 already there") {
		t.Errorf("then: %s", r.stderr)
	}
	if len(tracesOf(t, dir, set)) != 3 {
		t.Error("not all traces are there")
	}
}

// A part of a trace is not the whole: the whole replaces it, and other settings are refused unless they are to replace.
func TestDatasetParts(t *testing.T) {
	dir := t.TempDir()
	set, in := filepath.Join(dir, "fleet"), trace(t, "cpu-env")
	sizes := map[string]int64{} // events by selection
	for _, c := range []struct {
		args, says string
		code       int
		selection  string
	}{
		{"--event GC*", "1 trace added", exitOK, "--event GC*"},
		{"--event GC*", "1 already there", exitOK, "--event GC*"},
		{"--event Thread*", "the dataset has it with --event GC*, and this run has --event Thread*; add --replace to replace it", exitUsage, "--event GC*"},
		{"--typed-rows 5", "the dataset has it with --event GC*, and this run has --typed-rows 5", exitUsage, "--event GC*"},
		{"", "1 trace added", exitOK, ""},
		{"", "1 already there", exitOK, ""},
		{"--event GC*", "the dataset has it with all events and the default settings, and this run has --event GC*", exitUsage, ""},
		{"--typed-rows 5 --replace", "1 trace added", exitOK, ""},
		{"--typed-rows 5 --replace", "1 already there", exitOK, ""},
		{"--typed-rows 5 --replace --service other", "1 trace added", exitOK, ""}, // in another directory
		{"--event GC* --replace", "1 trace added", exitOK, "--event GC*"},
	} {
		r := invoke(t, dir, nil, append([]string{"to", "parquet", "--dataset", set, in}, strings.Fields(c.args)...)...)
		if r.code != c.code || !strings.Contains(r.stderr, c.says) {
			t.Errorf("%s: code %d, want %d: %s\nwant %s", c.args, r.code, c.code, r.stderr, c.says)
		}
		traces := tracesOf(t, dir, set)
		if len(traces) != 1 || traces[0].Manifest.Selection != c.selection {
			t.Fatalf("%s: %d traces, %+v", c.args, len(traces), traces[0].Manifest)
		}
		events := traces[0].Manifest.Events
		if known, ok := sizes[c.selection]; ok && known != events {
			t.Errorf("%s: %d events, before %d", c.args, events, known)
		}
		sizes[c.selection] = events
		marked := strings.Contains(succeed(t, dir, "dataset", "ls", set).stdout, message.Group(events)+"+ ")
		verified := strings.Contains(succeed(t, dir, "dataset", "verify", set).stdout, "; 1 trace has a selection of events")
		if part := c.selection != ""; marked != part || verified != part {
			t.Errorf("%s: marked %v, verified %v", c.args, marked, verified)
		}
	}
	if part, whole := sizes["--event GC*"], sizes[""]; part == 0 || part >= whole {
		t.Errorf("%d of %d events", part, whole)
	}
}

// verify names what was changed in a dataset, and how to repair it.
func TestDatasetVerify(t *testing.T) {
	dir := t.TempDir()
	set := filepath.Join(dir, "fleet")
	succeed(t, dir, "to", "parquet", "-q", "--dataset", set, trace(t, "jit"), trace(t, "threads"))
	traces := tracesOf(t, dir, set)
	must(t, os.Truncate(filepath.Join(traces[0].Path, "events.parquet"), 100))
	r := invoke(t, dir, nil, "dataset", "verify", set)
	if r.code != exitIncomplete || !strings.Contains(r.stdout, "events.parquet: the file has 100 bytes") || !strings.Contains(r.stdout, "ntconv dataset rm "+set+" "+traces[0].UID) {
		t.Errorf("code %d: %s%s", r.code, r.stdout, r.stderr)
	}
	if r := invoke(t, dir, nil, "dataset", "rm", set, traces[0].UID, "00000000"); r.code != exitEmpty || !strings.Contains(r.stderr, "has no trace 00000000") {
		t.Errorf("code %d: %s%s", r.code, r.stdout, r.stderr)
	}
	if succeed(t, dir, "dataset", "rm", set, traces[0].UID); len(tracesOf(t, dir, set)) != 1 {
		t.Error("the trace is still there")
	}
}

// Traces that are converted concurrently do not share what was learned about one of them, such as its spans.
func TestDatasetJobs(t *testing.T) {
	dir := t.TempDir()
	args := []string{"to", "parquet", "-q"}
	for _, name := range []string{"spans-stop", "activities", "otel-cpu", "cpu-v6", "jit", "threads"} {
		args = append(args, trace(t, name))
	}
	files := make(map[string][]dataset.File)
	for _, jobs := range []string{"1", "8"} {
		set := filepath.Join(dir, jobs)
		succeed(t, dir, append(args, "--dataset", set, "--jobs", jobs)...)
		for _, tr := range tracesOf(t, dir, set) {
			if jobs == "1" {
				files[tr.UID] = tr.Manifest.Files
			} else if !slices.Equal(files[tr.UID], tr.Manifest.Files) {
				t.Errorf("%s: the tables differ from those of one job", tr.Manifest.Source)
			}
		}
	}
	if len(files) != 6 {
		t.Errorf("%d traces", len(files))
	}
}
