package profile_test

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/events/clr"
	"github.com/ntconv/ntconv/internal/profile"
	"github.com/ntconv/ntconv/internal/profile/meters"
	"github.com/ntconv/ntconv/sample"
	"github.com/ntconv/ntconv/symbol"
)

const intArray = "System.Int32[]"

// tick returns the payload of GCAllocationTick, with the size of the object if it is not 0.
func tick(amount, size uint64) []byte {
	b := fields(uint32(amount), uint32(0), uint16(0), amount, uint64(1), intArray, uint32(0), uint64(2))
	if size > 0 {
		b = append(b, fields(size)...)
	}
	return b
}

// sampled returns the payload of AllocationSampled.
func sampled(size uint64) []byte {
	return fields(uint32(1), uint16(0), uint64(1), intArray, uint64(2), size, uint64(0))
}

var (
	tickType    = runtimeType(10, 4)
	oldTickType = runtimeType(10, 3)
	sampledType = runtimeType(303, 0)
	countedType = runtimeType(20, 0)
	bulkType    = runtimeType(15, 0)
	thrownType  = runtimeType(80, 1)
	catchType   = runtimeType(250, 0)
	switchType  = sourceType(clr.UniversalEvents, "cswitch", 2, field("Value", ntconv.TypeVarUint))
	faultType   = sourceType(clr.UniversalEvents, "soft_page_fault", 3, field("Value", ntconv.TypeVarUint))
	orderType   = sourceType("Shop", "Order", 4, field("Price", ntconv.TypeFloat64), field("Customer", ntconv.TypeUTF16String))
	noteType    = sourceType("Shop", "Note", 5, field("Text", ntconv.TypeUTF16String))
)

// thrown returns the payload of ExceptionThrown.
func thrown(typ, message string, flags uint16) []byte {
	return fields(typ, message, uint64(0), uint32(0), flags, uint16(0))
}

// caught is the payload of ExceptionCatchStart.
var caught = fields(uint64(1), uint64(2), "M", uint16(0))

// pointCycles returns one cycle of each kind whose samples are single events, and of each source of allocations.
func pointCycles() []cycle {
	bulk := fields(uint32(1), uint16(0), uint64(7), uint64(0), uint32(0), uint32(8), uint8(29), intArray, uint32(0))
	return []cycle{
		{sample.Alloc, []step{{tickType, 0, tick(102400, 1024), false}}, []int64{100, 102400}, "type=int[] heap=small", 0},
		{sample.Alloc, []step{{oldTickType, 0, tick(102400, 0), false}}, []int64{1, 102400}, "type=int[] heap=small", 0},
		// 1 / (1 - exp(-1)) objects of 100 KiB
		{sample.Alloc, []step{{sampledType, 0, sampled(102400), false}}, []int64{2, 161994}, "type=int[] heap=large", 0},
		{sample.Alloc, []step{
			{bulkType, 0, bulk, true},
			{countedType, 0, fields(uint64(1), uint64(7), uint32(30), uint64(900), uint16(0)), false},
		}, []int64{30, 900}, "type=int[]", 1},
		{sample.Exceptions, []step{
			{thrownType, 0, thrown("A.B", "no", 4|16), false},
			{catchType, 0, caught, true},
		}, []int64{1}, "exception.type=A.B rethrown=yes handled=yes", 0},
		{sample.OffCPU, []step{{switchType, 0, binary.AppendUvarint(nil, 5), false}}, []int64{1, 500}, "", 0},
		{sample.PageFaults, []step{{faultType, 0, binary.AppendUvarint(nil, 3), false}}, []int64{3}, "fault=soft_page_fault", 0},
		{sample.Events, []step{{orderType, 0, fields(2.5, "x"), false}}, []int64{1}, "event=Shop/Order", 0},
	}
}

// Each kind has the expected sample.
func TestPointKinds(t *testing.T) {
	for i, c := range pointCycles() {
		t.Run(fmt.Sprint(c.kind, i), func(t *testing.T) {
			b, p := c.builder(nil, nil), newPlayer()
			for i := range c.steps {
				b.Add(p.event(&c.steps[i]))
			}
			if got := samplesOf(b.Finish()); !slices.Equal(got, []string{strings.TrimSpace(c.sample()[0])}) {
				t.Errorf("%q, want %q", got, c.sample())
			}
		})
	}
}

// play returns the profile of a list of steps.
func play(o *profile.Options, namer ntconv.Namer, steps ...step) *profile.Profile {
	b, p := profile.New(testInfo(), namer, o), newPlayer()
	for i := range steps {
		b.Add(p.event(&steps[i]))
	}
	return b.Finish()
}

// A profile uses only the best source of allocations, and states the others and its sampling error. Without the sizes
// of objects it does not count objects.
func TestSourcesOfAllocations(t *testing.T) {
	ticked, sized := step{oldTickType, 0, tick(102400, 0), false}, step{tickType, 0, tick(204800, 2048), false}
	random := step{sampledType, 0, sampled(1 << 40), false} // sampled with certainty
	counted := step{countedType, 0, fields(uint64(1), uint64(7), uint32(30), uint64(900), uint16(0)), false}
	for _, c := range []struct {
		steps    []step
		types    string
		estimate string
		total    int64
	}{
		{[]step{sized, sized}, "alloc_objects alloc_space", "estimated from 2 samples (GCAllocationTick), error", 409600},
		{[]step{ticked, sized}, "samples alloc_space",
			"estimated from 2 samples (GCAllocationTick and GCAllocationTick without object sizes)", 307200},
		{[]step{ticked, sized, random}, "alloc_objects alloc_space",
			"computed from AllocationSampled; not used: 1 GCAllocationTick, 1 GCAllocationTick without object sizes", 1 << 40},
		{[]step{counted, ticked, random}, "alloc_objects alloc_space",
			"computed from GCSampledObjectAllocation; not used: 1 AllocationSampled, 1 GCAllocationTick without object sizes", 900},
	} {
		p := play(&profile.Options{Kind: sample.Alloc}, nil, c.steps...)
		var types []string
		for _, typ := range p.Types {
			types = append(types, typ.Type)
		}
		var total int64
		for s := range p.Samples() {
			total += s.Values[1]
		}
		if got := strings.Join(types, " "); got != c.types || total != c.total || p.Main != 1 {
			t.Errorf("types %s, total %d, main %d: want %s, %d, 1", got, total, p.Main, c.types, c.total)
		}
		if got := p.Estimate.String(); !strings.HasPrefix(got, c.estimate) {
			t.Errorf("estimate %q, want %q", got, c.estimate)
		}
	}
}

// A stream omits the number of objects of events that do not state it.
func TestStreamOfAllocations(t *testing.T) {
	var got []string
	s := profile.NewStream(testInfo(), func(w *profile.Weighed[int]) {
		got = append(got, fmt.Sprint(w.Types, w.Values, len(w.Variances)))
	}, &profile.StreamOptions{Kinds: []sample.Kind{sample.Alloc}})
	p := newPlayer()
	for range 2 {
		for i, st := range []step{{tickType, 0, tick(204800, 2048), false}, {oldTickType, 0, tick(102400, 0), false}} {
			s.Add(p.event(&st), i)
		}
	}
	s.Finish()
	sized, ticked := "[{alloc_objects count} {alloc_space bytes}] [100 204800] 2", "[{alloc_space bytes}] [102400] 1"
	if want := []string{sized, ticked, sized, ticked}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// The type is the innermost frame, or only a label, and has the spelling of the Namer.
func TestSubjects(t *testing.T) {
	for _, c := range []struct {
		as    sample.Subject
		names symbol.Names
		leaf  string
		label string
	}{
		{sample.SubjectDefault, symbol.NamesPretty, "int[]", "int[]"},
		{sample.SubjectLeaf, symbol.NamesRaw, intArray, intArray},
		{sample.SubjectLabel, symbol.NamesPretty, "0x10", "int[]"},
	} {
		p := play(&profile.Options{Kind: sample.Alloc, KindOptions: sample.KindOptions{SubjectAs: c.as}}, symbol.New(&symbol.Options{Names: c.names}),
			step{tickType, 0, tick(102400, 1024), false})
		for s := range p.Samples() {
			if got := s.Frames[0].Func.Name; got != c.leaf {
				t.Errorf("%v: innermost frame %q, want %q", c, got, c.leaf)
			}
			if got := byLabel(meters.LabelType)(s); got != c.label {
				t.Errorf("%v: label %q, want %q", c, got, c.label)
			}
		}
	}
}

// Catch blocks belong to the latest exception of their thread that has none. An exception without one is still counted,
// also after a loss, and a catch block without an exception is not.
func TestHandledExceptions(t *testing.T) {
	throw := func(thread int, typ string) step { return step{thrownType, thread, thrown(typ, "", 16), false} }
	catch := func(thread int) step { return step{catchType, thread, caught, true} }
	report := new(ntconv.Report)
	p := play(&profile.Options{Kind: sample.Exceptions, Report: report}, nil,
		throw(0, "Outer"), throw(1, "Other"), throw(0, "Inner"), catch(0), catch(0), catch(0), throw(2, "Lost"))
	got := valueBy(p, 0, func(s *profile.Sample) string {
		return byLabel(meters.LabelExceptionType)(s) + " " + byLabel(meters.LabelHandled)(s)
	})
	if want := "map[Inner yes:1 Lost :1 Other :1 Outer yes:1]"; fmt.Sprint(got) != want {
		t.Errorf("%v, want %s", got, want)
	}
	if n := report.Count(ntconv.CodeUnpaired); n != 0 {
		t.Errorf("%v", report.Entries())
	}
}

// Every exception is in exactly one of the windows that divide the time of the trace, wherever its catch block is, and a
// selection of catch blocks selects the exceptions that they caught.
func TestSelectedExceptions(t *testing.T) {
	var steps []step
	for i := range 40 {
		steps = append(steps, step{thrownType, i % 3, thrown(fmt.Sprint(i), "", 16), false})
		if i%4 > 0 {
			steps = append(steps, step{catchType, i % 3, caught, true})
		}
	}
	count := func(window func(ntconv.Ticks) bool, selects func(*ntconv.Event) bool) (n int64) {
		b, p := profile.New(testInfo(), nil, &profile.Options{Kind: sample.Exceptions, Window: window}), newPlayer()
		for i := range steps {
			e := p.event(&steps[i])
			if b.Watch(e); selects(e) {
				b.Add(e)
			}
		}
		for s := range b.Finish().Samples() {
			n += s.Values[0]
		}
		return n
	}
	for _, cut := range []ntconv.Ticks{0, 15, 20, 100, 105, 333, 5000} {
		before := func(at ntconv.Ticks) bool { return at < cut }
		since := func(at ntconv.Ticks) bool { return at >= cut }
		a := count(before, func(e *ntconv.Event) bool { return before(e.Time) })
		b := count(since, func(e *ntconv.Event) bool { return since(e.Time) })
		if a+b != 40 {
			t.Errorf("cut at %d: %d and %d exceptions, want 40", cut, a, b)
		}
	}
	if n := count(nil, func(e *ntconv.Event) bool { return e.Type == catchType }); n != 30 {
		t.Errorf("%d exceptions have a catch block, want 30", n)
	}
}

// Requested labels have the values of fields, and "exception message" is the field ExceptionMessage.
func TestLabelsOnRequest(t *testing.T) {
	o := sample.KindOptions{Labels: []string{"exception message", "flags=ExceptionFlags", "MethodName", "None"}}
	p := play(&profile.Options{Kind: sample.Exceptions, KindOptions: o}, nil,
		step{thrownType, 0, thrown("A.B", "out of stock", 16), false}, step{catchType, 0, caught, true})
	want := []string{"[1] exception.type=A.B handled=yes exception message=out of stock flags=CLSCompliant MethodName=M"}
	if got := samplesOf(p); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// Kind Events adds up a field. Events without it are counted and reported, and fractions are rounded once.
func TestWeightOfEvents(t *testing.T) {
	report := new(ntconv.Report)
	o := &profile.Options{Kind: sample.Events, KindOptions: sample.KindOptions{Weight: "Price:EUR", Labels: []string{"Customer"}}, Report: report}
	var steps []step
	for range 5 {
		steps = append(steps, step{orderType, 0, fields(0.3, "x"), false}, step{orderType, 1, fields(-1.5, "y"), true})
	}
	steps = append(steps, step{noteType, 0, fields("hello"), true})
	p := play(o, nil, steps...)
	if got, want := fmt.Sprint(p.Types, p.Main), "[{events count} {Price EUR}] 1"; got != want {
		t.Errorf("types %s, want %s", got, want)
	}
	got := valueBy(p, 1, byLabel("Customer"))
	if got["x"] < 1 || got["x"] > 2 || got["x"]+got["y"] != -6 { // 1.5 - 7.5
		t.Errorf("%v", got)
	}
	if n := report.Count(ntconv.CodeNoValue); n != 1 {
		t.Errorf("%d events without a value, want 1", n)
	}
	for s := range p.Samples() {
		if len(s.Frames) == 0 || !strings.HasPrefix(s.Frames[0].Func.Name, "Shop/") {
			t.Errorf("a sample has no frame of its event")
		}
	}
}

// Without a requested kind, events that only describe code and processes are no profile, and all other events are one
// if nothing better is there.
func TestEventsComeLast(t *testing.T) {
	describing := []step{
		{rundownType, 0, nil, true}, {runtimeType(143, 1), 0, methodLoad(0), true},
		{sourceType(clr.UniversalSystem, "ProcessExit", 2), 0, nil, true},
	}
	if p := play(&profile.Options{}, nil, describing...); p.Events != 0 {
		t.Errorf("a %v profile of %d events that only describe", p.Kind, p.Events)
	}
	if p := play(&profile.Options{Kind: sample.Events}, nil, describing...); p.Events != 3 {
		t.Errorf("%d events, want all 3 that were requested", p.Events)
	}
	list := append(describing, step{noteType, 0, fields("hello"), true})
	if p := play(&profile.Options{}, nil, list...); p.Kind != sample.Events || p.Events != 1 {
		t.Errorf("a %v profile of %d events", p.Kind, p.Events)
	}
	list = append(list, step{thrownType, 0, thrown("A.B", "", 16), false})
	if p := play(&profile.Options{}, nil, list...); p.Kind != sample.Exceptions || p.Events != 1 {
		t.Errorf("a %v profile of %d events", p.Kind, p.Events)
	}
}
