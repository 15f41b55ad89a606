package command

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
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
				succeed(t, dir, "to", to, "-f", "--kind", p.Kind, "-o", "one"+p.File, in)
				want, got := contentAt(t, filepath.Join(dir, "one"+p.File)), contentAt(t, filepath.Join(dir, "all", p.File))
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
