package command

import (
	"encoding/json"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ntconv/ntconv/internal/show/profilediff"
	"github.com/ntconv/ntconv/internal/testing/corpus"
)

// diffInput returns the path of a recording for comparisons.
func diffInput(name string) string { return corpus.Path(filepath.Join("diff", name+".nettrace.zst")) }

// diffJSON returns what diff --json prints.
func diffJSON(t *testing.T, args ...string) *profilediff.Comparison {
	t.Helper()
	r := invoke(t, t.TempDir(), nil, append([]string{"diff", "--json"}, args...)...)
	if r.code != exitOK {
		t.Fatalf("%q: code %d: %s", args, r.code, r.stderr)
	}
	c := new(profilediff.Comparison)
	d := json.NewDecoder(strings.NewReader(r.stdout))
	d.DisallowUnknownFields()
	if err := d.Decode(c); err != nil {
		t.Fatalf("%q: %v: %s", args, err, r.stdout)
	}
	return c
}

// The values of functions are those of top, which pprof computes.
func TestDiffValuesAreThoseOfTop(t *testing.T) {
	before, after := diffInput("before"), diffInput("after")
	for _, flags := range [][]string{nil, {"--just-my-code"}, {"--focus", "Cpu.Split"}} {
		c := diffJSON(t, append(flags, before, after)...)
		for i, in := range []string{before, after} {
			top := topJSON(t, t.TempDir(), append(flags, in)...)
			want := map[string]int64{}
			for _, r := range top.Rows {
				want[r.Function] = r.Cum
			}
			for _, f := range c.Functions {
				got, name := f.Total.Before, f.Name
				if f.Renamed != "" && i == 0 {
					name = f.Renamed
				}
				if i == 1 {
					got = f.Total.After
				}
				if strings.HasPrefix(name, "System.Threading.Thread.PollGC") { // partly counted for its callers
					continue
				}
				if math.Abs(got-float64(want[name])) > 1 {
					t.Errorf("%q: %s: %s has %g, and %d in top", flags, in, name, got, want[name])
				}
			}
		}
	}
}

// Every trace compared with itself has no significant change, of any kind, in any form.
func TestDiffOfEqualTraces(t *testing.T) {
	traces := corpus.Traces(t)
	if testing.Short() {
		traces = traces[:6]
	}
	for i, file := range traces {
		for j, form := range []string{"", "--json", "--markdown"} {
			if corpus.IsOmitted(i+j, 3) {
				continue
			}
			args := []string{"diff", "-q", file.Path, file.Path}
			if form != "" {
				args = append(args, form)
			}
			r := invoke(t, t.TempDir(), nil, args...)
			switch {
			case r.code == exitEmpty || file.Name == "empty":
			case r.code != exitOK && r.code != exitIncomplete:
				t.Errorf("%s %s: code %d: %s", file.Name, form, r.code, r.stderr)
			case form == "--json" && !json.Valid([]byte(r.stdout)):
				t.Errorf("%s: invalid JSON", file.Name)
			case strings.Contains(r.stdout, "NaN") || strings.Contains(r.stdout, "+Inf") || strings.Contains(r.stdout, "-Inf"):
				t.Errorf("%s %s: a number is invalid: %s", file.Name, form, r.stdout)
			case form != "--json" && strings.Contains(r.stdout, "Changed significantly"), strings.Contains(r.stdout, `"significant": true`):
				t.Errorf("%s %s: a trace differs from itself: %s", file.Name, form, r.stdout)
			}
		}
	}
}
