package profile_test

import (
	"fmt"
	"math"
	"runtime"
	"strings"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/profile"
	"github.com/ntconv/ntconv/sample"
)

// build aggregates events. Each event is passed in the same memory, which is overwritten afterwards.
func build(info *ntconv.Info, namer ntconv.Namer, o *profile.Options, events ...*ntconv.Event) *profile.Profile {
	b := profile.New(info, namer, o)
	var lent ntconv.Event
	var payload [64]byte
	for _, e := range events {
		lent = *e
		lent.Payload = payload[:copy(payload[:], e.Payload)]
		b.Add(&lent)
		for i := range payload {
			payload[i] = 0xaa
		}
		lent = ntconv.Event{Kind: ntconv.KindOpaque, Time: -1, Offset: -77}
	}
	return b.Finish()
}

// lines returns every sample as a string: values, frames from the leaf, labels.
func lines(p *profile.Profile) (out []string) {
	for s := range p.Samples() {
		var names, labels []string
		for _, f := range s.Frames {
			names = append(names, f.Func.Name)
		}
		for _, l := range s.Labels {
			switch {
			case l.Kind == ntconv.LabelInt:
				labels = append(labels, fmt.Sprintf("%s=%d%s", l.Key, l.Num, l.Unit))
			default:
				labels = append(labels, l.Key+"="+l.Str)
			}
		}
		out = append(out, fmt.Sprintf("%v %s {%s}", s.Values, strings.Join(names, "<"), strings.Join(labels, " ")))
	}
	return out
}

// ended returns an event at a time, so that the recording does not end before.
func ended(at ntconv.Ticks) *ntconv.Event {
	return &ntconv.Event{Type: otherType, Thread: till, Capture: till, Time: at, CPU: ntconv.CPUUnknown}
}

func want(t *testing.T, p *profile.Profile, want ...string) {
	t.Helper()
	got := lines(p)
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("samples\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

var (
	shop = &ntconv.Process{PID: 42, Name: "shop"}
	till = &ntconv.Thread{TID: 7, Name: "till", Process: shop}
	idle = &ntconv.Thread{TID: 8, Process: shop}
)

// An interval belongs to the earlier of its two samples; the last sample gets the median.
func TestWallIntervalBelongsToEarlierSample(t *testing.T) {
	p := build(testInfo(), &fakeNamer{}, nil,
		wallEvent(till, 100, managed, stack(1, 2)),
		wallEvent(idle, 105, external, stack(9)),
		wallEvent(till, 110, managed, stack(3, 2)),
		wallEvent(till, 510, managed, stack(1, 2)),
		wallEvent(till, 520, external, stack(1, 2)),
		wallEvent(idle, 145, external, stack(9)),
		ended(1000),
	)
	want(t, p,
		"[2 2000] f1<f2 {process=shop pid=42id thread=till tid=7id state=Managed}",
		"[1 1000] f1<f2 {process=shop pid=42id thread=till tid=7id state=External}",
		"[2 8000] f9 {process=shop pid=42id tid=8id state=External}",
		"[1 40000] f3<f2 {process=shop pid=42id thread=till tid=7id state=Managed}",
	)
	if p.Kind != sample.Wall || p.Period != 1_000_000 || p.PeriodType.Type != "wall" || p.Types[p.Main].Type != "wall" {
		t.Errorf("header %+v", p)
	}
}

// The last sample of a thread that the trace removes is weighted at once; only time separates a later thread with the
// same IDs.
func TestRemovedThreadIsSettled(t *testing.T) {
	again := &ntconv.Thread{TID: 7, Name: "till", Process: shop}
	p := build(testInfo(), &fakeNamer{}, nil,
		wallEvent(till, 0, managed, stack(1)), wallEvent(till, 10, managed, stack(1)),
		&ntconv.Event{Kind: ntconv.KindMark, Mark: &ntconv.Mark{Kind: ntconv.MarkThreadsRemoved, Threads: []ntconv.ThreadSeq{{Thread: till}, {Thread: idle}}}},
		wallEvent(again, 1000, managed, stack(1)), wallEvent(again, 1020, managed, stack(1)), ended(2000))
	want(t, p, "[4 5000] f1 {process=shop pid=42id thread=till tid=7id state=Managed}")
}

// A sample that is earlier than its thread's previous one counts without a weight, so that no time counts twice.
func TestTimeGoingBack(t *testing.T) {
	var r ntconv.Report
	p := build(testInfo(), &fakeNamer{}, &profile.Options{Report: &r},
		wallEvent(till, 0, managed, stack(1)), wallEvent(till, 10, managed, stack(2)), wallEvent(till, 8, managed, stack(3)),
		wallEvent(till, 20, managed, stack(4)), wallEvent(till, 20, managed, stack(4)), ended(100))
	want(t, p,
		"[1 1000] f1 {process=shop pid=42id thread=till tid=7id state=Managed}",
		"[1 1000] f2 {process=shop pid=42id thread=till tid=7id state=Managed}",
		"[1 0] f3 {process=shop pid=42id thread=till tid=7id state=Managed}",
		"[2 1000] f4 {process=shop pid=42id thread=till tid=7id state=Managed}")
	if n := r.Count(ntconv.CodeOutOfOrder); n != 1 {
		t.Errorf("%d events out of order, want 1", n)
	}
}

func TestSampleWithoutStackIsKept(t *testing.T) {
	var r ntconv.Report
	e := wallEvent(till, 0, managed, nil)
	e.Offset = 1234
	p := build(testInfo(), &fakeNamer{}, &profile.Options{Report: &r}, e, wallEvent(till, 10, managed, &ntconv.Stack{}), ended(100))
	want(t, p, "[2 2000]  {process=shop pid=42id thread=till tid=7id state=Managed}")
	if e := r.Entries(); len(e) != 1 || e[0].Code != ntconv.CodeNoStack || e[0].Count != 2 || e[0].Offset != 1234 {
		t.Errorf("report %v", e)
	}
}

func TestCPUCountsValueAndInterval(t *testing.T) {
	info := testInfo()
	info.Attrs = append(info.Attrs, ntconv.Attr{Key: "ExpectedCPUSamplingRate", Value: "250000"})
	p := build(info, &fakeNamer{}, nil,
		cpuEvent(till, 0, 1, stack(1)), cpuEvent(till, 900, 3, stack(1)), cpuEvent(idle, 2, 0, stack(1)))
	want(t, p,
		"[4 1000000] f1 {process=shop pid=42id thread=till tid=7id}",
		"[0 0] f1 {process=shop pid=42id tid=8id}")
	if p.Kind != sample.CPU || p.Period != 250000 || p.PeriodType != (sample.Type{Type: "cpu", Unit: "nanoseconds"}) {
		t.Errorf("header %+v", p)
	}
}

func TestAutoPrefersWall(t *testing.T) {
	both := []*ntconv.Event{cpuEvent(till, 0, 1, stack(1)), wallEvent(till, 0, managed, stack(1))}
	for _, c := range []struct {
		kind   sample.Kind
		events []*ntconv.Event
		want   sample.Kind
		n      uint64
	}{
		{sample.Auto, both, sample.Wall, 1}, {sample.Auto, both[:1], sample.CPU, 1}, {sample.Auto, nil, sample.Wall, 0},
		{sample.CPU, both, sample.CPU, 1}, {sample.Wall, both[:1], sample.Wall, 0},
	} {
		p := build(testInfo(), &fakeNamer{}, &profile.Options{Kind: c.kind}, c.events...)
		if p.Kind != c.want || p.Events != c.n {
			t.Errorf("%v of %d events: %v with %d samples, want %v with %d", c.kind, len(c.events), p.Kind, p.Events, c.want, c.n)
		}
	}
}

// OrderMatters is true if samples of a thread are out of order, or if an address had another owner between two samples
// that were merged. A namer that knows the change in advance separates them in any order.
func TestOrderMatters(t *testing.T) {
	first, second := wallEvent(till, 10, managed, stack(1)), wallEvent(till, 30, managed, stack(1))
	other := wallEvent(idle, 20, managed, stack(1))
	for name, c := range map[string]struct {
		want     bool
		events   []*ntconv.Event
		redefine int // index of the event before which address 1 is redefined since time 20
	}{
		"in order":           {false, []*ntconv.Event{first, other, second}, -1},
		"threads in turn":    {false, []*ntconv.Event{first, second, other}, -1},
		"thread goes back":   {true, []*ntconv.Event{second, first}, -1},
		"known in time":      {false, []*ntconv.Event{first, other, second}, 1},
		"known beforehand":   {false, []*ntconv.Event{other, first, second}, 0},
		"known too late":     {true, []*ntconv.Event{first, other, second}, 3},
		"late for one alone": {false, []*ntconv.Event{first}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			namer := &fakeNamer{}
			namer.define(1, 0, "old")
			b := profile.New(testInfo(), namer, nil)
			for i := range len(c.events) + 1 {
				if i == c.redefine {
					namer.define(1, 20, "new")
				}
				if i < len(c.events) {
					b.Add(c.events[i])
				}
			}
			if got := b.OrderMatters(); got != c.want {
				t.Errorf("order matters: %v, want %v", got, c.want)
			}
		})
	}
}

func TestLabels(t *testing.T) {
	label := func(l ...ntconv.Label) *ntconv.Labels { return ntconv.NewLabels(l) }
	id := [16]byte{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}
	all := func() *ntconv.Labels {
		return label(
			ntconv.Label{Kind: ntconv.LabelActivityID, ID: id}, ntconv.Label{Kind: ntconv.LabelTraceID, ID: id},
			ntconv.Label{Kind: ntconv.LabelSpanID, ID: [16]byte{0, 0, 0, 0, 0, 0, 0, 1}}, ntconv.Label{Kind: ntconv.LabelRelatedActivityID},
			ntconv.Label{Kind: ntconv.LabelLevel, Num: 3}, ntconv.Label{Kind: ntconv.LabelInt, Key: "n", Num: 0},
			ntconv.Label{Kind: ntconv.LabelInt, Key: "size", Num: 5, Unit: "bytes"}, ntconv.Label{Kind: ntconv.LabelString, Key: "empty"},
			ntconv.Label{Kind: ntconv.LabelString, Key: "Error", Str: "Expected actual values"}, ntconv.Label{Kind: ntconv.LabelString, Key: "pid", Str: "own"})
	}
	with := func(e *ntconv.Event, l *ntconv.Labels) *ntconv.Event { e.Labels = l; return e }
	events := []*ntconv.Event{
		with(cpuEvent(till, 0, 1, stack(1)), all()), with(cpuEvent(till, 0, 1, stack(1)), all()),
		with(cpuEvent(till, 0, 1, stack(1)), label(ntconv.Label{Kind: ntconv.LabelString, Key: "Error", Str: "Expected actual values"})),
		cpuEvent(till, 0, 1, stack(1)),
		with(cpuEvent(till, 0, 1, stack(1)), label(ntconv.Label{Kind: ntconv.LabelString, Key: "Error", Str: "real"})),
	}
	want(t, build(testInfo(), &fakeNamer{}, nil, events...),
		"[2 2000000] f1 {process=shop pid=42id thread=till tid=7id}",
		"[2 2000000] f1 {process=shop thread=till tid=7id activity_id=04030201-0605-0807-090a-0b0c0d0e0f10 "+
			"trace_id=0102030405060708090a0b0c0d0e0f10 span_id=0000000000000001 n=0count size=5bytes pid=own}",
		"[1 1000000] f1 {process=shop pid=42id thread=till tid=7id Error=real}")
	drop := []string{"trace_id", "span_id", "activity_id", "n", "size", "pid", "tid", "Error"}
	want(t, build(testInfo(), &fakeNamer{}, &profile.Options{DropLabels: drop}, events...), "[5 5000000] f1 {process=shop}")
}

// Equal IDs on two hosts are not the same thread.
func TestMachinesAreToldApart(t *testing.T) {
	var events []*ntconv.Event
	for _, host := range []string{"a", "b"} {
		th := &ntconv.Thread{TID: 7, Process: &ntconv.Process{PID: 42, Host: host}}
		events = append(events, cpuEvent(th, 0, 1, stack(1)))
	}
	want(t, build(testInfo(), &fakeNamer{}, nil, events...),
		"[1 1000000] f1 {host=a pid=42id tid=7id}", "[1 1000000] f1 {host=b pid=42id tid=7id}")
	want(t, build(testInfo(), &fakeNamer{}, &profile.Options{DropLabels: []string{"host"}}, events...), "[2 2000000] f1 {pid=42id tid=7id}")
}

// Stacks of frames are equal by content, regardless of their pointers.
func TestStacksWithFrames(t *testing.T) {
	named := func(name string, line int32) *ntconv.Stack {
		return &ntconv.Stack{Frames: []ntconv.Frame{{Func: &ntconv.Function{Name: name}, Line: line}, {Func: &ntconv.Function{Name: "main"}}}}
	}
	want(t, build(testInfo(), nil, &profile.Options{DropLabels: []string{"process", "pid", "tid"}},
		cpuEvent(till, 0, 1, named("a", 1)), cpuEvent(till, 0, 1, named("a", 2)), cpuEvent(till, 0, 1, named("b", 1)), cpuEvent(till, 0, 1, named("a", 1)),
		cpuEvent(till, 0, 1, stack(0x10))),
		"[2 2000000] a<main {}", "[1 1000000] a<main {}", "[1 1000000] b<main {}", "[1 1000000] 0x10 {}")
}

func TestUnresolvedShare(t *testing.T) {
	var r ntconv.Report
	namer := &fakeNamer{modules: []*ntconv.Mapping{{Start: 0xdead0100, Limit: 0xdead0200, File: "/usr/lib/libcoreclr.so"}, {Start: 0xdead0200, Limit: 0xdead0300, File: `C:\x\Shop.DLL`}}}
	p := build(testInfo(), namer, &profile.Options{Report: &r},
		wallEvent(till, 0, managed, stack(0xdead0110, 1)), wallEvent(till, 10, managed, stack(0xdead0110, 1)), wallEvent(till, 20, managed, stack(1, 0xdead0210, 0xdead0000, 1)), wallEvent(till, 40, managed, stack(1, 1)), ended(100))
	if u := p.Unresolved; u != (sample.Unresolved{}) {
		t.Errorf("known before the samples were visited: %+v", u)
	}
	for range 2 {
		for range p.Samples() {
		}
	}
	const text = "40.0% of frames are unresolved (25.0% address outside all known modules, 25.0% managed code without a method event, " +
		"50.0% native module without symbols, most in libcoreclr.so): on the stack for 80.0% of wall time, leaf for 40.0%; " +
		".NET writes symbols when a recording ends (rundown): stop it with Enter or Ctrl+C and keep rundown enabled"
	if got := profile.DescribeUnresolved(p.Summary()); got != text {
		t.Errorf("got  %s\nwant %s", got, text)
	}
	if e := r.Entries(); len(e) != 1 || e[0].Code != ntconv.CodeUnresolved || e[0].Count != 4 || e[0].Detail != text {
		t.Errorf("report %v", e)
	}
}

// A wall profile of a trace without a rundown explains how to record one; other profiles do not.
func TestAdviceOnRundown(t *testing.T) {
	for _, c := range []struct {
		e    func(at ntconv.Ticks, pcs ...uint64) *ntconv.Event
		pcs  []uint64
		want bool
	}{
		{func(at ntconv.Ticks, pcs ...uint64) *ntconv.Event { return wallEvent(till, at, managed, stack(pcs...)) }, []uint64{0xdead0000, 0xdead0001, 1}, true},
		{func(at ntconv.Ticks, pcs ...uint64) *ntconv.Event { return wallEvent(till, at, managed, stack(pcs...)) }, []uint64{0xdead0000, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1}, false},
		{func(at ntconv.Ticks, pcs ...uint64) *ntconv.Event { return cpuEvent(till, at, 1, stack(pcs...)) }, []uint64{0xdead0000, 0xdead0001, 1}, false},
	} {
		p := build(testInfo(), &fakeNamer{}, nil, c.e(0, c.pcs...), c.e(10, c.pcs...))
		for range p.Samples() {
		}
		if text := profile.DescribeUnresolved(p.Summary()); text == "" || strings.Contains(text, "rundown") != c.want {
			t.Errorf("%v %x: %q", p.Kind, c.pcs, text)
		}
		p = build(testInfo(), &rundownNamer{}, nil, c.e(0, c.pcs...), c.e(10, c.pcs...))
		for range p.Samples() {
		}
		if text := profile.DescribeUnresolved(p.Summary()); text == "" || strings.Contains(text, "rundown") {
			t.Errorf("%v %x, with a rundown: %q", p.Kind, c.pcs, text)
		}
	}
}

// A profile lasts from the start of the session, if the trace has one, or else from the first event, to the last event
// that is not a rundown event.
func TestRecordingSpansAllEventsButRundown(t *testing.T) {
	at := func(typ *ntconv.Type, time ntconv.Ticks) *ntconv.Event {
		return &ntconv.Event{Type: typ, Thread: till, Capture: till, Time: time}
	}
	type span = func() (first, last ntconv.Ticks, ok bool)
	for name, c := range map[string]struct {
		format      string
		session     ntconv.Ticks
		span        span
		end         ntconv.Ticks // of the last event before the rundown
		start, want ntconv.Ticks
	}{
		"event last":           {"other", 0, nil, 50, 5, 50},
		"sample last":          {"other", 0, nil, 21, 5, 30},
		"session":              {"nettrace 4", 1, nil, 50, 1, 50},
		"session of netperf":   {"netperf 3", 1, nil, 50, 1, 50},
		"session too late":     {"nettrace 4", 7, nil, 50, 5, 50},
		"clock of other input": {"chrome", 1, nil, 50, 5, 50},
		"stated":               {"other", 0, func() (first, last ntconv.Ticks, ok bool) { return 1, 70, true }, 50, 1, 70},
		"stated too short":     {"other", 0, func() (first, last ntconv.Ticks, ok bool) { return 1, 20, true }, 50, 1, 40},
	} {
		info := testInfo()
		info.Format, info.Clock.Tick = c.format, c.session
		p := build(info, &fakeNamer{}, &profile.Options{Span: c.span}, at(otherType, 5),
			wallEvent(till, 10, managed, stack(1)), wallEvent(till, 20, managed, stack(1)), wallEvent(till, 30, managed, stack(1)),
			at(otherType, c.end), at(rundownType, 900))
		if p.Start != c.start || p.End != c.want {
			t.Errorf("%s: from %d to %d, want %d to %d", name, p.Start, p.End, c.start, c.want)
		}
	}
}

// The last sample of a thread does not extend beyond the recording, regardless of the thread's intervals.
func TestLastSampleEndsWithTheRecording(t *testing.T) {
	p := build(testInfo(), &fakeNamer{}, nil,
		wallEvent(till, 0, managed, stack(1)), wallEvent(till, 60_000, managed, stack(1)), ended(60_200))
	want(t, p, "[2 6020000] f1 {process=shop pid=42id thread=till tid=7id state=Managed}")
	p = build(testInfo(), &fakeNamer{}, nil,
		wallEvent(till, 0, managed, stack(1)), wallEvent(till, math.MaxInt64-3, managed, stack(2)), ended(math.MaxInt64))
	if p.End != math.MaxInt64 {
		t.Errorf("at the end of time: %d", p.End)
	}
}

func TestDamagedPayloadIsCounted(t *testing.T) {
	var r ntconv.Report
	short := wallEvent(till, 0, managed, stack(1))
	short.Payload = short.Payload[:2]
	empty := cpuEvent(till, 0, 1, stack(1))
	empty.Payload = nil
	want(t, build(testInfo(), &fakeNamer{}, &profile.Options{Report: &r}, short, ended(20_000)), "[1 1000000] f1 {process=shop pid=42id thread=till tid=7id}")
	want(t, build(testInfo(), &fakeNamer{}, &profile.Options{Report: &r}, empty), "[1 1000000] f1 {process=shop pid=42id thread=till tid=7id}")
	if n := r.Count(ntconv.CodePayload); n != 2 {
		t.Errorf("%d payloads, want 2", n)
	}
}

// Times at the ends of the range neither overflow nor become negative.
func TestExtremeTimes(t *testing.T) {
	const most = ntconv.Ticks(1<<63 - 1)
	p := build(testInfo(), &fakeNamer{}, nil, wallEvent(till, -most, managed, stack(1)), wallEvent(till, most, managed, stack(1)), wallEvent(till, most, managed, stack(2)))
	for s := range p.Samples() {
		for _, v := range s.Values {
			if v < 0 {
				t.Errorf("value %d", v)
			}
		}
	}
}

// Stacks of few distinct frames take 4 bytes per frame at any depth, because a few bytes of a profile can produce many.
func TestStacksOfNamesAreSmall(t *testing.T) {
	const stacks, depth = 1000, 1000
	var few []ntconv.Frame
	for i := range 10 {
		few = append(few, ntconv.Frame{Func: &ntconv.Function{Name: fmt.Sprint("f", i)}})
	}
	b := profile.New(testInfo(), nil, nil)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	list := make([]ntconv.Frame, depth)
	for i := range stacks {
		for n := range list {
			list[n] = few[(i>>(n%10)&1+n)%len(few)]
		}
		b.Add(wallEvent(till, ntconv.Ticks(i), managed, &ntconv.Stack{Frames: list}))
	}
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; n > 8*stacks*depth {
		t.Errorf("%d bytes for %d frames", n, stacks*depth)
	}
	n := 0
	for s := range b.Finish().Samples() {
		for k, f := range s.Frames {
			if want := few[(n>>(k%10)&1+k)%len(few)]; f != want {
				t.Fatalf("stack %d, frame %d: %v, want %v", n, k, f.Func, want.Func)
			}
		}
		n++
	}
	if n != stacks {
		t.Errorf("%d stacks, want %d", n, stacks)
	}
}
