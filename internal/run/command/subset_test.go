package command

import (
	"bytes"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// All commands that write a selection as nettrace write the same bytes: filter, to nettrace and convert. So all of them
// keep what symbolizes the selection, unless --keep-symbols=false.
func TestSelectionsAreSubsets(t *testing.T) {
	for _, c := range []struct {
		trace string
		flags []string
	}{
		{"cpu-env", []string{"--provider", "Microsoft-DotNETCore-SampleProfiler"}},
		{"alloc-verbose", []string{"--event", "GCAllocationTick"}},
		{"three-processes-v6", []string{"--pid", "1599"}},
		{"waits-v6", []string{"--event", "cpu", "--from-time", "-1s"}},
	} {
		dir := t.TempDir()
		read := func(args ...string) []byte {
			t.Helper()
			r := invoke(t, dir, nil, slices.Concat(args, []string{"-f", "-o", "out.nettrace", trace(t, c.trace)}, c.flags)...)
			if r.code != exitOK {
				t.Fatalf("%v: code %d: %s", args, r.code, r.stderr)
			}
			data := contentAt(t, filepath.Join(dir, "out.nettrace"))
			return data
		}
		with, without := read("filter"), read("filter", "--keep-symbols=false")
		if len(with) <= len(without) {
			t.Errorf("%s: %d bytes with symbols and %d without, which shows nothing", c.trace, len(with), len(without))
		}
		for _, args := range [][]string{{"to", "nettrace"}, {"convert"}, {"from", "nettrace", "to", "nettrace"}} {
			if got := read(args...); !bytes.Equal(got, with) {
				t.Errorf("%s: %v writes %d bytes, filter %d", c.trace, args, len(got), len(with))
			}
		}
		if got := read("to", "nettrace", "--keep-symbols=false"); !bytes.Equal(got, without) {
			t.Errorf("%s: without symbols %d bytes, filter %d", c.trace, len(got), len(without))
		}
	}
}

// The traces of a selection by process hold the symbols of their processes, and there are none of processes that merely
// describe a mapping for others.
func TestSplitSelectionKeepsSymbols(t *testing.T) {
	dir := t.TempDir()
	for _, pids := range [][]string{{"1598"}, {"1599", "1600"}} {
		args := []string{"to", "nettrace", "--split-by", "process", "-f", "-o", "parts/", trace(t, "three-processes-v6"), "--event", "cpu"}
		for _, pid := range pids {
			args = append(args, "--pid", pid)
		}
		succeed(t, dir, args...)
		parts, err := filepath.Glob(filepath.Join(dir, "parts", "*"))
		if err != nil || len(parts) != len(pids) {
			t.Fatalf("%q of processes %v, error %v", parts, pids, err)
		}
		for _, pid := range pids {
			i := slices.IndexFunc(parts, func(name string) bool { return strings.HasSuffix(name, pid+".nettrace") })
			if i < 0 {
				t.Fatalf("no part of process %s: %q", pid, parts)
			}
			got := invoke(t, dir, nil, "to", "folded", "-q", "-o", "-", parts[i])
			want := invoke(t, dir, nil, "to", "folded", "-q", "-o", "-", trace(t, "three-processes-v6"), "--event", "cpu", "--pid", pid)
			if got.code != exitOK || got.stdout != want.stdout || want.stdout == "" {
				t.Errorf("process %s: code %d, other stacks:\n%s\nwant:\n%s", pid, got.code, got.stdout, want.stdout)
			}
		}
	}
}
