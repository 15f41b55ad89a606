package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// parts splits a trace into a directory and returns its files.
func parts(t *testing.T, dir, every, in string, flags ...string) []string {
	t.Helper()
	out := filepath.Join(dir, "parts")
	if err := os.RemoveAll(out); err != nil {
		t.Fatal(err)
	}
	r := invoke(t, dir, nil, append([]string{"split", "--every", every, in, out}, flags...)...)
	files, err := filepath.Glob(filepath.Join(out, "*"))
	if r.code != exitOK || err != nil || len(files) == 0 {
		t.Fatalf("split --every %s: code %d, %d parts, %v: %s", every, r.code, len(files), err, r.stderr)
	}
	return files
}

// Merging the parts of a trace restores it, whatever divides it; verify shows it in both orders.
func TestMergeOfSplit(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"cpu-env", "three-processes-v6", "stress-drop", "empty", "threads-reused"} {
		in := trace(t, name)
		for _, every := range []string{"100ms", "30kB", "process", "$tid", "$event =~ \"^GC\""} {
			for _, order := range []string{"time", "file"} {
				if order == "file" && every == "100ms" {
					continue
				}
				files := parts(t, dir, every, in, "--order", order)
				r := invoke(t, dir, nil, append(append([]string{"merge", "-f"}, files...), "again.nettrace")...)
				if r.code != exitOK || !strings.Contains(r.stderr, "joined") {
					t.Fatalf("%s, %s: code %d: %s", name, every, r.code, r.stderr)
				}
				if r := invoke(t, dir, nil, "verify", "--order", order, in, "again.nettrace"); r.code != exitOK {
					t.Errorf("%s, %s, %s order, %d parts: %s", name, every, order, len(files), r.stderr)
				}
			}
		}
	}
}

// folded returns the stacks of a trace, by their names, with their values. It adds them to sums, which may be nil.
func folded(t *testing.T, in string, sums map[string]int64) map[string]int64 {
	t.Helper()
	if sums == nil {
		sums = map[string]int64{}
	}
	r := invoke(t, t.TempDir(), nil, "to", "folded", "-o", "-", in)
	if r.code != exitOK && r.code != exitEmpty {
		t.Fatalf("%s: %s", in, r.stderr)
	}
	for line := range strings.Lines(r.stdout) {
		at := strings.LastIndexByte(line, ' ')
		n, err := strconv.ParseInt(strings.TrimSpace(line[at+1:]), 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		sums[line[:at]] += n
	}
	return sums
}

// Each part stands alone: its frames have the names that they have in the whole trace, and the profiles of all parts
// add up to that of the trace.
func TestPartsStandAlone(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct{ name, every string }{
		{"cpu-env", "200ms"}, {"cpu-v6", "200ms"}, {"cpu-netperf3", "200ms"}, {"waits-v6", "100ms"},
		{"cpu-default", "100kB"}, {"jit", "50ms"}, {"three-processes-v6", "process"},
	} {
		whole := folded(t, trace(t, c.name), nil)
		var sums map[string]int64
		files := parts(t, dir, c.every, trace(t, c.name))
		for _, part := range files {
			sums = folded(t, part, sums)
		}
		for stack, want := range whole {
			if diff := sums[stack] - want; diff > int64(len(files)) || -diff > int64(len(files)) { // rounded in each part
				t.Errorf("%s: %d in %d parts, want %d: %s", c.name, sums[stack], len(files), want, stack)
			}
		}
		if len(sums) != len(whole) || len(whole) == 0 {
			t.Errorf("%s: %d stacks in %d parts, want %d", c.name, len(sums), len(files), len(whole))
		}
	}
}

// Parts of a split with a missing one can be joined, and the summary names the missing one.
func TestMergeWithoutAPart(t *testing.T) {
	dir := t.TempDir()
	files := parts(t, dir, "100ms", trace(t, "cpu-env"))
	r := invoke(t, dir, nil, append(append([]string{"merge"}, files[1:]...), "rest.nettrace")...)
	if r.code != exitOK || !strings.Contains(r.stderr, "these are missing: 1") {
		t.Errorf("code %d: %s", r.code, r.stderr)
	}
}

// A merge keeps processes of different inputs apart, and names the machine and the input of each.
func TestMergeKeepsInputsApart(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a", "b"} {
		data, err := os.ReadFile(trace(t, "cpu-env"))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name+".nettrace.zst"), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	merge := func(want int, flags ...string) (r result, processes int) {
		t.Helper()
		r = invoke(t, dir, nil, append([]string{"merge", "-f", "a.nettrace.zst", "b.nettrace.zst", "both.nettrace", "--report", "json"}, flags...)...)
		if r.code != exitOK {
			t.Fatalf("%q: code %d: %s", flags, r.code, r.stderr)
		}
		info := invoke(t, dir, nil, "info", "--json", "both.nettrace")
		var v struct{ Processes []json.RawMessage }
		if err := json.Unmarshal([]byte(info.stdout), &v); err != nil {
			t.Fatal(err)
		}
		if len(v.Processes) != want {
			t.Errorf("%q: %d processes, want %d", flags, len(v.Processes), want)
		}
		return r, len(v.Processes)
	}
	if r, _ := merge(2); !strings.Contains(r.stderr, "aligned by ticks") {
		t.Errorf("two recordings of one machine: %s", r.stderr)
	}
	merge(1, "--same-pids")
	if r, _ := merge(2, "--separate", "--same-pids"); !strings.Contains(r.stderr, "aligned by UTC within 1ms") {
		t.Errorf("--separate: %s", r.stderr)
	}
	merge(2, "--separate", "--host", "a.nettrace.zst=web")
	r := invoke(t, dir, nil, "to", "pprof", "both.nettrace", "-f", "-o", "x.pb.gz")
	top := invoke(t, dir, nil, "top", "--focus", ".", "x.pb.gz")
	if r.code != exitOK || top.code != exitOK {
		t.Errorf("to pprof: %s%s", r.stderr, top.stderr)
	}
	if r, _ := merge(2, "--offset", "2=+1.5s"); !strings.Contains(r.stderr, "shifted by +1.5s") {
		t.Errorf("--offset: %s", r.stderr)
	}
	if r := invoke(t, dir, nil, "verify", "a.nettrace.zst", "both.nettrace"); r.code != exitDifferent {
		t.Errorf("verify: code %d", r.code)
	}
}

// If nothing divides the trace, the summary says why.
func TestSplitNotes(t *testing.T) {
	dir := t.TempDir()
	for every, want := range map[string]string{
		"NoSuchField == 3": "the expression is true for no event",
		"NoSuchField":      "no event has a field NoSuchField",
		"$tid":             "of " + trace(t, "cpu-env"),
	} {
		r := invoke(t, dir, nil, "split", "-f", "--every", every, trace(t, "cpu-env"), "p")
		if r.code != exitOK || !strings.Contains(r.stderr, want) {
			t.Errorf("%s: code %d: %s", every, r.code, r.stderr)
		}
		r = invoke(t, dir, nil, "split", "-f", "--report", "json", "--every", every, trace(t, "cpu-env"), "p")
		var v map[string]any
		if err := json.Unmarshal([]byte(r.stderr), &v); err != nil || strings.Count(r.stderr, `"events":`) != 1 || v["replicas"] == nil {
			t.Errorf("%s: %v: %s", every, err, r.stderr)
		}
	}
}

// Parts keep apart from what the user selects: verify ignores the added events on request.
func TestVerifyIgnoresReplicas(t *testing.T) {
	dir := t.TempDir()
	in := trace(t, "three-processes-v6")
	for _, part := range parts(t, dir, "process", in) {
		name := strings.TrimSuffix(filepath.Base(part), ".nettrace")
		pid := name[strings.LastIndexByte(name, '-')+1:]
		r := invoke(t, dir, nil, "verify", "--ignore", "replicas,sequence,lost,marks,definitions", "--pid", pid, in, part)
		if r.code != exitOK {
			t.Errorf("%s: %s", name, r.stderr)
		}
	}
}
