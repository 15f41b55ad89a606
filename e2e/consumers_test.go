package e2e

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ntconv/ntconv/internal/testing/corpus"
)

// Programs that show timelines and profiles read the output of ntconv: catapult (chrome://tracing), speedscope, the
// trace engine of DevTools, and the Firefox Profiler. Scripts run their importers and print the result; this file runs
// the scripts.

// A catapultTrace is the result of catapult for a trace file.
type catapultTrace struct {
	Error          string
	Warnings       []string
	Slices         int64 // slices of threads
	Async          int64
	Instants       int64 // instants of processes and global ones; catapult shows those of threads as slices
	CounterValues  int64
	Flows, Samples int64
	Begin, End     float64 // milliseconds
	Processes      []struct {
		PID      int64
		Name     string
		Threads  []catapultThread
		Counters []struct {
			Name   string
			Values int64
		}
	}
}

type catapultThread struct {
	TID                    int64
	Name                   string
	Slices, Async, Samples int64
}

// A devtoolsTrace is the result of the trace engine.
type devtoolsTrace struct {
	Error              string
	Warnings           []string
	Handlers, Events   int64
	Samples, Functions int64
	Threads            []struct {
		PID, TID, Samples, Read int64
		Total                   float64 // milliseconds
	}
}

// A speedscopeFile is the result of speedscope for a file.
type speedscopeFile struct {
	Error    string
	Log      []string // how speedscope recognized the file
	Warnings []string
	Profiles []speedscopeProfile
	Exported *speedscopeFile // speedscope's own export, imported again
}

type speedscopeProfile struct {
	Name, Unit string
	Total      float64
	Samples    int64
	Frames     map[string][2]float64 // by name: self, total
}

// A firefoxProfile is the result of the Firefox Profiler.
type firefoxProfile struct {
	Error    string
	Warnings []string
	Threads  []struct {
		PID, TID, Process, Name string
		Samples, Markers        int64
	}
	WeightType string
	Functions  map[string][2]float64 // functions of the thread with most samples
}

// needNode skips the test if Node or the packages of package.json are missing.
func needNode(t *testing.T, name string) {
	t.Helper()
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip("no Node: ", err)
	}
	if _, err := os.Stat(filepath.Join("node_modules", filepath.FromSlash(name))); err != nil {
		t.Skip("not installed (npm --prefix e2e ci): ", err)
	}
}

// needBrowser skips the test if it is not a nightly run, or Chromium or its driver is missing.
func needBrowser(t *testing.T) {
	t.Helper()
	if !corpus.Nightly() {
		t.Skip("make nightly runs the tests with a browser")
	}
	needNode(t, "puppeteer-core")
	name := os.Getenv("CHROMIUM")
	if name == "" {
		name = "/usr/bin/chromium"
	}
	if _, err := os.Stat(name); err != nil {
		t.Skip("no Chromium (CHROMIUM): ", err)
	}
}

// script runs a script and decodes the lines that it prints, one per file.
func script[T any](t *testing.T, files int, node string, args ...string) []T {
	t.Helper()
	r := run(t, node, args...)
	if r.code != 0 {
		t.Fatalf("%s", r.stderr)
	}
	lines := bytes.Split(bytes.TrimSpace(r.stdout), []byte("\n"))
	if len(lines) != files {
		t.Fatalf("%d results for %d files: %.500s", len(lines), files, r.stdout)
	}
	list := make([]T, files)
	for i, line := range lines {
		decode(t, line, &list[i])
	}
	return list
}

func catapult(t *testing.T, files ...string) []catapultTrace {
	t.Helper()
	needBrowser(t)
	root := run(t, "go", "env", "GOROOT")
	dir := filepath.Join(string(bytes.TrimSpace(root.stdout)), "src", "internal", "trace", "traceviewer", "static")
	return script[catapultTrace](t, len(files), "node", append([]string{"catapult.mjs", dir}, files...)...)
}

func devtools(t *testing.T, files ...string) []devtoolsTrace {
	t.Helper()
	needNode(t, "@paulirish/trace_engine")
	return script[devtoolsTrace](t, len(files), "node", append([]string{"devtools.mjs"}, files...)...)
}

func inSpeedscope(t *testing.T, files ...string) []speedscopeFile {
	t.Helper()
	needNode(t, "speedscope")
	return script[speedscopeFile](t, len(files), "node", append([]string{"speedscope.mjs"}, files...)...)
}

func inFirefox(t *testing.T, files ...string) []firefoxProfile {
	t.Helper()
	// Profiler-cli needs a later version than most systems have.
	node := filepath.Join("firefox", "node_modules", ".bin", "node")
	if _, err := os.Stat(node); err != nil {
		t.Skip("not installed (npm --prefix e2e/firefox ci): ", err)
	}
	return script[firefoxProfile](t, len(files), node, append([]string{filepath.Join("firefox", "read.mjs")}, files...)...)
}

func sampleFile(name string) string { return filepath.Join("testdata", "timeline", name) }

// broken writes a copy of a file in testdata with a replacement, and returns its name.
func broken(t *testing.T, name, old, with string) string {
	t.Helper()
	text, err := os.ReadFile(sampleFile(name))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), old) {
		t.Fatalf("%s: no %s", name, old)
	}
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(strings.Replace(string(text), old, with, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// catapult counts the elements of a handwritten file correctly, and reports errors in it.
func TestCatapultCounts(t *testing.T) {
	t.Parallel()
	got := catapult(t, sampleFile("chrome.json"),
		broken(t, "chrome.json", `"ph":"e","cat":"span"`, `"ph":"T","cat":"span"`),
		broken(t, "chrome.json", `"ph":"X","cat":"app","pid":10,"tid":12`, `"ph":"?","cat":"app","pid":10,"tid":12`),
		broken(t, "chrome.json", `{"displayTimeUnit"`, `{{"displayTimeUnit"`))
	c := got[0]
	if c.Error != "" || len(c.Warnings) > 0 || c.Slices != 4 || c.Async != 2 || c.Instants != 2 || c.CounterValues != 2 || c.Flows != 1 || c.Samples != 4 {
		t.Errorf("%+v", c)
	}
	if len(c.Processes) != 1 || c.Processes[0].Name != "shop" || len(c.Processes[0].Threads) != 2 || c.Processes[0].Threads[1].Name != "worker" ||
		len(c.Processes[0].Counters) != 1 || c.Processes[0].Counters[0].Name != "heap" {
		t.Errorf("%+v", c.Processes)
	}
	if len(got[1].Warnings) == 0 || len(got[2].Warnings) == 0 || got[3].Error == "" {
		t.Errorf("broken files are read without a warning: %+v, %+v, %+v", got[1], got[2], got[3])
	}
}

// The trace engine finds the samples of a file, and rejects an invalid one.
func TestDevToolsCounts(t *testing.T) {
	t.Parallel()
	got := devtools(t, sampleFile("chrome.json"), broken(t, "chrome.json", `{"displayTimeUnit"`, `{{"displayTimeUnit"`),
		broken(t, "chrome.json", `"samples":[3,3,2,3]`, `"samples":[]`))
	d := got[0]
	if d.Error != "" || len(d.Warnings) > 0 || d.Events != 19 || d.Samples != 4 || d.Functions != 3 || len(d.Threads) != 1 || d.Threads[0].TID != 11 {
		t.Errorf("%+v", d)
	}
	if got[1].Error == "" || got[2].Samples != 0 {
		t.Errorf("%+v, %+v", got[1], got[2])
	}
}

// speedscope computes the weights of functions that the file states, and reads its own export as an equal profile. It
// reports errors in a file.
func TestSpeedscopeWeights(t *testing.T) {
	t.Parallel()
	got := inSpeedscope(t, sampleFile("speedscope.json"), sampleFile("chrome.json"), sampleFile("firefox.json"),
		broken(t, "speedscope.json", `"type":"C","frame":2,"at":5`, `"type":"C","frame":0,"at":5`))
	s := got[0]
	if s.Error != "" || len(s.Warnings) > 0 || len(s.Profiles) != 2 || s.Profiles[0].Frames["Work"] != [2]float64{10, 30} ||
		s.Profiles[0].Total != 60 || s.Profiles[1].Frames["Main"] != [2]float64{5, 8} || s.Profiles[0].Unit != "nanoseconds" {
		t.Errorf("%+v", s)
	}
	compareExport(t, &s)
	if c := got[1]; c.Error != "" || len(c.Profiles) != 1 || c.Profiles[0].Frames["Main"] != [2]float64{100, 250} || c.Profiles[0].Frames["Work"][0] != 150 {
		t.Errorf("%+v", c)
	}
	if got[2].Error == "" || got[3].Error == "" && len(got[3].Warnings) == 0 {
		t.Errorf("broken files are read: %+v, %+v", got[2], got[3])
	}
}

// compareExport reports differences between a file and speedscope's export of it.
func compareExport(t *testing.T, s *speedscopeFile) {
	t.Helper()
	if s.Exported == nil || s.Exported.Error != "" || len(s.Exported.Warnings) > 0 || len(s.Exported.Profiles) != len(s.Profiles) {
		t.Errorf("its export: %+v", s.Exported)
		return
	}
	for i, p := range s.Profiles {
		e := s.Exported.Profiles[i]
		if e.Name != p.Name || e.Unit != p.Unit || !sameWeight(e.Total, p.Total) {
			t.Errorf("profile %s is exported as %s in %s with a total of %v, want %s, %v", p.Name, e.Name, e.Unit, e.Total, p.Unit, p.Total)
		}
		for name := range e.Frames { // the export omits our frames without weight
			if _, ok := p.Frames[name]; !ok {
				t.Errorf("profile %s: %s is in the export only", p.Name, name)
			}
		}
		for name, w := range p.Frames {
			if !sameWeight(e.Frames[name][0], w[0]) || !sameWeight(e.Frames[name][1], w[1]) {
				t.Errorf("profile %s: %s is exported with weights %v, want %v", p.Name, name, e.Frames[name], w)
			}
		}
	}
}

// sameWeight reports whether the difference of two numbers is at most the rounding error of adding in another order.
func sameWeight(a, b float64) bool {
	d := a - b
	return d <= 1e-9*(1+a) && -d <= 1e-9*(1+a)
}

// The Firefox Profiler counts the samples and markers of a handwritten file correctly. It reports errors in a file.
func TestFirefoxCounts(t *testing.T) {
	t.Parallel()
	got := inFirefox(t, sampleFile("firefox.json"), sampleFile("chrome.json"), broken(t, "firefox.json", `"stackTable":`, `"stacks":`),
		broken(t, "firefox.json", `{"meta"`, `{{"meta"`))
	f := got[0]
	if f.Error != "" || len(f.Warnings) > 0 || len(f.Threads) != 1 || f.Threads[0].Samples != 3 || f.Threads[0].Markers != 1 || f.Functions["Foo"] != [2]float64{2, 2} {
		t.Errorf("%+v", f)
	}
	// Its importer has a constant that drops samples less than half a millisecond after the previous one.
	if c := got[1]; c.Error != "" || len(c.Threads) != 2 || c.Threads[0].Name != "main" || c.Threads[0].Samples != 1 {
		t.Errorf("%+v", c)
	}
	for _, f := range got[2:] {
		if f.Error == "" && len(f.Warnings) == 0 {
			t.Errorf("a broken file is read: %+v", f)
		}
	}
}
