package timeline_test

import (
	"testing"

	"github.com/ntconv/ntconv/internal/timeline"
	"github.com/ntconv/ntconv/track"
)

// arrange returns the items of a script as text.
func arrangeScript(t *testing.T, text string, o *timeline.Options) string {
	t.Helper()
	_, got := arrangeEvents(t, newScript(t).events(text), o)
	return got
}

// Slices that begin and end on a thread and nest are on the thread, at any depth.
func TestNesting(t *testing.T) {
	want(t, arrangeScript(t, `
		100 1.1 start Outer 1
		110 1.1 start Inner 2
		115 1.1 event Tick
		120 1.1 stop Inner 2
		120 1.1 start Inner 3
		130 1.1 stop Inner 3
		130 1.1 stop Outer 1
	`, nil), `
		0 1.1 begin Outer 30
		10 1.1 begin Inner 10
		15 1.1 instant Tick
		20 1.1 end Inner
		20 1.1 begin Inner 10
		30 1.1 end Inner
		30 1.1 end Outer
	`)
}

// Slices that end on another thread, or overlap, are on lanes. Lanes are reused.
func TestLanes(t *testing.T) {
	want(t, arrangeScript(t, `
		100 1.1 start A 1
		105 1.1 start B 2
		110 1.1 stop A 1
		120 1.1 stop B 2
		130 1.1 start C 3
		135 1.2 stop C 3
		140 1.2 start D 4
		145 1.1 stop D 4
	`, nil), `
		0 1.1 begin A 10
		5 Lane 1 begin B 15
		5 1.1 from B
		5 Lane 1 to B
		10 1.1 end A
		20 Lane 1 end B
		30 Lane 1 begin C 5 ends on 2
		35 Lane 1 end C
		40 Lane 1 begin D 5 ends on 1
		45 Lane 1 end D
	`)
}

// A span is on the lane of its parent if it nests there, and otherwise on another lane with an arrow.
func TestParentLane(t *testing.T) {
	got := arrangeScript(t, `
		100 1.1 start Request 1 activity=1
		110 1.2 start Query 2 activity=2 related=1
		115 1.2 start Cache 3 activity=3 related=1
		120 1.3 stop Cache 3 activity=3
		125 1.3 stop Query 2 activity=2
		200 1.2 stop Request 1 activity=1
	`, nil)
	want(t, got, `
		0 Lane 1 begin Request 100 ends on 2
		10 Lane 1 begin Query 15 ends on 3
		15 Lane 2 begin Cache 5 ends on 3
		15 Lane 1 from Cache
		15 Lane 2 to Cache
		20 Lane 2 end Cache
		25 Lane 1 end Query
		100 Lane 1 end Request
	`)
}

// An arrow leads from the parent to a span on another thread or in another process, but not to a span on the same
// track.
func TestFlows(t *testing.T) {
	text := `
		100 1.1 start Request 1 activity=1
		110 1.2 start Query 2 activity=2 related=1
		115 1.2 start Part 3 activity=3 related=2
		117 1.2 stop Part 3 activity=3
		120 1.2 stop Query 2 activity=2
		200 1.1 stop Request 1 activity=1
	`
	want(t, arrangeScript(t, text, nil), `
		0 1.1 begin Request 100
		10 1.2 begin Query 10
		10 1.1 from Query
		10 1.2 to Query
		15 1.2 begin Part 2
		17 1.2 end Part
		20 1.2 end Query
		100 1.1 end Request
	`)
	want(t, arrangeScript(t, text, &timeline.Options{Options: track.Options{MinDuration: 5}, Without: track.Flows}), `
		0 1.1 begin Request 100
		10 1.2 begin Query 10
		20 1.2 end Query
		100 1.1 end Request
	`)
}

// A parent begins before a child with the same times, and before a child that ends later.
func TestEqualTimes(t *testing.T) {
	want(t, arrangeScript(t, `
		100 1.1 start Outer 1 activity=1
		100 1.1 start Inner 2 activity=2 related=1
		110 1.1 stop Inner 2 activity=2
		110 1.1 stop Outer 1 activity=1
		200 1.1 start Request 3 activity=3
		200 1.2 start Query 4 activity=4 related=3
		210 1.1 stop Request 3 activity=3
		220 1.2 stop Query 4 activity=4
	`, nil), `
		0 1.1 begin Outer 10
		0 1.1 begin Inner 10
		10 1.1 end Inner
		10 1.1 end Outer
		100 1.1 begin Request 10
		100 1.2 begin Query 20
		100 1.1 from Query
		100 1.2 to Query
		110 1.1 end Request
		120 1.2 end Query
	`)
}

// A span without an end lasts until the end of the trace.
func TestUnfinished(t *testing.T) {
	tl, got := arrangeEvents(t, newScript(t).events(`
		100 1.1 start A 1
		110 1.1 event Tick
		150 1.2 event Tick
	`), nil)
	want(t, got, `
		0 Lane 1 begin A 50 unfinished
		10 1.1 instant Tick
		50 Lane 1 end A
		50 1.2 instant Tick
	`)
	if c := tl.Counts(); c.Unfinished != 1 || c.Spans != 1 || c.Lanes != 1 {
		t.Errorf("counts %+v", c)
	}
}

// A Stop without a Start is an instant, because no slice shows it.
func TestUnmatched(t *testing.T) {
	want(t, arrangeScript(t, "100 1.1 stop A 1", nil), "0 1.1 instant AStop")
}

// Slices below the minimum are omitted and counted; events in them are kept.
func TestShort(t *testing.T) {
	tl, got := arrangeEvents(t, newScript(t).events(`
		100 1.1 start A 1
		101 1.1 event Tick
		105 1.1 stop A 1
		110 1.1 start B 1
		120 1.1 stop B 1
	`), &timeline.Options{Options: track.Options{MinDuration: 10}})
	want(t, got, `
		0 1.1 instant Tick
		9 1.1 begin B 10
		19 1.1 end B
	`)
	if c := tl.Counts(); c.Short != 1 || c.Slices != 1 {
		t.Errorf("counts %+v", c)
	}
}

// Pauses and collections have separate tracks and show the generation. A background collection that ends before a
// foreground collection in it is on a lane.
func TestCollections(t *testing.T) {
	want(t, arrangeScript(t, `
		100 1.1 clr 9 0 1
		101 1.1 clr 8 0
		110 1.1 clr 1 1 7 2 0 1
		111 1.1 clr 7 0
		112 1.1 clr 3 0
		120 1.2 clr 9 0 1
		121 1.2 clr 1 1 8 0 0 0
		130 1.2 clr 2 0 7 2
		140 1.2 clr 2 0 8 0
		141 1.2 clr 3 0
	`, nil), `
		0 GC pauses begin GC pause gen 2 12
		1 1.1 instant GCSuspendEEEnd
		10 GC collections begin GC gen 2 20 ends on 2
		11 1.1 instant GCRestartEEBegin
		12 GC pauses end GC pause gen 2
		20 GC pauses begin GC pause gen 0 21
		21 Lane 1 begin GC gen 0 19
		30 GC collections end GC gen 2
		40 Lane 1 end GC gen 0
		41 GC pauses end GC pause gen 0
	`)
}
