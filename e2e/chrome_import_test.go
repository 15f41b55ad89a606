package e2e

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// imported returns what the command finds in a trace file of Chrome's format. Arrows without an end in a slice are not
// shown.
func imported(t *testing.T, path string) (c timelineCounts) {
	t.Helper()
	r := run(t, command, "to", "perfetto", path, "-o", filepath.Join(t.TempDir(), "out"), "--report", "json")
	if r.code != complete {
		t.Fatalf("%s: code %d: %s", path, r.code, r.stderr)
	}
	decode(t, r.stderr, &c)
	return c
}

// What catapult finds in files that were written by hand is what the command imports: slices and instants of either
// kind, values of counters, arrows, and samples. Catapult counts the samples that say that nothing runs, and stops at a
// stack within an event.
func TestCatapultReadsWhatIsImported(t *testing.T) {
	t.Parallel()
	needBrowser(t)
	dir := filepath.Join("..", "importers", "chrome", "testdata")
	phases, err := os.ReadFile(filepath.Join(dir, "phases.json"))
	if err != nil {
		t.Fatal(err)
	}
	// Phases that catapult does not know or keeps elsewhere, and an arrow to a thread without slices.
	unknown := regexp.MustCompile(`(?m)^\{"ph":"[VvZ()PRSTpFNODcf]".*\n|^.*"stack":\[.*\n`)
	known := filepath.Join(t.TempDir(), "phases.json")
	if err := os.WriteFile(known, unknown.ReplaceAll(phases, nil), 0o600); err != nil {
		t.Fatal(err)
	}
	files := []string{sample("chrome.json"), filepath.Join(dir, "crash.json"), filepath.Join(dir, "v8.json"), known}
	idle, lone := []int64{0, 0, 2, 0}, []int64{0, 0, 1, 0} // a profile without samples is an instant here, and nothing there
	for i, got := range catapult(t, files...) {
		c := imported(t, files[i])
		if got.Error != "" {
			t.Errorf("%s: %s", files[i], got.Error)
		}
		compareCounts(t, files[i]+": imported, in catapult", []count{
			{"slices and instants", c.Slices + c.Instants - lone[i], got.Slices + got.Async + got.Instants},
			{"counter values", c.Counters, got.CounterValues},
			{"arrows", c.Flows, got.Flows},
			{"samples", c.Samples, got.Samples - idle[i]},
		})
	}
}

// What to chrome writes is imported with as many slices, instants, values of counters, samples and arrows as the file
// has. What only holds the beginning or the end of an arrow is neither a slice nor an instant.
func TestChromeIsImported(t *testing.T) {
	t.Parallel()
	for _, l := range timelines(t, "chrome", tracesForTimelines(t)) {
		file, c := readChrome(t, l.path), imported(t, l.path)
		compareCounts(t, l.name+": imported, in the file", []count{
			{"slices", c.Slices, file.complete + file.begins - file.helpers + file.async},
			{"instants", c.Instants, file.onThreads + file.elsewhere},
			{"counter values", c.Counters, file.counterValues},
			{"samples", c.Samples, file.samples - file.idle},
			{"arrows", c.Flows, file.flows + file.bound},
		})
	}
}
