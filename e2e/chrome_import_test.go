package e2e

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// imported returns the elements that the command finds in a file of Chrome's trace format. Arrows whose ends are
// outside of slices are not shown.
func imported(t *testing.T, path string) (c timelineCounts) {
	t.Helper()
	r := run(t, command, "to", "perfetto", path, "-o", filepath.Join(t.TempDir(), "out"), "--report", "json")
	if r.code != complete {
		t.Fatalf("%s: code %d: %s", path, r.code, r.stderr)
	}
	decode(t, r.stderr, &c)
	return c
}

// catapult and the command find the same elements in handwritten files: slices and instants of both kinds, counter
// values, arrows, and samples. catapult counts idle samples and stops at a stack inside an event.
func TestCatapultReadsWhatIsImported(t *testing.T) {
	t.Parallel()
	needBrowser(t)
	dir := filepath.Join("..", "importers", "chrome", "testdata")
	phases := contentAt(t, filepath.Join(dir, "phases.json"))
	// Phases that catapult does not support or stores elsewhere, and an arrow to a thread without slices.
	unknown := regexp.MustCompile(`(?m)^\{"ph":"[VvZ()PRSTpFNODcf]".*\n|^.*"stack":\[.*\n`)
	known := filepath.Join(t.TempDir(), "phases.json")
	must(t, os.WriteFile(known, unknown.ReplaceAll(phases, nil), 0o600))
	files := []string{sampleFile("chrome.json"), filepath.Join(dir, "crash.json"), filepath.Join(dir, "v8.json"), known}
	// Ntconv shows a profile without samples as an instant, catapult does not show it.
	idle, unsampled := []int64{0, 0, 2, 0}, []int64{0, 0, 1, 0}
	for i, got := range catapult(t, files...) {
		c := imported(t, files[i])
		if got.Error != "" {
			t.Errorf("%s: %s", files[i], got.Error)
		}
		compareCounts(t, files[i]+": imported, in catapult", []count{
			{"slices and instants", c.Slices + c.Instants - unsampled[i], got.Slices + got.Async + got.Instants},
			{"counter values", c.Counters, got.CounterValues},
			{"arrows", c.Flows, got.Flows},
			{"samples", c.Samples, got.Samples - idle[i]},
		})
	}
}
