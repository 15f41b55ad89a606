package timeline_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/events/clr"
	"github.com/ntconv/ntconv/internal/span"
	"github.com/ntconv/ntconv/internal/span/stored"
	"github.com/ntconv/ntconv/internal/timeline"
	"github.com/ntconv/ntconv/ntconvtest"
	"github.com/ntconv/ntconv/track"
)

// instants is what Options.Without omits all instants by.
const instants = track.Events | track.Exceptions

func contains(s, part string) bool { return strings.Contains(s, part) }

// A sample of the sample profiler lasts until the next one of its thread, and it is not also another item.
func TestSamples(t *testing.T) {
	text := `
		100 1.1 sample stack=0x10,0x20
		110 1.2 sample
		130 1.1 sample stack=0x30,0x20
		140 1.1 sample stack=0x10,0x20
		160 1.1 event Exit
	`
	tl, got := arrangeEvents(t, newScript(t).events(text), &timeline.Options{Without: instants})
	want(t, got, `
		0 1.1 sample  stack 2[30] until 30
		10 1.2 sample [10] until 20
		30 1.1 sample  stack 3[10] until 40
		40 1.1 sample  stack 2[10] until 50
	`)
	var names []string
	for n := timeline.Node(2); n != timeline.NoStack; {
		parent, frame := tl.Node(n)
		names = append(names, tl.Frame(frame).Func.Name)
		n = parent
	}
	if fmt.Sprint(names) != "[0x10 0x20]" || tl.Nodes() != 4 || tl.Frames() != 3 {
		t.Errorf("stack %v, %d nodes, %d frames", names, tl.Nodes(), tl.Frames())
	}
	if got := arrangeScript(t, text, &timeline.Options{NoSamples: true, Without: instants}); got != "" {
		t.Errorf("NoSamples leaves\n%s", got)
	}
}

// A loss is an instant on a separate track that states the number of lost events.
func TestLosses(t *testing.T) {
	tl, got := arrangeEvents(t, newScript(t).events(`
		100 1.1 event Tick
		110 1.1 lost 5
	`), &timeline.Options{Args: testArgs, Without: instants})
	want(t, got, `0 Lost events instant Lost events (events=5)`)
	if c := tl.Counts(); c.Losses != 1 || c.Instants != 0 {
		t.Errorf("counts %+v", c)
	}
}

// Rundown events are omitted and counted, unless Options.Rundown is set. They are not in the time of the recording.
func TestRundown(t *testing.T) {
	tl, got := arrangeEvents(t, newScript(t).events("100 1.1 rundown"), nil)
	if got != "" || tl.Counts().Rundown != 1 || tl.End() != 0 || !tl.Start().Equal(wall) {
		t.Errorf("items %q, counts %+v, from %v to %d", got, tl.Counts(), tl.Start(), tl.End())
	}
	want(t, arrangeScript(t, "100 1.1 rundown", &timeline.Options{Options: track.Options{Rundown: true}}), "0 1.1 instant MethodDCEndVerbose")
}

// Events of sources that are not selected are instants.
func TestSources(t *testing.T) {
	text := `
		100 1.1 start A 1
		110 1.1 clr 81 1
		120 1.1 clr 91 1
		130 1.1 stop A 1
	`
	want(t, arrangeScript(t, text, nil), `
		0 1.1 begin A 30
		10 1.1 begin Lock contention 10
		20 1.1 end Lock contention
		30 1.1 end A
	`)
	want(t, arrangeScript(t, text, &timeline.Options{Options: track.Options{Tracks: track.Contention | track.Events}}), `
		0 1.1 instant AStart
		10 1.1 begin Lock contention 10
		20 1.1 end Lock contention
		30 1.1 instant AStop
	`)
	want(t, arrangeScript(t, text, &timeline.Options{Options: track.Options{Tracks: track.Events}}), `
		0 1.1 instant AStart
		10 1.1 instant ContentionStart
		20 1.1 instant ContentionStop
		30 1.1 instant AStop
	`)
}

// A slice has the stack of the event that begins it.
func TestStackOfSlice(t *testing.T) {
	want(t, arrangeScript(t, `
		100 1.1 clr 81 1 stack=0x10
		110 1.2 start A 1 stack=0x20
		120 1.2 stop A 1 stack=0x30
		130 1.1 clr 91 1 stack=0x40
	`, nil), `
		0 1.1 begin Lock contention 30 stack 1
		10 1.2 begin A 10 stack 2
		20 1.2 end A
		30 1.1 end Lock contention
	`)
}

// An allocation represents the bytes since the previous one, or, if it is a random sample, the expected bytes per
// sample.
func TestAllocations(t *testing.T) {
	got := arrangeScript(t, `
		100 1.1 clr 10 0 5000 1
		110 1.1 clr 303 0 0 0
	`, nil)
	want(t, got, `
		0 1.1 instant GCAllocationTick bytes 5000
		10 1.1 instant AllocationSampled
	`)
}

// If a trace has two sources of the same allocations, those of one of them have no bytes, as in a profile.
func TestAllocationsOfTwoSources(t *testing.T) {
	got := arrangeScript(t, `
		100 1.1 clr 10 0 5000 1
		110 1.1 clr 303 0 0 0 0 0 0 0 1048576 0 0 0
	`, nil)
	want(t, got, `
		0 1.1 instant GCAllocationTick
		10 1.1 instant AllocationSampled bytes 1048613
	`)
}

// Processes and threads have the recorded numbers if these fit and are unique, and otherwise synthetic ones.
func TestNumbers(t *testing.T) {
	s := newScript(t)
	events := s.events(`
		100 7.1 event Tick
		101 7.1' event Tick
		102 0x100000001.5 event Tick
		103 7.0x100000001 event Tick
		104 0.0 event Tick
	`)
	s.threads["7.1"].Name, s.threads["7.1'"].Name = "first", "second"
	tl, got := arrangeEvents(t, events, nil)
	want(t, got, `
		0 7.1 instant Tick
		1 7.1000000001 instant Tick
		2 1000000001.5 instant Tick
		3 7.1000000002 instant Tick
		4 1000000002.1000000003 instant Tick
	`)
	if n := tl.Counts().Renumbered; n != 5 {
		t.Errorf("%d are renumbered", n)
	}
	var tracks []string
	for _, k := range tl.Tracks() {
		tracks = append(tracks, fmt.Sprint(k.Kind, k.Process.PID, k.Name))
	}
	if got := fmt.Sprint(tracks); got != "[0 7 1 7first 1 7second 1 7Thread 4294967297 0 1000000001 1 1000000001 0 1000000002 1 1000000002Unknown thread]" {
		t.Errorf("tracks %s", got)
	}
}

// spanEvents returns the events of imported spans.
func spanEvents(spans ...*span.Span) (events []*ntconv.Event) {
	thread := &ntconv.Thread{TID: 1, Process: &ntconv.Process{PID: 1}}
	encoder := stored.NewEncoder(stored.Spans)
	for _, s := range spans {
		s.Scope, s.Resource = &span.Scope{Name: "lib"}, &span.Resource{}
		encoder.Encode(s, &ntconv.Event{Thread: thread, Capture: thread, Time: ntconv.Ticks(int64(s.Start) - wall.UnixNano())})
		for e := encoder.Next(); e != nil; e = encoder.Next() {
			events = append(events, e.Clone())
		}
	}
	return events
}

// Spans from OTLP are on lanes with their events, their links are arrows, and a span without an end lasts until the end
// of the trace.
func TestImportedSpans(t *testing.T) {
	root := span.Context{TraceID: span.TraceID{1}, ID: span.ID{1}}
	other := span.Context{TraceID: span.TraceID{2}, ID: span.ID{2}}
	_, got := arrangeEvents(t, spanEvents(
		&span.Span{Context: root, Name: "root", Start: unix(0), End: unix(100), Events: []span.Event{
			{Time: unix(10), Name: "step", Attributes: []span.Attribute{{Key: "n", Value: span.Int(5)}}},
			{Time: unix(500), Name: "late"},
		}},
		&span.Span{Context: span.Context{TraceID: root.TraceID, ID: span.ID{3}}, ParentID: root.ID, Name: "child", Start: unix(20), End: unix(30)},
		&span.Span{Context: other, Name: "other", Start: unix(40), Links: []span.Link{{Context: root}}},
		&span.Span{Context: span.Context{TraceID: span.TraceID{3}, ID: span.ID{4}}, Start: unix(50), End: unix(120)},
	), &timeline.Options{Args: func(dst []byte, s *timeline.Source) []byte {
		for name, v := range s.Args(true) {
			if s.Span == nil {
				dst = fmt.Appendf(dst, "%s=%d", name, v.Int())
			}
		}
		return dst
	}})
	want(t, got, `
		0 Lane 1 begin root 100
		10 Lane 1 instant step (n=5)
		20 Lane 1 begin child 10
		30 Lane 1 end child
		40 Lane 2 begin other 80 unfinished
		40 Lane 1 from other
		40 Lane 2 to other
		50 Lane 3 begin span 70
		100 Lane 1 end root
		100 1 instant late
		120 Lane 3 end span
		120 Lane 2 end other
	`)
}

func unix(nanos int64) uint64 { return uint64(wall.UnixNano() + nanos) }

// A span far outside the recording is moved to its edge, and a span that extends far beyond it is shortened, so that
// times stay exact.
func TestMoved(t *testing.T) {
	s := newScript(t)
	year := int64(366 * 24 * time.Hour)
	low, high := timeline.MoveForTest(s.TB, info(), unix(-year), unix(-year+5), 100, 200)
	if low != 100 || high != 100 {
		t.Errorf("a span of last year is from %d to %d", low, high)
	}
	low, high = timeline.MoveForTest(s.TB, info(), unix(year), unix(year+5), 100, 200)
	if low != 200 || high != 200 {
		t.Errorf("a span of next year is from %d to %d", low, high)
	}
	low, high = timeline.MoveForTest(s.TB, info(), unix(-year), unix(year), 100, 200)
	if low != 100-1<<52 || high != 200+1<<52 {
		t.Errorf("a span of two years is from %d to %d", low, high)
	}
	low, high = timeline.MoveForTest(s.TB, info(), unix(-int64(time.Hour)), unix(150), 100, 200)
	if low != -int64(time.Hour) || high != 150 {
		t.Errorf("a span that began before the recording is from %d to %d", low, high)
	}
	low, high = timeline.MoveForTest(s.TB, info(), 0, math.MaxUint64, math.MinInt64, math.MaxInt64)
	if low > high {
		t.Errorf("a span is from %d to %d", low, high)
	}
}

// Names of processes are those that events state.
func TestProcessName(t *testing.T) {
	s := newScript(t)
	events := s.events("100 7.1 event Tick\n101 7.1 event Info")
	events[1].Type = &ntconv.Type{Provider: clr.EventPipe, ID: 1, Name: "ProcessInfo"}
	events[1].Payload = nil
	for _, text := range []string{"/usr/bin/dotnet /app/shop.dll --port 80", "Linux", "x64"} {
		for _, r := range text {
			events[1].Payload = append(events[1].Payload, byte(r), 0)
		}
		events[1].Payload = append(events[1].Payload, 0, 0)
	}
	tl := buildFrom(t, ntconvtest.NewSource(info(), events...), nil, nil)
	if p := tl.Processes()[0]; p.Name != "shop" || p.Command != "/usr/bin/dotnet /app/shop.dll --port 80" {
		t.Errorf("process %+v", p)
	}
}
