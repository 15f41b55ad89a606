package timeline_test

import (
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/events/chromeevent"
	"github.com/ntconv/ntconv/internal/timeline"
	"github.com/ntconv/ntconv/track"
)

func arrangeChrome(t *testing.T, text string, o *timeline.Options) string {
	t.Helper()
	_, got := arrangeEvents(t, chromeEvents(text), o)
	return got
}

// Slices of Chrome's format are on their threads, or on lanes if they have an ID or overlap.
func TestChromeSlices(t *testing.T) {
	want(t, arrangeChrome(t, `
		{"ph":"M","pid":1,"tid":2,"name":"thread_name","args":{"name":"main"}}
		{"ph":"X","pid":1,"tid":2,"ts":1,"dur":10,"name":"work","cat":"c","args":{"a":1}}
		{"ph":"B","pid":1,"tid":2,"ts":2,"name":"part","cat":"c"}
		{"ph":"i","pid":1,"tid":2,"ts":2.5,"name":"tick","cat":"c","s":"t"}
		{"ph":"E","pid":1,"tid":2,"ts":3,"args":{"b":2}}
		{"ph":"b","pid":1,"tid":2,"ts":4,"name":"load","cat":"net","id":"0x1"}
		{"ph":"b","pid":1,"tid":2,"ts":5,"name":"connect","cat":"net","id":"0x1"}
		{"ph":"n","pid":1,"tid":2,"ts":5.5,"name":"resolved","cat":"net","id":"0x1"}
		{"ph":"e","pid":1,"tid":3,"ts":6,"name":"connect","cat":"net","id":"0x1"}
		{"ph":"e","pid":1,"tid":2,"ts":7,"name":"load","cat":"net","id":"0x1"}
		{"ph":"X","pid":1,"tid":2,"ts":8,"dur":5,"name":"late","cat":"c"}
		{"ph":"E","pid":1,"tid":3,"ts":9}
		{"ph":"B","pid":1,"tid":3,"ts":14,"name":"open","cat":"c"}
		{"ph":"?","pid":1,"tid":3,"ts":20,"name":"odd","cat":"c"}
	`, nil), `
		0 1.2 begin work 10000
		1000 1.2 begin part 1000
		1500 1.2 instant tick
		2000 1.2 end part
		3000 Lane 1 begin load 3000
		4000 Lane 1 begin connect 1000 ends on 3
		4500 1.2 instant resolved
		5000 Lane 1 end connect
		6000 Lane 1 end load
		7000 Lane 1 begin late 5000
		8000 1.3 instant E
		10000 1.2 end work
		12000 Lane 1 end late
		13000 1.3 begin open 6000 unfinished
		19000 1.3 end open
		19000 1.3 instant odd
	`)
}

// The first slice in the file encloses later slices with the same times.
func TestChromeEqualSlices(t *testing.T) {
	want(t, arrangeChrome(t, `
		{"ph":"B","pid":1,"tid":1,"ts":1,"name":"outer"}
		{"ph":"B","pid":1,"tid":1,"ts":1,"name":"middle"}
		{"ph":"B","pid":1,"tid":1,"ts":1,"name":"inner"}
		{"ph":"E","pid":1,"tid":1,"ts":2}
		{"ph":"E","pid":1,"tid":1,"ts":2}
		{"ph":"E","pid":1,"tid":1,"ts":2}
		{"ph":"X","pid":1,"tid":1,"ts":3,"dur":1,"name":"outer X"}
		{"ph":"X","pid":1,"tid":1,"ts":3,"dur":1,"name":"inner X"}
		{"ph":"b","pid":1,"tid":1,"ts":5,"name":"outer async","id":1}
		{"ph":"b","pid":1,"tid":1,"ts":5,"name":"inner async","id":1}
		{"ph":"e","pid":1,"tid":1,"ts":6,"name":"inner async","id":1}
		{"ph":"e","pid":1,"tid":1,"ts":6,"name":"outer async","id":1}
	`, nil), `
		0 1.1 begin outer 1000
		0 1.1 begin middle 1000
		0 1.1 begin inner 1000
		1000 1.1 end inner
		1000 1.1 end middle
		1000 1.1 end outer
		2000 1.1 begin outer X 1000
		2000 1.1 begin inner X 1000
		3000 1.1 end inner X
		3000 1.1 end outer X
		4000 Lane 1 begin outer async 1000
		4000 Lane 1 begin inner async 1000
		5000 Lane 1 end inner async
		5000 Lane 1 end outer async
	`)
}

// Each arg of a counter is a separate counter.
func TestChromeCounters(t *testing.T) {
	text := `
		{"ph":"C","pid":1,"ts":1,"name":"heap","args":{"used":5,"free":"2.5","note":"none"}}
		{"ph":"C","pid":1,"ts":2,"name":"heap","id":7,"args":{"used":6}}
		{"ph":"C","pid":1,"ts":3,"name":"empty"}
	`
	want(t, arrangeChrome(t, text, nil), `
		0 heap used counter heap used 5
		0 heap free counter heap free 2.5
		1000 heap[7] used counter heap[7] used 6
		2000 1.1000000001 instant empty
	`)
}

// An arrow begins in the slice that encloses its begin. It ends in the slice that encloses its end (bp e), or in the
// next one. Arrows without a begin or an end, or that begin outside slices, are omitted.
func TestChromeFlows(t *testing.T) {
	text := `
		{"ph":"X","pid":1,"tid":1,"ts":1,"dur":10,"name":"a"}
		{"ph":"s","pid":1,"tid":1,"ts":2,"name":"f","cat":"x","id":1}
		{"ph":"s","pid":1,"tid":1,"ts":2,"name":"never","cat":"x","id":2}
		{"ph":"s","pid":1,"tid":3,"ts":2,"name":"nowhere","cat":"x","id":3}
		{"ph":"X","pid":1,"tid":2,"ts":3,"dur":5,"name":"b"}
		{"ph":"t","pid":1,"tid":2,"ts":4,"name":"f","cat":"x","id":1}
		{"ph":"f","pid":1,"tid":2,"ts":5,"name":"nowhere","cat":"x","id":3,"bp":"e"}
		{"ph":"f","pid":1,"tid":1,"ts":6,"name":"f","cat":"x","id":1}
		{"ph":"X","pid":1,"tid":1,"ts":7,"dur":1,"name":"next"}
		{"ph":"X","pid":1,"tid":1,"ts":20,"dur":1,"name":"out","bind_id":"0x5","flow_out":true}
		{"ph":"X","pid":1,"tid":2,"ts":22,"dur":1,"name":"in","bind_id":"0x5","flow_in":true}
	`
	want(t, arrangeChrome(t, text, nil), `
		0 1.1 begin a 10000
		1000 1.1 from f
		2000 1.2 begin b 5000
		3000 1.2 to f
		3000 1.2 from f
		6000 1.1 begin next 1000
		6000 1.1 to f
		7000 1.1 end next
		7000 1.2 end b
		10000 1.1 end a
		19000 1.1 begin out 1000
		19000 1.1 from in
		20000 1.1 end out
		21000 1.2 begin in 1000
		21000 1.2 to in
		22000 1.2 end in
	`)
	for _, it := range []string{" from ", " to "} {
		if got := arrangeChrome(t, text, &timeline.Options{Without: track.Flows}); contains(got, it) {
			t.Errorf("NoFlows keeps %s", got)
		}
	}
}

// Arrows of asynchronous slices are on their lanes. Slices that are only ends of arrows are omitted.
func TestChromeAsyncFlows(t *testing.T) {
	want(t, arrangeChrome(t, `
		{"ph":"X","name":"a","ts":0,"dur":9,"pid":1,"tid":1}
		{"ph":"B","name":"flow","cat":"flow","ts":1,"bind_id":"0x5","flow_out":true,"pid":1,"tid":1}
		{"ph":"E","name":"flow","cat":"flow","ts":1,"pid":1,"tid":1}
		{"ph":"b","name":"job","cat":"k","id":"1","ts":1,"bind_id":"0x5","flow_in":true,"pid":1,"tid":2}
		{"ph":"n","name":"job","cat":"k","id":"1","ts":2,"bind_id":"0x6","flow_out":true,"pid":1,"tid":2}
		{"ph":"X","name":"b","ts":2,"dur":1,"pid":1,"tid":3}
		{"ph":"B","name":"flow","cat":"flow","ts":2,"bind_id":"0x6","flow_in":true,"pid":1,"tid":3}
		{"ph":"E","name":"flow","cat":"flow","ts":2,"pid":1,"tid":3}
		{"ph":"e","name":"job","cat":"k","id":"1","ts":4,"pid":1,"tid":2}
	`, nil), `
		0 1.1 begin a 9000
		1000 Lane 1 begin job 3000
		1000 1.1 from job
		1000 Lane 1 to job
		2000 1.3 begin b 1000
		2000 Lane 1 from flow
		2000 1.3 to flow
		3000 1.3 end b
		4000 Lane 1 end job
		9000 1.1 end a
	`)
}

// An event that Options.Raw encodes is a Raw item and nothing else.
func TestRaw(t *testing.T) {
	o := &timeline.Options{Raw: func(dst []byte, e *ntconv.Event) ([]byte, bool) {
		phase, ok := chromeevent.Of(e.Type)
		return append(dst, phase...), ok && phase != chromeevent.PhaseInstant
	}}
	want(t, arrangeChrome(t, `
		{"ph":"X","pid":1,"tid":1,"ts":1,"dur":10,"name":"a"}
		{"ph":"i","pid":1,"tid":1,"ts":2,"name":"tick"}
		{"ph":"C","pid":1,"tid":1,"ts":3,"name":"c","args":{"a":1}}
	`, o), `
		0 1.1 raw  (X)
		1000 1.1 instant tick
		2000 1.1 raw  (C)
	`)
}
