package e2e

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ntconv/ntconv/internal/testing/perfettocheck"
)

// A timeline is a trace that was converted to a timeline format.
type timeline struct {
	name, path string
	counts     timelineCounts
}

// timelineCounts are the counts of the command in --report json.
type timelineCounts struct {
	Items, Slices, Instants, Counters, Samples, Flows int64
}

// losses returns the number of items that are neither samples nor of another kind: marks for lost events.
func (c *timelineCounts) losses() int64 {
	return c.Items - c.Slices - c.Instants - c.Counters - c.Samples
}

// tracesForTimelines returns the traces in testdata. With NTCONV_ALL_TABLES it also returns the reference data, which
// takes minutes.
func tracesForTimelines(t *testing.T) []trace {
	list := ownTraces(t)
	if os.Getenv("NTCONV_ALL_TABLES") != "" {
		list = append(list, sharedTraces(t)...)
	}
	return list
}

// timelines converts traces to a format. The result omits traces without content for it.
func timelines(t *testing.T, format string, traces []trace, flags ...string) (list []timeline) {
	t.Helper()
	dir := t.TempDir()
	for _, tr := range traces {
		path := filepath.Join(dir, tr.name+".json")
		if ifExists(path) != "" {
			continue // the reference data includes the traces of testdata
		}
		r := run(t, command, append([]string{"to", format, tr.path, "-o", path, "--report", "json", "--allow-prerelease"}, flags...)...)
		switch r.code {
		case complete, incomplete:
			l := timeline{name: tr.name, path: path}
			decode(t, r.stderr, &l.counts)
			list = append(list, l)
		case nothing, unreadable:
		default:
			t.Errorf("%s: code %d: %s", tr.name, r.code, r.stderr)
		}
	}
	if len(list) < len(traces)/3 {
		t.Fatalf("only %d of %d traces can be written as %s", len(list), len(traces), format)
	}
	return list
}

func pathsOf(list []timeline) (paths []string) {
	for _, l := range list {
		paths = append(paths, l.path)
	}
	return paths
}

// catapult reads every output of to chrome without a warning, and finds as many elements as Perfetto would find in the
// file. These are as many as the report of the command states; Perfetto counts a begin that only starts an arrow.
func TestChromeInCatapult(t *testing.T) {
	t.Parallel()
	needBrowser(t)
	list := timelines(t, "chrome", tracesForTimelines(t))
	for i, got := range catapult(t, pathsOf(list)...) {
		l := list[i]
		if got.Error != "" || len(got.Warnings) > 0 {
			t.Errorf("%s: %s, %d warnings: %.2000q", l.name, got.Error, len(got.Warnings), got.Warnings)
		}
		r := inPerfetto(t, l.path)
		compareCounts(t, l.name+": in Perfetto, in catapult", []count{
			{"slices and instants", int64(r.Slices + r.Async + r.Instants), got.Slices + got.Async + got.Instants},
			{"counter values", int64(r.Counters), got.CounterValues},
			{"samples", int64(r.Samples), got.Samples},
		})
		compareCounts(t, l.name+": in Perfetto, in the report", []count{{"counter values", int64(r.Counters), l.counts.Counters}})
	}
}

// inPerfetto checks a file against the rules of Perfetto and returns what Perfetto finds in it.
func inPerfetto(t *testing.T, path string) *perfettocheck.Result {
	t.Helper()
	f, err := os.Open(path)
	must(t, err)
	defer f.Close()
	r := perfettocheck.Check(f)
	for _, finding := range r.Findings {
		t.Errorf("%s: in Perfetto: %s", path, finding)
	}
	return r
}

// A count is a number that a consumer found, and the expected number.
type count struct {
	what      string
	got, want int64
}

func compareCounts(t *testing.T, where string, list []count) {
	t.Helper()
	for _, c := range list {
		if c.got != c.want {
			t.Errorf("%s: %d %s, want %d", where, c.got, c.what, c.want)
		}
	}
}

// catapult reads the other forms of the file without a warning, with the samples at the right time.
func TestChromeForms(t *testing.T) {
	t.Parallel()
	needBrowser(t)
	traces := []trace{find(t, "cpu-env"), find(t, "waits-v6"), find(t, "otel-cpu")}
	var list []timeline
	var samples []bool
	for _, form := range []struct {
		flags   []string
		samples bool
	}{
		{[]string{"--samples", "slices"}, false},
		{[]string{"--samples", "stackframes"}, true},
		{[]string{"--samples", "none", "--no-args"}, false},
		{[]string{"--array"}, true},
		{[]string{"--stacks"}, true},
	} {
		for _, l := range timelines(t, "chrome", traces, form.flags...) {
			l.name += " " + strings.Join(form.flags, " ")
			list, samples = append(list, l), append(samples, form.samples)
		}
	}
	for i, got := range catapult(t, pathsOf(list)...) {
		if got.Error != "" || len(got.Warnings) > 0 || got.Slices < 200 || (got.Samples > 0) != samples[i] {
			t.Errorf("%s: %s, %.2000q, %d slices, %d samples", list[i].name, got.Error, got.Warnings, got.Slices, got.Samples)
		}
	}
	for i, got := range inSpeedscope(t, pathsOf(list)...) {
		if got.Error != "" || len(got.Warnings) > 0 {
			t.Errorf("%s: %s, %.2000q", list[i].name, got.Error, got.Warnings)
		}
	}
}

// The trace engine of DevTools reads every output of to chrome, with all samples.
func TestChromeInDevTools(t *testing.T) {
	t.Parallel()
	needNode(t, "@paulirish/trace_engine")
	list := timelines(t, "chrome", tracesForTimelines(t))
	for i, got := range devtools(t, pathsOf(list)...) {
		if got.Error != "" || len(got.Warnings) > 0 || got.Handlers < 20 {
			t.Errorf("%s: %s, %q, %d handlers", list[i].name, got.Error, got.Warnings, got.Handlers)
		}
		if want := int64(inPerfetto(t, list[i].path).Samples); got.Samples != want {
			t.Errorf("%s: %d samples, want %d", list[i].name, got.Samples, want)
		}
		for _, th := range got.Threads {
			if th.Read != th.Samples {
				t.Errorf("%s: %+v", list[i].name, th)
			}
			if !slices.ContainsFunc(got.Shown, func(s devtoolsTrack) bool { return s.PID == th.PID && s.TID == th.TID && s.Calls > 0 }) {
				t.Errorf("%s: the flame chart has no samples of the thread %+v", list[i].name, th)
			}
		}
	}
}

// speedscope reads every output of to speedscope and to chrome without a warning, computes the same weights from both,
// and reads its own export as an equal profile.
func TestTimelinesInSpeedscope(t *testing.T) {
	t.Parallel()
	needNode(t, "speedscope")
	traces := tracesForTimelines(t)
	own := timelines(t, "speedscope", traces)
	weights := make(map[string]map[string]float64)
	for i, got := range inSpeedscope(t, pathsOf(own)...) {
		l := own[i]
		if got.Error != "" || len(got.Warnings) > 0 || int64(len(got.Profiles)) != l.counts.Items {
			t.Errorf("%s: %s, %.2000q, %d profiles, want %d", l.name, got.Error, got.Warnings, len(got.Profiles), l.counts.Items)
		}
		if got.Error != "" {
			continue
		}
		compareExport(t, &got)
		// The weight of a sample of CPU time is its period, which a V8 profile cannot represent.
		if slices.ContainsFunc(got.Profiles, func(p speedscopeProfile) bool { return strings.HasSuffix(p.Name, ": wall") }) {
			weights[l.name] = ownWeights(got.Profiles, "slices")
		}
	}
	list, compared := timelines(t, "chrome", traces), 0
	for i, got := range inSpeedscope(t, pathsOf(list)...) {
		l := list[i]
		if got.Error != "" || len(got.Warnings) > 0 {
			t.Errorf("%s: %s, %.2000q", l.name, got.Error, got.Warnings)
			continue
		}
		if l.counts.Samples == 0 {
			continue
		}
		if len(got.Log) != 1 || got.Log[0] != "Importing as Chrome Timeline Object" {
			t.Errorf("%s: %q: the samples are not shown", l.name, got.Log)
		}
		if want, ok := weights[l.name]; ok {
			compareWeights(t, &l, want, ownWeights(got.Profiles, ""))
			compared++
		}
	}
	if compared < 5 {
		t.Errorf("weights of %d traces only were compared", compared)
	}
}

// ownWeights adds up the weights of functions themselves, in nanoseconds, over the profiles of threads. It omits
// profiles whose names end in a given word, and the profile of all threads, which repeats the samples.
func ownWeights(profiles []speedscopeProfile, omit string) map[string]float64 {
	sum := make(map[string]float64)
	for _, p := range profiles {
		if omit != "" && strings.HasSuffix(p.Name, omit) || strings.HasPrefix(p.Name, "all threads") {
			continue
		}
		unit := 1.0
		if p.Unit == "microseconds" {
			unit = 1000
		}
		for name, w := range p.Frames {
			sum[name] += w[0] * unit
		}
	}
	return sum
}

// compareWeights compares the weights of functions in the V8 profiles of a file, in whole microseconds between samples,
// with those in the speedscope format.
func compareWeights(t *testing.T, l *timeline, want, got map[string]float64) {
	t.Helper()
	rounding := 1000 * float64(l.counts.Samples)
	for name, w := range want {
		if d := math.Abs(got[name] - w); d > rounding || d > 10e3+w/1000 {
			t.Errorf("%s: %s weighs %v ns in a V8 profile, want %v", l.name, name, got[name], w)
		}
	}
	for name, w := range got {
		if _, ok := want[name]; !ok && name != "(no stack)" { // samples without frames
			t.Errorf("%s: %s weighs %v ns in a V8 profile only", l.name, name, w)
		}
	}
}

// The Firefox Profiler reads outputs of to firefox and to chrome without a warning. In the former it finds the samples
// and markers that the report counts.
func TestTimelinesInFirefox(t *testing.T) {
	t.Parallel()
	traces := []trace{find(t, "activities"), find(t, "waits-v6"), find(t, "stress-drop")}
	if os.Getenv("NTCONV_ALL_TABLES") != "" {
		traces = tracesForTimelines(t)
	}
	list := timelines(t, "firefox", traces)
	for i, got := range inFirefox(t, pathsOf(list)...) {
		l := list[i]
		if got.Error != "" || len(got.Warnings) > 0 {
			t.Errorf("%s: %s, %.2000q", l.name, got.Error, got.Warnings)
		}
		var samples, markers int64
		for _, th := range got.Threads {
			samples, markers = samples+th.Samples, markers+th.Markers
			if th.Name == "" || th.Process == "" {
				t.Errorf("%s: no name: %+v", l.name, th)
			}
		}
		compareCounts(t, l.name+": in the Firefox Profiler", []count{
			{"samples", samples, l.counts.Samples}, {"markers", markers, l.counts.Slices + l.counts.Instants + l.counts.losses()},
		})
		if samples > 0 && len(got.Functions) == 0 {
			t.Errorf("%s: no function", l.name)
		}
	}
	for i, got := range inFirefox(t, pathsOf(timelines(t, "chrome", traces))...) {
		if l := list[i]; got.Error != "" || len(got.Warnings) > 0 || len(got.Threads) == 0 {
			t.Errorf("%s: as Chrome's format: %s, %.2000q, %d threads", l.name, got.Error, got.Warnings, len(got.Threads))
		}
	}
}

// speedscope opens the outputs of to chrome under all names that ntconv documents, and under the default names. It rejects
// those that ntconv advises against: otherwise the advice is obsolete.
func TestNamesInSpeedscope(t *testing.T) {
	needNode(t, "speedscope")
	dir := t.TempDir()
	data := contentAt(t, find(t, "waits-v6").path)
	must(t, os.WriteFile(filepath.Join(dir, "a.chrome.nettrace.zst"), data, 0o600))
	r := run(t, command, "to", "chrome", "-q", filepath.Join(dir, "a.chrome.nettrace.zst"), "-o", dir+string(filepath.Separator)+"out"+string(filepath.Separator))
	if r.code != complete {
		t.Fatalf("%s", r.stderr)
	}
	files, err := filepath.Glob(filepath.Join(dir, "out", "*"))
	must(t, err)
	for _, name := range []string{"b.trace.json", "b.json.gz", "b.chrome.json.gz", "b.chrome.json"} {
		files = append(files, filepath.Join(dir, name))
		r := run(t, command, "to", "chrome", find(t, "waits-v6").path, "-o", filepath.Join(dir, name))
		if advises := bytes.Contains(r.stderr, []byte("rename it to")); r.code != complete || advises != (name == "b.chrome.json") {
			t.Errorf("%s: code %d: %s", name, r.code, r.stderr)
		}
	}
	for i, s := range inSpeedscope(t, files...) {
		if rejected := s.Error != ""; rejected != strings.HasSuffix(files[i], ".chrome.json") || !rejected && len(s.Profiles) == 0 {
			t.Errorf("%s: %d profiles, %s", files[i], len(s.Profiles), s.Error)
		}
	}
}
