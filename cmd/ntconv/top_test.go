package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/pprof/profile"
)

// topJSON returns what top --json prints of all functions.
func topJSON(t *testing.T, dir string, args ...string) *rankingJSON {
	t.Helper()
	r := invoke(t, dir, nil, append([]string{"top", "--json", "-n", "0"}, args...)...)
	if r.code != exitOK {
		t.Fatalf("%q: code %d: %s", args, r.code, r.stderr)
	}
	o := new(rankingJSON)
	d := json.NewDecoder(strings.NewReader(r.stdout))
	d.DisallowUnknownFields()
	if err := d.Decode(o); err != nil {
		t.Fatalf("%q: %v: %s", args, err, r.stdout)
	}
	return o
}

// flats returns the flat values by function, without those that are 0.
func (o *rankingJSON) flats() map[string]int64 {
	m := map[string]int64{}
	for _, r := range o.Rows {
		if r.Flat != 0 {
			m[r.Function] += r.Flat
		}
	}
	return m
}

// flatsOf returns the flat values of the samples of a profile that are kept, by function.
func flatsOf(p *profile.Profile, keep func(*profile.Sample) bool) map[string]int64 {
	m := map[string]int64{}
	for _, s := range p.Sample {
		if keep(s) {
			m[s.Location[0].Line[0].Function.Name] += s.Value[len(s.Value)-1]
		}
	}
	maps.DeleteFunc(m, func(_ string, v int64) bool { return v == 0 })
	return m
}

// Flags that filter by labels select the samples that have such labels in the profile, by text and by number.
func TestTopTags(t *testing.T) {
	dir, in := t.TempDir(), trace(t, "waits")
	if r := invoke(t, dir, nil, "to", "pprof", in, "-o", "x.pb.gz"); r.code != exitOK {
		t.Fatal(r.stderr)
	}
	p := profileAt(t, filepath.Join(dir, "x.pb.gz"))
	tid := p.Sample[len(p.Sample)/2].NumLabel["tid"][0]
	external := func(s *profile.Sample) bool { return s.Label["state"][0] == "External" }
	thread := func(s *profile.Sample) bool { return s.NumLabel["tid"][0] == tid }
	for _, c := range []struct {
		args []string
		keep func(*profile.Sample) bool
	}{
		{nil, func(*profile.Sample) bool { return true }},
		{[]string{"--tagfocus", "state=^Ext"}, external},
		{[]string{"--tagfocus", "state:Ext"}, external},
		{[]string{"--tagignore", "state=^Ext"}, func(s *profile.Sample) bool { return !external(s) }},
		{[]string{"--tagfocus", fmt.Sprintf("tid=%d:%d", tid, tid)}, thread},
		{[]string{"--tagfocus", fmt.Sprintf("tid=%d", tid), "--tagignore", "state=Managed"},
			func(s *profile.Sample) bool { return thread(s) && external(s) }},
	} {
		want := flatsOf(p, c.keep)
		if len(want) == 0 {
			t.Errorf("%q: no sample is kept, so the case shows nothing", c.args)
		}
		for _, name := range []string{in, "x.pb.gz"} {
			if got := topJSON(t, dir, append(c.args, name)...); !maps.Equal(got.flats(), want) {
				t.Errorf("%s %q: %v, want %v", name, c.args, got.flats(), want)
			}
		}
	}
	root := topJSON(t, dir, "--tagroot", "state", in)
	cum := map[string]int64{}
	for _, r := range root.Rows {
		cum[r.Function] = r.Cum
	}
	if cum["External"] == 0 || cum["External"]+cum["Managed"] != root.Total {
		t.Errorf("External %d, Managed %d, together not %d", cum["External"], cum["Managed"], root.Total)
	}
	leaf := topJSON(t, dir, "--tagleaf", "state", "x.pb.gz").flats()
	if len(leaf) != 2 || leaf["External"] != cum["External"] {
		t.Errorf("leaves: %v, want External %d and Managed", leaf, cum["External"])
	}
}

// The object says what the values are, and the rows are those of the report.
func TestTopJSON(t *testing.T) {
	dir, in := t.TempDir(), trace(t, "cpu-env")
	o := topJSON(t, dir, in)
	if o.Input != in || o.Base != "" || o.Kind != "wall" || o.SampleType != "wall" || o.Unit != "nanoseconds" ||
		o.Functions != len(o.Rows) || !strings.HasPrefix(o.Time, "2026-") || o.Duration <= 0 {
		t.Errorf("%+v", o)
	}
	sum := int64(0)
	for _, r := range o.Rows {
		sum += r.Flat
		if want := 100 * float64(r.Cum) / float64(o.Total); math.Abs(r.CumPercent-want) > 1e-4 || r.Flat > r.Cum || r.Cum > o.Total {
			t.Errorf("%+v of %d", r, o.Total)
		}
	}
	if sum != o.Total {
		t.Errorf("flat values are %d together, want %d", sum, o.Total)
	}
	var names []string
	for line := range strings.Lines(table(invoke(t, dir, nil, "top", "-n", "7", in).stdout)) {
		if f := strings.Fields(line); len(f) > 5 {
			names = append(names, strings.Join(f[5:], " "))
		}
	}
	r := invoke(t, dir, nil, "top", "--json", "-n", "7", in)
	var seven rankingJSON
	if err := json.Unmarshal([]byte(r.stdout), &seven); err != nil || len(seven.Rows) != 7 || seven.Functions != o.Functions {
		t.Fatalf("%v: %s", err, r.stdout)
	}
	for i, row := range seven.Rows {
		if strings.Join(strings.Fields(row.Function), " ") != names[i] {
			t.Errorf("row %d: %s, in the report %s", i, row.Function, names[i])
		}
	}
	if o := topJSON(t, dir, "--sample-type", "samples", in); o.SampleType != "samples" || o.Unit != "count" || o.Total >= seven.Total {
		t.Errorf("%+v", o)
	}
}

// A difference holds, for every function, its value minus that in the base.
func TestTopBase(t *testing.T) {
	dir := t.TempDir()
	older, newer := trace(t, "cpu-env"), trace(t, "cpu-default")
	before, after := topJSON(t, dir, older), topJSON(t, dir, newer)
	want := after.flats()
	for name, v := range before.flats() {
		want[name] -= v
	}
	maps.DeleteFunc(want, func(_ string, v int64) bool { return v == 0 })
	absolute := topJSON(t, dir, "--base", older, newer)
	relative := topJSON(t, dir, "--diff-base", older, newer)
	for _, o := range []*rankingJSON{absolute, relative} {
		if !maps.Equal(o.flats(), want) || o.Base != older || o.Input != newer || o.Duration != after.Duration {
			t.Errorf("%s %s: %v, want %v", o.Base, o.Input, o.flats(), want)
		}
		if !slices.ContainsFunc(o.Rows, func(r rowJSON) bool { return r.Flat < 0 && r.FlatPercent < 0 }) {
			t.Error("no function takes less")
		}
	}
	if relative.Total != before.Total || absolute.Total == before.Total {
		t.Errorf("totals %d and %d, want that of the base, %d, for --diff-base", absolute.Total, relative.Total, before.Total)
	}

	r := invoke(t, dir, nil, "top", "--diff-base", older, newer)
	if r.code != exitOK || !strings.Contains(r.stdout, "%  Shop.Cpu") || !strings.Contains(r.stdout, "-") || strings.Count(r.stderr, "wall profile") != 2 {
		t.Errorf("code %d: %s%s", r.code, r.stdout, r.stderr)
	}
	cut := write(t, dir, "cut.nettrace", unpacked(t, "cpu-env")[:200000])
	for _, c := range []struct {
		args string
		code int
		want string
	}{
		{"--base " + older + " " + older, exitEmpty, ": no difference, all samples are equal"},
		{"--base " + older + " --diff-base " + older + " " + newer, exitUsage, "only one of them"},
		{"--base - -", exitUsage, "only one of the inputs can be standard input"},
		{"--base " + trace(t, "cpu-v6") + " " + newer, exitEmpty, "cpu/nanoseconds in the base; use --sample-type samples"},
		{"--base nosuch.nettrace " + newer, exitInput, "nosuch.nettrace"},
		{"--base " + cut + " " + newer, exitIncomplete, "cut.nettrace"},
	} {
		if r := invoke(t, dir, nil, append([]string{"top"}, strings.Fields(c.args)...)...); r.code != c.code || !strings.Contains(r.stderr, c.want) {
			t.Errorf("%s: code %d: %s", c.args, r.code, r.stderr)
		}
	}
}

// The pages show the samples that the flags select, and differences.
func TestViewFilter(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "a.pb.gz", testProfile(t, "shop"))
	v := startView(t, dir, "--tagfocus", "endpoint=/cart", "--tagroot", "endpoint", "a.pb.gz")
	if code, body, _ := v.get(t, "", ""); code != http.StatusOK || !strings.Contains(body, "shop.work") || !strings.Contains(body, "/cart") {
		t.Errorf("%d, %d bytes", code, len(body))
	}
	if _, body, _ := v.get(t, "/top", ""); !strings.Contains(body, "30ms") || strings.Contains(body, "40ms") {
		t.Errorf("not 30 ms of 40: %s", body)
	}
	v = startView(t, dir, "--diff-base", trace(t, "cpu-env"), trace(t, "cpu-default"))
	for _, page := range []string{"", "/top", "/flamegraph"} {
		if code, body, _ := v.get(t, page, ""); code != http.StatusOK || !strings.Contains(body, "Shop.Cpu") {
			t.Errorf("difference: %s: %d, %d bytes", page, code, len(body))
		}
	}
	if r := invoke(t, dir, nil, "view", "--in", "speedscope", "--base", "a.pb.gz", "a.pb.gz"); r.code != exitUsage || !strings.Contains(r.stderr, "--base chooses what pprof's pages show") {
		t.Errorf("code %d: %s", r.code, r.stderr)
	}
}

// Every output that has names has short ones: no namespace, no type arguments.
func TestShortNames(t *testing.T) {
	dir, in := t.TempDir(), trace(t, "cpu-env")
	for _, args := range []string{
		"top --names short -n 0 IN", "to folded --names short -o - IN", "to speedscope --names short -o - IN",
		"print --names short --frames IN", "to firefox --names short -o - IN",
	} {
		r := invoke(t, dir, nil, strings.Fields(strings.Replace(args, "IN", in, 1))...)
		if r.code != exitOK || !strings.Contains(r.stdout, "Cpu.Spin(double)") || strings.Contains(r.stdout, "Shop.Cpu.Spin(double)") ||
			!strings.Contains(r.stdout, "Cpu.Sort(T[])") {
			t.Errorf("%s: code %d: %.2000s%s", args, r.code, r.stdout, r.stderr)
		}
	}
	if r := invoke(t, dir, nil, "to", "pprof", "--names", "short", in, "-o", "x.pb.gz"); r.code != exitOK {
		t.Fatal(r.stderr)
	}
	found := false
	for _, f := range profileAt(t, filepath.Join(dir, "x.pb.gz")).Function {
		found = found || f.Name == "Cpu.Spin(double)" && strings.HasPrefix(f.SystemName, "shop!Shop.Cpu.Spin(")
	}
	if !found {
		t.Error("the profile lacks the short name, or the long one as system name")
	}
}
