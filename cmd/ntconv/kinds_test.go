package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ntconv/ntconv/sample"
)

// A kindsJSON is the summary of a conversion to one file per kind.
type kindsJSON struct {
	Profiles []struct {
		Kind, File string
		Used       int64
		Estimate   string
	}
	Files int
}

// Each file of --kind all is the profile of its kind alone, and there is one for each kind that the trace has.
func TestAllKinds(t *testing.T) {
	for _, to := range []string{"pprof", "folded"} {
		for _, name := range []string{"waits", "alloc-verbose", "cpu-env"} {
			dir, in := t.TempDir(), trace(t, name)
			r := invoke(t, dir, nil, "to", to, "--kind", "all", "-o", "all/", "--report", "json", in)
			var s kindsJSON
			if err := json.Unmarshal([]byte(r.stderr), &s); err != nil || r.code != exitOK || len(s.Profiles) != s.Files {
				t.Fatalf("%s to %s: code %d, %v: %s", name, to, r.code, err, r.stderr)
			}
			files, err := os.ReadDir(filepath.Join(dir, "all"))
			if err != nil || len(files) != s.Files {
				t.Fatalf("%d files, %v; want %d", len(files), err, s.Files)
			}
			var made []string
			for _, p := range s.Profiles {
				made = append(made, p.Kind)
				if r := invoke(t, dir, nil, "to", to, "-f", "--kind", p.Kind, "-o", "one"+p.File, in); r.code != exitOK {
					t.Fatalf("%s: code %d: %s", p.Kind, r.code, r.stderr)
				}
				want, got := read(t, dir, "one"+p.File), read(t, dir, filepath.Join("all", p.File))
				if string(want) != string(got) {
					t.Errorf("%s to %s: %s differs from the profile of its kind alone", name, to, p.File)
				}
				if (p.Estimate != "") != (p.Kind == "alloc") {
					t.Errorf("%s: estimate %q", p.Kind, p.Estimate)
				}
			}
			for _, k := range sample.All() {
				if k == sample.Events || slices.Contains(made, k.String()) {
					continue
				}
				if r := invoke(t, dir, nil, "to", to, "-f", "--kind", k.String(), "-o", "none", in); r.code != exitEmpty {
					t.Errorf("%s: %s has a profile of its own, but not with --kind all", name, k)
				}
			}
		}
	}
}

func read(t *testing.T, dir, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// Timelines and tables have the samples of the kinds of --kind, as many as a profile is computed from.
func TestKindsOfSamples(t *testing.T) {
	waits, dir := trace(t, "waits"), t.TempDir()
	for _, c := range []struct {
		kinds string
		want  int64
	}{{"", 966}, {"wall", 966}, {"contention", 5}, {"contention,wait", 27}, {"gc", 0}} {
		for _, to := range []string{"chrome", "perfetto", "firefox", "speedscope", "parquet"} {
			args := []string{"to", to, "-f", "--report", "json", "-o", "out" + to, waits}
			if to == "parquet" {
				args[6] = "outparquet/"
			}
			if c.kinds != "" {
				args = append(args, "--kind", c.kinds)
			}
			r := invoke(t, dir, nil, args...)
			var s struct{ Samples int64 }
			if err := json.Unmarshal([]byte(r.stderr), &s); err != nil || r.code != exitOK || s.Samples != c.want {
				t.Errorf("%s, kinds %q: code %d, %v, %d samples, want %d", to, c.kinds, r.code, err, s.Samples, c.want)
			}
		}
	}
	text := string(read(t, dir, "outspeedscope"))
	if r := invoke(t, dir, nil, "to", "speedscope", "--kind", "jit", "-o", "jit.json", waits); r.code != exitOK {
		t.Fatalf("code %d: %s", r.code, r.stderr)
	}
	if jit := string(read(t, dir, "jit.json")); !strings.Contains(jit, `"name":"all threads: jit"`) || strings.Contains(text, "jit") {
		t.Errorf("profiles of compilations: %.300s", jit)
	}
}
