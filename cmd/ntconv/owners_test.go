package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/testing/corpus"
	"github.com/ntconv/ntconv/writer"
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
	if err := json.Unmarshal([]byte(r.stdout), &d); err != nil {
		t.Fatal(err, r.stderr)
	}
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
	if testing.Short() {
		files = files[:2]
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
			piped := invoke(t, dir, corpus.Read(t, in), append([]string{"print", "--json", "-q", "-"}, byName...)...)
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

// A comparison selects the processes of each side by their names there.
func TestVerifyProcess(t *testing.T) {
	dir := t.TempDir()
	in := trace(t, "three-processes-v6")
	if r := invoke(t, dir, nil, "filter", "--process", "shop", "--pid", "1599", in, "part.nettrace"); r.code != exitOK {
		t.Fatal(r.stderr)
	}
	if r := invoke(t, dir, nil, "verify", "--process", "shop", "--pid", "1599", "--ignore", "marks,definitions", in, "part.nettrace"); r.code != exitOK || !strings.HasPrefix(r.stdout, "equal: ") || strings.HasPrefix(r.stdout, "equal: 0 ") {
		t.Errorf("code %d: %s%s", r.code, r.stdout, r.stderr)
	}
	if r := invoke(t, dir, nil, "verify", "--process", "shop", in, "part.nettrace"); r.code != exitDifferent {
		t.Errorf("code %d: %s", r.code, r.stderr)
	}
}

// threadTrace writes a trace of threads with names, and one without.
func threadTrace(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "threads.nettrace")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	w, err := writer.New(f, &ntconv.Info{Clock: ntconv.Clock{Freq: 1e9}, PointerSize: 8}, nil)
	if err != nil {
		t.Fatal(err)
	}
	kind := &ntconv.Type{Provider: "P", ID: 1, Name: "E"}
	process := &ntconv.Process{PID: 3, PointerSize: 8}
	for i, name := range []string{"main", "Worker 1", "Worker 2", ""} {
		th := &ntconv.Thread{TID: uint64(10 + i), Name: name, Process: process}
		e := &ntconv.Event{Time: ntconv.Ticks(i), Type: kind, Thread: th, Capture: th, CPU: ntconv.CPUUnknown, Seq: 1, Offset: -1}
		if err := w.Write(e); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// Names of threads select the threads, and unknown names are reported with those of the trace.
func TestThreadName(t *testing.T) {
	in := threadTrace(t)
	for flags, tids := range map[string]string{
		"worker*": "11,12", "MAIN,worker ?": "10,11,12", "*": "10,11,12",
	} {
		got, want := invoke(t, "", nil, "print", "--json", in, "--thread-name", flags), invoke(t, "", nil, "print", "--json", in, "--tid", tids)
		if got.code != exitOK || got.stdout != want.stdout || got.stdout == "" {
			t.Errorf("%s: code %d\n%s\nwant\n%s", flags, got.code, got.stdout, want.stdout)
		}
	}
	for flags, want := range map[string]string{
		"wroker 1": "no event matches --thread-name wroker 1; similar: Worker 1",
		"gc":       "no event matches --thread-name gc; threads in the trace: Worker 1, Worker 2, main;",
	} {
		if r := invoke(t, "", nil, "print", in, "--thread-name", flags); r.code != exitEmpty || !strings.Contains(r.stderr, want) {
			t.Errorf("%s: code %d: %s", flags, r.code, r.stderr)
		}
	}
	if r := invoke(t, "", nil, "print", in, "--process", "shop"); r.code != exitEmpty || !strings.Contains(r.stderr, "the trace has no names of processes") {
		t.Errorf("code %d: %s", r.code, r.stderr)
	}
}
