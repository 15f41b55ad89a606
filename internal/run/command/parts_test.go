package command

import (
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ntconv/ntconv/internal/run/formats"
)

// A part of a recording and the same part without the copies of events that resolve its stacks have the same contents:
// copies are facts in no profile, statistic or table.
func TestCopiesCountNowhere(t *testing.T) {
	dir := t.TempDir()
	with, without := "with.nettrace", "without.nettrace"
	window := []string{"filter", "--from-time", "172ms", "--to-time", "224ms", trace(t, "cpu-norundown")}
	run := func(args ...string) result {
		t.Helper()
		r := invoke(t, dir, nil, args...)
		if r.code != exitOK {
			t.Fatalf("%v: code %d: %s", args, r.code, r.stderr)
		}
		return r
	}
	run(append(window, with)...)
	run(append(window, without, "--keep-symbols=false")...)
	if n := strings.Count(run("print", with).stdout, "MethodLoadVerbose"); n < 80 {
		t.Fatalf("%d copies, which shows nothing", n)
	}
	if r := invoke(t, dir, nil, "top", "--kind", "jit", with); r.code != exitEmpty {
		t.Errorf("code %d, %s", r.code, r.stdout)
	}
	if a, b := run("print", "--stats", with).stdout, run("print", "--stats", without).stdout; a != b {
		t.Errorf("with copies\n%s\nwithout\n%s", a, b)
	}
	a, b := countedBy(t, run("info", "--json", with).stdout), countedBy(t, run("info", "--json", without).stdout)
	if b = strings.ReplaceAll(b, without, with); a != b {
		t.Errorf("with copies\n%s\nwithout\n%s", a, b)
	}
	for _, f := range formats.All() {
		if f.Out == nil || f.Out.Needs.Subset || f.Name == "callgrind" {
			continue // callgrind counts functions, which are addresses without the copies
		}
		if a, b := conversionCounts(t, dir, f.Name, with), conversionCounts(t, dir, f.Name, without); a != b {
			t.Errorf("%s: with copies %s, without %s", f.Name, a, b)
		}
	}
}

// The parts of a recording have its events once: their counts add up to those of the recording, and no kind of profile
// has more samples.
func TestPartsAddUp(t *testing.T) {
	for _, name := range []string{"cpu-norundown", "alloc-verbose", "jit"} {
		dir := t.TempDir()
		succeed(t, dir, "split", "--every", "60ms", trace(t, name), "parts")
		parts, err := filepath.Glob(filepath.Join(dir, "parts", "*.nettrace"))
		if err != nil || len(parts) < 2 {
			t.Fatalf("%d parts: %v", len(parts), err)
		}
		whole, sum := infoOf(t, dir, trace(t, name)), description{}
		kinds, inParts := map[string]int64{}, map[string]int64{}
		for _, k := range whole.Kinds {
			kinds[k.Kind] = k.Samples + int64(k.Unpaired)
		}
		for _, part := range parts {
			d := infoOf(t, dir, part)
			sum.Events.Add(d.Events.Tally)
			for _, k := range d.Kinds {
				inParts[k.Kind] += k.Samples
			}
		}
		if sum.Events.Tally != whole.Events.Tally {
			t.Errorf("%s: the parts have %+v, the whole %+v", name, sum.Events.Tally, whole.Events.Tally)
		}
		for k, n := range inParts {
			if n > kinds[k] {
				t.Errorf("%s: the parts have %d samples of kind %s, the whole %d", name, n, k, kinds[k])
			}
		}
	}
}

// A recording, a selected time of it, and the parts that filter and split write have one duration: info, profiles, diff
// and tables show it.
func TestOneDuration(t *testing.T) {
	dir, whole := t.TempDir(), trace(t, "cpu-env")
	window := []string{"--from-time", "200ms", "--to-time", "300ms"}
	for _, args := range [][]string{append([]string{"filter", whole, "part.nettrace"}, window...), {"split", "--every", "200ms", whole, "parts"}} {
		succeed(t, dir, args...)
	}
	durations := func(in string, args ...string) (list []int64) {
		var shown struct {
			Top  int64                     `json:"duration_ns"`
			Info int64                     `json:"recorded_ns"`
			Diff struct{ Seconds float64 } `json:"before"`
		}
		commands := [][]string{{"info", "--json", in}, {"top", "--kind", "wall", "--json", in}}
		if len(args) == 0 {
			commands = append(commands, []string{"diff", "--kind", "wall", "--json", in, in})
		}
		for _, c := range commands {
			r := invoke(t, dir, nil, append(c, args...)...)
			decode(t, []byte(r.stdout), &shown)
		}
		if len(args) == 0 {
			list = append(list, int64(math.Round(shown.Diff.Seconds*1e9)))
		}
		return append(list, shown.Info, shown.Top)
	}
	want := map[string][]int64{whole: durations(whole), "part.nettrace": durations(whole, window...)}
	for in, want := range want {
		got := durations(in)
		if slices.Min(append(got, want...)) != slices.Max(append(got, want...)) || want[0] == 0 {
			t.Errorf("%s: %v, want %v", in, got, want)
		}
	}
	sum := int64(0)
	for _, part := range []string{"parts/cpu-env-001.nettrace", "parts/cpu-env-002.nettrace", "parts/cpu-env-003.nettrace"} {
		d := durations(part)
		if slices.Min(d) != slices.Max(d) || d[0] < 50e6 || d[0] > 250e6 {
			t.Errorf("%s: %v", part, d)
		}
		sum += d[0]
	}
	if total := durations(whole)[0]; sum < total*9/10 || sum > total*11/10 {
		t.Errorf("the parts last %d ns, the whole %d ns", sum, total)
	}
}

// infoOf returns the output of info.
func infoOf(t *testing.T, dir, name string) (d description) {
	t.Helper()
	r := invoke(t, dir, nil, "info", "--json", name)
	decode(t, []byte(r.stdout), &d)
	return d
}

// countedBy returns what info counts.
func countedBy(t *testing.T, text string) string {
	t.Helper()
	var d description
	decode(t, []byte(text), &d)
	for i := range d.Processes {
		d.Processes[i].Name, d.Processes[i].CommandLine = "", "" // copies describe the processes
	}
	out, err := json.Marshal([]any{d.Events, d.Processes, d.Threads, d.Providers, d.Lost, d.Overview})
	must(t, err)
	return string(out)
}

// conversionCounts returns what a conversion counts, apart from the events that it reads.
func conversionCounts(t *testing.T, dir, format, in string) string {
	t.Helper()
	r := invoke(t, dir, nil, "to", format, in, "-f", "-o", "out", "--report", "json")
	var counts map[string]any
	lines := strings.Split(strings.TrimSpace(r.stderr), "\n")
	decode(t, []byte(lines[len(lines)-1]), &counts)
	of := []any{r.code}
	for _, key := range []string{"kind", "slices", "instants", "counters", "samples", "flows", "spans"} {
		of = append(of, counts[key])
	}
	if format != "parquet" { // every event is a row of the table events
		of = append(of, counts["items"])
	}
	return fmt.Sprint(of)
}
