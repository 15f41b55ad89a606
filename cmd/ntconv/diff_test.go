package main

import (
	"encoding/json"
	"math"
	"net/http"
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

// A trace and the profile that was converted from it are equal.
func TestDiffOfTraceAndProfile(t *testing.T) {
	dir, in := t.TempDir(), diffInput("before")
	if r := invoke(t, dir, nil, "to", "pprof", in, "-o", "x.pb.gz"); r.code != exitOK {
		t.Fatal(r.stderr)
	}
	c := diffJSON(t, in, filepath.Join(dir, "x.pb.gz"))
	if c.Total.Change != 0 || c.Significant != 0 || c.Before.Error != "time" || c.After.Error != "count" {
		t.Errorf("%+v %+v", c.Total, c.After)
	}
	for _, f := range c.Functions {
		if f.Status != "common" || math.Abs(f.Total.Change) > 1 {
			t.Errorf("%+v", f)
		}
	}
}

// --fail-above ends with 3 if something became slower by more than the limit, names it, and prints the comparison. It
// does not if it became faster, or if the limit is higher.
func TestDiffFailAbove(t *testing.T) {
	before, again, after := diffInput("before"), diffInput("again"), diffInput("after")
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"--fail-above", "5%", before, after}, exitAbove, "increased by more than --fail-above 5%: "},
		{[]string{"--fail-above", "5%", "--focus", "Heavy", before, after}, exitAbove, "the total of wall by +49%"},
		{[]string{"--fail-above", "60%", before, after}, exitOK, ""},
		{[]string{"--fail-above", "5%", after, before}, exitOK, ""},
		{[]string{"--fail-above", "0%", before, again}, exitOK, ""},
		{[]string{"--fail-above", "5", before, after}, exitUsage, "want a percentage, such as 5%"},
	} {
		r := invoke(t, t.TempDir(), nil, append([]string{"diff"}, c.args...)...)
		if r.code != c.code || !strings.Contains(r.stderr, c.want) || c.code != exitUsage && !strings.Contains(r.stdout, "Total: ") {
			t.Errorf("%q: code %d: %s%s", c.args, r.code, r.stderr, r.stdout)
		}
	}
}

// The total of an estimate is judged by its own error, which the summary states: four times the allocations are an
// increase although the program allocates in bursts. The same trace has none.
func TestDiffFailAboveOfEstimates(t *testing.T) {
	before, after := corpus.SharedTrace(t, "own/alloc-verbose").Path, corpus.SharedTrace(t, "own/alloc-sampled").Path
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{before, after}, exitAbove, "the total of alloc_space by +301%"},
		{[]string{"--per", "time", before, after}, exitAbove, "the total of alloc_space per second by "},
		{[]string{after, after}, exitOK, ""},
		{[]string{after, before}, exitOK, ""},
	} {
		r := invoke(t, t.TempDir(), nil, append([]string{"diff", "--kind", "alloc", "--fail-above", "5%"}, c.args...)...)
		if r.code != c.code || !strings.Contains(r.stderr, c.want) {
			t.Errorf("%q: code %d: %s%s", c.args, r.code, r.stderr, r.stdout)
		}
	}
}

// Values of folded stacks have no unit, so nothing is significant, unless --counts states that they are numbers of
// samples.
func TestDiffOfFoldedStacks(t *testing.T) {
	dir := t.TempDir()
	for name, n := range map[string]string{"a": "10000000", "b": "90000000"} {
		write(t, dir, name+".folded", []byte("main;run;spin "+n+"\nmain;run;wait 50000000\n"))
	}
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"a.folded", "b.folded"}, exitOK, "The sampling error is unknown, so no change is called significant."},
		{[]string{"--fail-above", "5%", "a.folded", "b.folded"}, exitUsage, "use --counts"},
		{[]string{"--per", "sample", "a.folded", "b.folded"}, exitEmpty, "the number of samples is unknown"},
		{[]string{"--counts", "a.folded", "b.folded"}, exitOK, "Changed significantly: the total of samples increased"},
		{[]string{"--counts", "--fail-above", "5%", "a.folded", "b.folded"}, exitAbove, "increased by more than"},
	} {
		r := invoke(t, dir, nil, append([]string{"diff"}, c.args...)...)
		if r.code != c.code || !strings.Contains(r.stdout+r.stderr, c.want) {
			t.Errorf("%q: code %d: %s%s", c.args, r.code, r.stderr, r.stdout)
		}
	}
}

// Tables that only one input can have are not compared.
func TestDiffOfTraceAndProfileHasNoTotals(t *testing.T) {
	dir := t.TempDir()
	if r := invoke(t, dir, nil, "to", "pprof", diffInput("before"), "-o", "x.pb.gz"); r.code != exitOK {
		t.Fatal(r.stderr)
	}
	profile := filepath.Join(dir, "x.pb.gz")
	for _, args := range [][]string{{profile, diffInput("again")}, {diffInput("again"), profile}} {
		if c := diffJSON(t, args...); len(c.Sections) > 0 || c.Significant > 0 {
			t.Errorf("%q: %+v", args, c.Sections)
		}
	}
	if c := diffJSON(t, diffInput("before"), diffInput("again")); len(c.Sections) == 0 {
		t.Error("two traces have no totals")
	}
}

// Values per second of a part or of a filtered trace are of its own time, not of the time since the session began.
func TestDiffPerTimeOfParts(t *testing.T) {
	dir, in := t.TempDir(), diffInput("before")
	for _, args := range [][]string{{"split", "--every", "1s", in, "parts"}, {"filter", "--from-time", "1s", in, "late.nettrace"}} {
		if r := invoke(t, dir, nil, args...); r.code != exitOK {
			t.Fatal(r.stderr)
		}
	}
	parts, err := filepath.Glob(filepath.Join(dir, "parts", "*003.nettrace"))
	if err != nil || len(parts) != 1 {
		t.Fatal(parts, err)
	}
	for name, want := range map[string]float64{parts[0]: 1, filepath.Join(dir, "late.nettrace"): 2.11} {
		if c := diffJSON(t, "--per", "time", in, name); math.Abs(c.After.Per-want) > 0.05 || math.Abs(c.Before.Per-3.11) > 0.05 {
			t.Errorf("%s: %g s, want %g s; the whole recording has %g s", name, c.After.Per, want, c.Before.Per)
		}
	}
}

// Profiles whose values have different units are compared only by a sample type that the user chose.
func TestDiffOfUnits(t *testing.T) {
	dir := t.TempDir()
	for to, out := range map[string]string{"pprof": "x.pb.gz", "folded": "x.folded"} {
		if r := invoke(t, dir, nil, "to", to, diffInput("before"), "-o", out); r.code != exitOK {
			t.Fatal(r.stderr)
		}
	}
	for _, args := range [][]string{{"x.folded", "x.pb.gz"}, {"x.pb.gz", "x.folded"}} {
		r := invoke(t, dir, nil, append([]string{"diff"}, args...)...)
		if r.code != exitEmpty || !strings.Contains(r.stderr, " after; use --sample-type samples") || strings.Contains(r.stderr, "base") {
			t.Errorf("%q: code %d: %s", args, r.code, r.stderr)
		}
	}
	r := invoke(t, dir, nil, "diff", "--per", "sample", "x.pb.gz", "x.pb.gz")
	if r.code != exitOK || strings.Contains(r.stdout, "samples, 4,889 samples") {
		t.Errorf("a number of samples is stated twice: code %d: %s%s", r.code, r.stdout, r.stderr)
	}
	r = invoke(t, dir, nil, "view", "--diff", "--kind", "all", "x.pb.gz", "x.pb.gz")
	if r.code != exitUsage || !strings.Contains(r.stderr, "omit --kind, or") {
		t.Errorf("code %d: %s", r.code, r.stderr)
	}
}

// An input that is truncated is compared as far as it can be read. The exit code is 3, and the message says why.
func TestDiffOfTruncated(t *testing.T) {
	dir := t.TempDir()
	data := corpus.Trace(t, "diff/before").Data
	write(t, dir, "cut.nettrace", data[:len(data)*9/10])
	for _, args := range [][]string{{"cut.nettrace", diffInput("after")}, {diffInput("before"), "cut.nettrace"}} {
		r := invoke(t, dir, nil, append([]string{"diff", "--fail-above", "5%"}, args...)...)
		above := strings.Contains(r.stderr, "increased by more than --fail-above 5%")
		if r.code != exitIncomplete || !strings.Contains(r.stderr, "truncated") || above != (args[0] == "cut.nettrace") || r.stdout == "" {
			t.Errorf("%q: code %d: %s", args, r.code, r.stderr)
		}
	}
}

// Values are divided by --per, and the totals of the trace, too.
func TestDiffPer(t *testing.T) {
	before, after := diffInput("before"), diffInput("after")
	whole := diffJSON(t, before, after)
	for _, c := range []struct {
		per   string
		units [2]float64
	}{{"time", [2]float64{whole.Before.Seconds, whole.After.Seconds}}, {"sample", [2]float64{whole.Before.Samples, whole.After.Samples}}} {
		d := diffJSON(t, "--per", c.per, before, after)
		if math.Abs(d.Total.Before*c.units[0]/whole.Total.Before-1) > 1e-9 || math.Abs(d.Total.After*c.units[1]/whole.Total.After-1) > 1e-9 {
			t.Errorf("--per %s: %+v, without %+v", c.per, d.Total, whole.Total)
		}
	}
}

// Every trace compared with itself has no significant change, of any kind, in any form.
func TestDiffOfEqualTraces(t *testing.T) {
	traces := corpus.Traces(t)
	if testing.Short() {
		traces = traces[:6]
	}
	for _, file := range traces {
		for _, form := range []string{"", "--json", "--markdown"} {
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

// view --diff shows the pages of --diff-base, whose flame graph has the values of both inputs.
func TestViewDiff(t *testing.T) {
	before, after := diffInput("before"), diffInput("after")
	pages := map[string]string{}
	for name, args := range map[string][]string{"diff": {"--diff", before, after}, "base": {"--diff-base", before, after}} {
		v := startView(t, t.TempDir(), args...)
		v.get(t, "", "") // the token
		for _, page := range []string{"/flamegraph", "/top"} {
			code, body, _ := v.get(t, page, "")
			if code != http.StatusOK || !strings.Contains(body, "Shop.Cpu.Heavy") {
				t.Errorf("%s: %s: %d, %d bytes", name, page, code, len(body))
			}
			pages[name+page] = strings.ReplaceAll(body, v.address.Host, "")
		}
		v.end()
	}
	if a, b := flameStacks(pages["diff/flamegraph"]), flameStacks(pages["base/flamegraph"]); a == "" || a != b {
		t.Errorf("the stacks of the flame graphs differ: %d and %d bytes", len(a), len(b))
	}
}

// flameStacks returns the data of a flame graph.
func flameStacks(page string) string {
	_, rest, _ := strings.Cut(page, "stackViewer(")
	data, _, _ := strings.Cut(rest, "\n")
	return data
}
