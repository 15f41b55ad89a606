package command

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/ntconv/ntconv/internal/testing/corpus"
)

// parts splits a trace into a directory and returns its files.
func parts(t *testing.T, dir, every, in string, flags ...string) []string {
	t.Helper()
	out := filepath.Join(dir, "parts")
	must(t, os.RemoveAll(out))
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
	for name, divisions := range map[string][]string{
		"cpu-env": {"100ms", "30kB", "$event =~ \"^GC\""}, "three-processes-v6": {"process", "100ms"}, "stress-drop": {"30kB"}, "empty": {"$tid"},
		"threads-reused": {"30kB", "process"},
	} {
		in := trace(t, name)
		for _, every := range divisions {
			for _, order := range []string{"time", "file"} {
				if order == "file" && every == "100ms" || !corpus.Nightly() && (name == "threads-reused" || order == "time") && every == "30kB" {
					continue
				}
				files := parts(t, dir, every, in, "--order", order)
				r := invoke(t, dir, nil, append(append([]string{"merge", "-f"}, files...), "again.nettrace")...)
				if r.code != exitOK || !strings.Contains(r.stderr, "joined") {
					t.Fatalf("%s, %s: code %d: %s", name, every, r.code, r.stderr)
				}
				succeed(t, dir, "verify", "--order", order, in, "again.nettrace")
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
		must(t, err)
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
