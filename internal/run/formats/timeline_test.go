package formats

import (
	"testing"

	"github.com/ntconv/ntconv/exporters/chrome"
	"github.com/ntconv/ntconv/exporters/firefox"
	"github.com/ntconv/ntconv/exporters/perfetto"
	"github.com/ntconv/ntconv/exporters/speedscope"
	"github.com/ntconv/ntconv/internal/timeline"
)

// TestTracks: --tracks sets bits of a timeline, which mean the same in the options of each exporter.
func TestTracks(t *testing.T) {
	for name, want := range map[string][]uint16{
		"spans":      {uint16(chrome.Spans), uint16(firefox.Spans), uint16(perfetto.Spans), uint16(speedscope.Spans)},
		"gc":         {uint16(chrome.GC), uint16(firefox.GC), uint16(perfetto.GC), uint16(speedscope.GC)},
		"jit":        {uint16(chrome.JIT), uint16(firefox.JIT), uint16(perfetto.JIT), uint16(speedscope.JIT)},
		"contention": {uint16(chrome.Contention), uint16(firefox.Contention), uint16(perfetto.Contention), uint16(speedscope.Contention)},
		"waits":      {uint16(chrome.Waits), uint16(firefox.Waits), uint16(perfetto.Waits), uint16(speedscope.Waits)},
		"requests":   {uint16(chrome.Requests), uint16(firefox.Requests), uint16(perfetto.Requests), uint16(speedscope.Requests)},
		"events":     {uint16(chrome.Events), uint16(firefox.Events), uint16(perfetto.Events)},
		"exceptions": {uint16(chrome.Exceptions), uint16(firefox.Exceptions), uint16(perfetto.Exceptions)},
		"counters":   {uint16(chrome.Counters), uint16(firefox.Counters), uint16(perfetto.Counters)},
		"flows":      {uint16(chrome.Flows), uint16(firefox.Flows), uint16(perfetto.Flows)},
		"suspensions": {
			uint16(chrome.Suspensions), uint16(firefox.Suspensions), uint16(perfetto.Suspensions), uint16(speedscope.Suspensions), uint16(timeline.Suspensions),
		},
		"all": {uint16(firefox.AllTracks), uint16(perfetto.AllTracks), uint16(timeline.AllTracks)},
	} {
		var v tracksValue
		if err := v.Set(name); err != nil {
			t.Fatal(err)
		}
		for i, w := range want {
			if w != uint16(v) {
				t.Errorf("%s is %#x, exporter %d has %#x", name, v, i, w)
			}
		}
	}
}
