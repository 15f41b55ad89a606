package symbol_test

import (
	"errors"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/events/clr"
	"github.com/ntconv/ntconv/ntconvtest"
	"github.com/ntconv/ntconv/symbol"
)

var _ ntconv.Namer = (*symbol.Table)(nil)

// interesting returns one type of each kind of event that a table reads.
func interesting() (types []*ntconv.Type) {
	for _, k := range []typeKey{
		{clr.Runtime, 141, 1}, {clr.Runtime, 142, 1}, {clr.Runtime, 143, 2}, {clr.Runtime, 144, 2}, {clr.Runtime, 152, 2}, {clr.Runtime, 187, 0},
		{clr.Rundown, 142, 1}, {clr.Rundown, 143, 1}, {clr.Rundown, 144, 1}, {clr.Rundown, 154, 2}, {clr.EventPipe, 1, 1},
		{clr.UniversalSystem, 0, 0}, {clr.UniversalSystem, 1, 0}, {clr.UniversalSystem, 2, 0}, {clr.UniversalSystem, 3, 0},
		{clr.UniversalSystem, 4, 0}, {clr.UniversalSystem, 5, 0},
	} {
		types = append(types, &ntconv.Type{Provider: k.provider, ID: k.id, Version: k.version})
	}
	return types
}

// unrelatedEvents returns events that define nothing, of as many types as traces have hot ones.
func unrelatedEvents() (events []*ntconv.Event) {
	th := &ntconv.Thread{TID: 1, Process: &ntconv.Process{PID: 42}}
	for i := range 4 {
		events = append(events, &ntconv.Event{
			Type: &ntconv.Type{Provider: clr.SampleProfiler, ID: uint32(i)}, Thread: th, Capture: th, Payload: []byte{2, 0, 0, 0},
			Stack: &ntconv.Stack{PCs: []uint64{0x1000, 0x1040, 0x5000}},
		})
	}
	return events
}

func TestAllocations(t *testing.T) {
	s := newStream(t, symbol.New(nil))
	s.method(1, clr.MethodLoaded, code{0x1000, 0x80, 1, "A"})
	s.method(2, clr.MethodLoaded, code{0x2000, 0x80, 1, "B"})
	s.mapping(1, 1, 0x400000, 0x40ffff, 0, "/bin/app", 0)
	s.symbol(1, 1, 0x400100, 0x4001ff, "main")
	events := unrelatedEvents()
	stack := &ntconv.Stack{PCs: []uint64{0x1010, 0x2010, 0x400110, 0x400900, 0x99999}}
	frames := make([]ntconv.Frame, 0, len(stack.PCs))
	for _, redefined := range []bool{false, true} {
		if redefined {
			s.method(5, clr.MethodLoaded, code{0x1000, 0x80, 2, "C"})
		}
		if n := testing.AllocsPerRun(100, func() {
			for _, e := range events {
				s.table.Observe(e)
			}
		}); n != 0 {
			t.Errorf("Observe allocates %v times for events without names", n)
		}
		if n := testing.AllocsPerRun(100, func() {
			frames = s.table.AppendFrames(frames[:0], s.proc, stack, 4)
			frames = s.table.AppendFrames(frames[:0], s.proc, stack, 9)
		}); n != 0 {
			t.Errorf("AppendFrames allocates %v times for frames it has named before", n)
		}
		if n := testing.AllocsPerRun(100, func() { s.table.Epoch(s.proc, stack, 100) }); n != 0 {
			t.Errorf("Epoch allocates %v times", n)
		}
	}
}

func TestSourcesOwnFrames(t *testing.T) {
	s := newStream(t, symbol.New(nil))
	s.method(1, clr.MethodLoaded, code{0x1000, 0x80, 1, "A"})
	own := &ntconv.Stack{PCs: []uint64{0x1000}, Frames: []ntconv.Frame{{Func: &ntconv.Function{Name: "own"}, Line: 3}}}
	if f := s.table.AppendFrames(nil, s.proc, own, 5); len(f) != 1 || f[0] != own.Frames[0] {
		t.Errorf("frames %+v", f)
	}
	if f := s.table.AppendFrames(nil, s.proc, nil, 5); f != nil {
		t.Errorf("frames of no stack %+v", f)
	}
}

func TestScanAndWatch(t *testing.T) {
	events := unrelatedEvents()
	events[1].Kind = ntconv.KindDefine
	events = append(events, &ntconv.Event{Kind: ntconv.KindMark, Mark: &ntconv.Mark{}})
	got, err := ntconvtest.Record(symbol.Watch(ntconvtest.Poison(ntconvtest.NewSource(nil, events...)), symbol.New(nil)))
	if err != nil || len(got) != len(events) {
		t.Fatalf("%d events, %v", len(got), err)
	}
	for i := range got {
		if err := ntconvtest.Equal(got[i], events[i]); err != nil {
			t.Error(err)
		}
	}
	if err := symbol.New(nil).Scan(ntconvtest.NewSource(nil, events...)); err != nil {
		t.Error(err)
	}
	bad := ntconvtest.NewSource(nil, events...)
	bad.Err = ntconv.ErrCorrupt
	if err := symbol.New(nil).Scan(bad); !errors.Is(err, ntconv.ErrCorrupt) {
		t.Errorf("error %v", err)
	}
}

// FuzzObserve checks that no payload makes a table panic, change the event, or return no frame for an address.
func FuzzObserve(f *testing.F) {
	types := interesting()
	own, err := ntconvtest.Record(symbol.Synthesize(ntconvtest.NewSource(nil, frameEvent(&ntconv.Process{PID: 1}, ntconv.Frame{Func: &ntconv.Function{Name: "f"}, PC: 5})), nil))
	if err != nil {
		f.Fatal(err)
	}
	for _, e := range own {
		if isDefinition(e) {
			f.Add(append([]byte{byte(len(types)), byte(len(e.Payload))}, e.Payload...), uint64(0x2000_0000_0008))
			types = append(types, e.Type)
		}
	}
	seeds := func(payloads ...[]byte) {
		for i := range types {
			for _, p := range payloads {
				f.Add(append([]byte{byte(i), byte(len(p))}, p...), uint64(0x1000))
			}
		}
	}
	seeds(nil, make([]byte, 64), []byte("\x07\x80\x20\xff\x20\x00\x03\x00abc\x00"))
	f.Fuzz(func(t *testing.T, b []byte, pc uint64) {
		table, defined := symbol.New(nil), false
		p := &ntconv.Process{PID: 1}
		th := &ntconv.Thread{TID: 1, Process: p}
		stack := &ntconv.Stack{PCs: []uint64{pc, pc + 1}}
		for now := ntconv.Ticks(0); len(b) >= 2; now++ {
			n := min(int(b[1]), len(b)-2)
			e := &ntconv.Event{Time: now, Type: types[int(b[0])%len(types)], Thread: th, Capture: th, Payload: b[2 : 2+n]}
			defined = defined || e.Type.Provider == "ntconv"
			before := e.Clone()
			table.Observe(e)
			if err := ntconvtest.Equal(before, e); err != nil {
				t.Fatal(err)
			}
			table.Epoch(p, stack, 100)
			b = b[2+n:]
		}
		frames := table.AppendFrames(nil, p, stack, 3)
		if len(frames) != 2 {
			t.Fatalf("%d frames for 2 addresses", len(frames))
		}
		for i, f := range frames {
			if f.Func == nil && defined {
				continue // as its definition specifies
			}
			if f.Func == nil || f.Func.Name == "" && !defined || f.PC != stack.PCs[i] && !defined {
				t.Fatalf("frame %d: %+v", i, f)
			}
		}
		for i, m := range table.Mappings(p) {
			if m == nil || i > 0 && m.Start < table.Mappings(p)[i-1].Start {
				t.Fatalf("mapping %d: %+v", i, m)
			}
		}
	})
}
