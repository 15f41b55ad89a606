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
}

// A devtoolsTrace is the result of the trace engine.
type devtoolsTrace struct {
	Error             string
	Warnings          []string
	Handlers, Samples int64
	Threads           []struct{ PID, TID, Samples, Read int64 }
	Shown             []devtoolsTrack // tracks of the flame chart
}

type devtoolsTrack struct{ PID, TID, Calls int64 }

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
	Functions map[string][2]float64 // functions of the thread with most samples
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
	text := contentAt(t, sampleFile(name))
	if !strings.Contains(string(text), old) {
		t.Fatalf("%s: no %s", name, old)
	}
	path := filepath.Join(t.TempDir(), name)
	must(t, os.WriteFile(path, []byte(strings.Replace(string(text), old, with, 1)), 0o600))
	return path
}

// The scripts report what is broken in a file: otherwise the tests of outputs would show nothing.
func TestBrokenFilesAreReported(t *testing.T) {
	t.Run("catapult", func(t *testing.T) {
		for _, c := range catapult(t, broken(t, "chrome.json", `"ph":"e","cat":"span"`, `"ph":"T","cat":"span"`), broken(t, "chrome.json", `{"displayTimeUnit"`, `{{"d"`)) {
			reported(t, c.Error, c.Warnings)
		}
	})
	t.Run("devtools", func(t *testing.T) {
		d := devtools(t, broken(t, "chrome.json", `{"displayTimeUnit"`, `{{"displayTimeUnit"`))
		reported(t, d[0].Error, d[0].Warnings)
	})
	t.Run("speedscope", func(t *testing.T) {
		for _, s := range inSpeedscope(t, sampleFile("firefox.json"), broken(t, "speedscope.json", `"type":"C","frame":2,"at":5`, `"type":"C","frame":0,"at":5`)) {
			reported(t, s.Error, s.Warnings)
		}
	})
	t.Run("firefox", func(t *testing.T) {
		for _, f := range inFirefox(t, broken(t, "firefox.json", `"stackTable":`, `"stacks":`), broken(t, "firefox.json", `{"meta"`, `{{"meta"`)) {
			reported(t, f.Error, f.Warnings)
		}
	})
}

func reported(t *testing.T, err string, warnings []string) {
	t.Helper()
	if err == "" && len(warnings) == 0 {
		t.Error("a broken file is read without a warning")
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
