package command

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/testing/corpus"
)

// pidsByName returns the processes of a trace by their names, as info describes them.
func pidsByName(t *testing.T, in string) map[string][]string {
	t.Helper()
	r := invoke(t, "", nil, "info", "--json", in)
	var d struct {
		Processes []struct {
			PID  uint64
			Name string
		}
	}
	decode(t, []byte(r.stdout), &d)
	pids := map[string][]string{}
	for _, p := range d.Processes {
		pids[p.Name] = append(pids[p.Name], fmt.Sprint(p.PID))
	}
	return pids
}

// A selection of processes by name is the selection of their IDs, for every command and also from a pipe.
func TestProcessByName(t *testing.T) {
	files := []string{trace(t, "three-processes-v6"), trace(t, "cpu-env")}
	for _, name := range []string{"onecollect-shop-cpu-cswitch-v6", "onecollect-3windows-v6", "onecollect-shop-cpu-v6"} {
		if path, err := corpus.Find("data", "nettrace", name+".nettrace.zst"); err == nil {
			files = append(files, path)
		}
	}
	if !corpus.Nightly() {
		files = files[:min(3, len(files))]
	}
	for _, in := range files {
		for name, pids := range pidsByName(t, in) {
			if name == "" {
				continue
			}
			dir := t.TempDir()
			byName, byPID := []string{"--process", strings.ToUpper(name)}, []string{"--pid", strings.Join(pids, ",")}
			for _, args := range [][]string{
				{"print", "--json", "-q", in}, {"top", "-q", in}, {"filter", "-q", "-f", in, "-"}, {"to", "folded", "-q", in, "-o", "-"},
				{"filter", "-q", "-f", "--keep-symbols=false", in, "-"},
			} {
				got, want := invoke(t, dir, nil, slices.Concat(args, byName)...), invoke(t, dir, nil, slices.Concat(args, byPID)...)
				if got.code != want.code || got.stdout != want.stdout {
					t.Errorf("%s: %v %v: code %d, %d bytes; by ID code %d, %d bytes: %s", in, args, byName, got.code, len(got.stdout), want.code, len(want.stdout), got.stderr)
				}
			}
			piped := invoke(t, dir, contentAt(t, in), append([]string{"print", "--json", "-q", "-"}, byName...)...)
			if want := invoke(t, dir, nil, append([]string{"print", "--json", "-q", in}, byPID...)...); piped.stdout != want.stdout {
				t.Errorf("%s: %v from a pipe: %d bytes, want %d: %s", in, byName, len(piped.stdout), len(want.stdout), piped.stderr)
			}
			r := invoke(t, dir, nil, append([]string{"to", "nettrace", "--split-by", "process", "-o", "parts/", in}, byName...)...)
			if members, _ := filepath.Glob(filepath.Join(dir, "parts", "*.nettrace")); r.code != exitOK || len(members) != len(pids) {
				t.Errorf("%s: %v: %d members of %d processes: %s", in, byName, len(members), len(pids), r.stderr)
			}
		}
	}
}

// threadTrace writes a trace of threads with names, and one without.
func threadTrace(t *testing.T) string {
	kind := &ntconv.Type{Provider: "P", ID: 1, Name: "E"}
	process := &ntconv.Process{PID: 3, PointerSize: 8}
	var events []*ntconv.Event
	for i, name := range []string{"main", "Worker 1", "Worker 2", ""} {
		th := &ntconv.Thread{TID: uint64(10 + i), Name: name, Process: process}
		events = append(events, &ntconv.Event{Time: ntconv.Ticks(i), Type: kind, Thread: th, Capture: th, CPU: ntconv.CPUUnknown, Seq: 1, Offset: -1})
	}
	return writeTrace(t, "threads.nettrace", &ntconv.Info{Clock: ntconv.Clock{Freq: 1e9}, PointerSize: 8}, events...)
}
