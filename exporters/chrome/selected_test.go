package chrome_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/exporters/chrome"
	importer "github.com/ntconv/ntconv/importers/chrome"
	"github.com/ntconv/ntconv/internal/testing/timelines"
	"github.com/ntconv/ntconv/track"
)

const named = `[{"ph":"M","name":"process_name","pid":7,"tid":0,"args":{"name":"build"}},{"ph":"M","name":"thread_name","pid":7,"tid":8,"args":{"name":"worker"}},
{"ph":"X","cat":"a","name":"compile","pid":7,"tid":8,"ts":1,"dur":5,"args":{"file":"x.c"}},{"ph":"X","cat":"a","name":"load","pid":7,"tid":8,"ts":2,"dur":1}]`

// names returns the names of the events that a sink with options writes of an imported file, without its event of the
// phase omit.
func names(t *testing.T, o *chrome.Options, omit string) (all []string, text string) {
	t.Helper()
	src, err := importer.New(strings.NewReader(named), nil)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	sink := chrome.New(&out, src.Info(), nil, o)
	keep := ntconv.Filter(src, func(e *ntconv.Event) bool { return !strings.HasSuffix(e.Type.Name, omit) || omit == "" })
	timelines.Write(t, keep, sink)
	var file struct {
		TraceEvents []struct{ Name string }
	}
	if err := json.Unmarshal(out.Bytes(), &file); err != nil {
		t.Fatal(err)
	}
	for _, e := range file.TraceEvents {
		all = append(all, e.Name)
	}
	return all, out.String()
}

// A selection that omits metadata events does not lose the names that they state, and writes none of them twice.
func TestNamesOfSelections(t *testing.T) {
	for _, omit := range []string{"", "_name"} {
		all, text := names(t, nil, omit)
		for _, name := range []string{"process_name", "thread_name", "compile", "load"} {
			if n := strings.Count(strings.Join(all, " ")+" ", name+" "); n != 1 {
				t.Errorf("without %q: %d events %s in %s", omit, n, name, text)
			}
		}
		if !strings.Contains(text, `"build"`) || !strings.Contains(text, `"worker"`) {
			t.Errorf("without %q: a name is missing: %s", omit, text)
		}
	}
}

// Options that select part of the output apply to imported events, too.
func TestOptionsApplyToImportedEvents(t *testing.T) {
	if _, text := names(t, &chrome.Options{NoArgs: true}, ""); strings.Contains(text, "x.c") {
		t.Errorf("NoArgs: %s", text)
	}
	if all, _ := names(t, &chrome.Options{Options: track.Options{MinDuration: 2000}}, ""); strings.Contains(strings.Join(all, " "), "load") {
		t.Errorf("MinDuration: %s", all)
	}
	if all, _ := names(t, &chrome.Options{Options: track.Options{Tracks: track.Counters}}, ""); strings.Contains(strings.Join(all, " "), "compile") {
		t.Errorf("Tracks: %s", all)
	}
}

// Weights of imported samples in the form stackframes are times again when they are read.
func TestListedWeightsAreTimes(t *testing.T) {
	const file = `{"traceEvents":[],"stackFrames":{"1":{"name":"main"}},"samples":[{"name":"wall","tid":1,"pid":1,"ts":10,"sf":"1","weight":7}]}`
	text := file
	for range 2 {
		text = string(exportedFrom(t, imported(t, text), chrome.Options{Samples: chrome.StackFrames}))
		if !strings.Contains(text, `"name":"wall"`) || !strings.Contains(text, `"weight":7}`) {
			t.Fatal(text)
		}
	}
}
