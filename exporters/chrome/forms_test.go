package chrome_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/ntconv/ntconv/exporters/chrome"
	"github.com/ntconv/ntconv/internal/testing/corpus"
	"github.com/ntconv/ntconv/internal/testing/timelines"
	"github.com/ntconv/ntconv/track"
)

// TestArray: the array form has the events of the object form.
func TestArray(t *testing.T) {
	data := corpus.Trace(t, "activities").Data
	object, _ := exported(t, data, chrome.Options{})
	array, _ := exported(t, data, chrome.Options{Array: true})
	want := parse(t, object)
	got := parse(t, []byte(`{"traceEvents":`+string(array)+`}`))
	check(t, got)
	a, _ := json.Marshal(got.TraceEvents)
	b, _ := json.Marshal(want.TraceEvents)
	if string(a) != string(b) {
		t.Errorf("array: %s\nobject: %s", a, b)
	}
}

// TestStackFrames: the members samples and stackFrames hold every sample with its weight, and IDs of frames that exist
// and are not 0.
func TestStackFrames(t *testing.T) {
	timelines.SmallTraces(t, func(t *testing.T, file corpus.File) {
		out, s := exported(t, file.Data, chrome.Options{Samples: chrome.StackFrames, Stacks: true})
		d := parse(t, out)
		f := check(t, d)
		compare(t, f, s)
		if int64(len(d.Samples)) != s.Samples || f.samples != 0 {
			t.Errorf("%d samples, summary %+v", len(d.Samples), s)
		}
		for id := range d.StackFrames {
			if id == "0" {
				t.Error("speedscope takes frame 0 for none")
			}
			d.checkFrame(t, id)
		}
		for _, x := range d.Samples {
			if _, ok := d.StackFrames[x.SF]; !ok {
				t.Fatalf("sample without a frame: %+v", x)
			}
		}
	})
}

// TestOptions: the output does not contain what options omit.
func TestOptions(t *testing.T) {
	data := corpus.Trace(t, "cpu-env").Data
	for _, c := range []struct {
		o    chrome.Options
		has  string
		want bool
	}{
		{chrome.Options{}, `"args":{"Type`, false},
		{chrome.Options{NoArgs: true}, `"ph":"i"`, true},
		{chrome.Options{NoArgs: true}, `"s":"t","args"`, false},
		{chrome.Options{Samples: chrome.NoSamples}, `"ph":"P"`, false},
		{chrome.Options{Options: track.Options{Tracks: track.GC}}, `"ph":"i"`, false},
		{chrome.Options{Options: track.Options{Tracks: track.Events}, Samples: chrome.NoSamples}, `"ph":"X"`, false},
	} {
		out, _ := exported(t, data, c.o)
		if got := strings.Contains(string(out), c.has); got != c.want {
			t.Errorf("%+v: has %s: %t", c.o, c.has, got)
		}
	}
}
