package symbol_test

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/testing/eventgen"
	"github.com/ntconv/ntconv/ntconvtest"
	"github.com/ntconv/ntconv/symbol"
)

func isDefinition(e *ntconv.Event) bool {
	return e.Type != nil && (e.Type.Provider == "ntconv" || e.Type.Provider == "Universal.System")
}

// sameFrame compares frames by content: frames read from a file have pointers of their own.
func sameFrame(a, b ntconv.Frame) bool {
	fa, fb, ma, mb := a.Func, b.Func, a.Mapping, b.Mapping
	a.Func, a.Mapping, b.Func, b.Mapping = nil, nil, nil, nil
	return a == b && (fa == nil) == (fb == nil) && (fa == nil || *fa == *fb) && (ma == nil) == (mb == nil) && (ma == nil || *ma == *mb)
}

// backFromFile returns a stack as it is read from a file, with addresses only.
func backFromFile(s *ntconv.Stack) *ntconv.Stack { return &ntconv.Stack{PCs: slices.Clone(s.PCs)} }

// checkSynthesis checks the contract of Synthesize for a source of these events.
func checkSynthesis(t failer, info *ntconv.Info, opts *symbol.SynthesizeOptions, events []*ntconv.Event) {
	got, err := ntconvtest.Record(symbol.Synthesize(ntconvtest.Poison(ntconvtest.NewSource(info, events...)), opts))
	if err != nil {
		t.Fatalf("%v", err)
	}
	table := symbol.New(nil)
	seq := map[*ntconv.Thread]uint32{}
	for i, e := range got {
		if !isDefinition(e) {
			want := events[0]
			events = events[1:]
			if want.Kind == ntconv.KindEvent && want.Stack != nil && len(want.Stack.Frames) > 0 {
				checkStack(t, table, want, e)
				want = want.Clone()
				want.Stack = e.Stack
			}
			if err := ntconvtest.Equal(e, want); err != nil {
				t.Fatalf("event %d: %v", i, err)
			}
			continue
		}
		seq[e.Capture]++
		if e.Kind != ntconv.KindEvent || e.Time != events[0].Time || e.Thread.Process != events[0].Thread.Process || e.Stack != nil ||
			e.Seq != seq[e.Capture] || e.Thread.TID != 0 {
			t.Fatalf("definition %d: %+v before %+v", i, e, events[0])
		}
		for f, v := range e.Fields() {
			if v.Kind() == ntconv.ValueError || v.Kind() == ntconv.ValueNull {
				t.Fatalf("definition %d: field %s: %v", i, f.Name, v)
			}
		}
		table.Observe(e)
	}
	if len(events) > 0 {
		t.Fatalf("%d events did not come", len(events))
	}
}

// checkStack checks that the stack resolves to the frames of the source when it is returned.
func checkStack(t failer, table *symbol.Table, want, got *ntconv.Event) {
	frames := table.AppendFrames(nil, got.Thread.Process, backFromFile(got.Stack), got.Time)
	if len(frames) != len(want.Stack.Frames) {
		t.Fatalf("%d frames, want %d", len(frames), len(want.Stack.Frames))
	}
	for i, f := range frames {
		if w := want.Stack.Frames[i]; !sameFrame(f, w) {
			t.Fatalf("frame %d: %+v %+v %+v, want %+v %+v %+v", i, f, f.Func, f.Mapping, w, w.Func, w.Mapping)
		}
	}
	if e := table.Epoch(got.Thread.Process, backFromFile(got.Stack), got.Time); e != 0 {
		t.Fatalf("epoch %d: synthetic addresses are used once", e)
	}
}

var modes = []struct {
	name string
	opts *symbol.SynthesizeOptions
}{
	{"mixed", nil},
	{"real", &symbol.SynthesizeOptions{Addresses: symbol.AddressesReal}},
	{"synthetic", &symbol.SynthesizeOptions{Addresses: symbol.AddressesSynthetic}},
}

func TestSynthesizeFixtures(t *testing.T) {
	for _, f := range ntconvtest.Fixtures() {
		for _, mode := range modes {
			t.Run(f.Name+"/"+mode.name, func(t *testing.T) { checkSynthesis(t, f.Info, mode.opts, f.Events) })
		}
	}
}

func TestSynthesizeGenerated(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := eventgen.Text(20)
		some := func(label string, n int) int { return rapid.IntRange(0, n).Draw(t, label) }
		mappings := []*ntconv.Mapping{nil, {}}
		for range some("mappings", 4) {
			mappings = append(mappings, &ntconv.Mapping{
				Start: rapid.Uint64().Draw(t, "start"), Limit: rapid.Uint64().Draw(t, "limit"), Offset: rapid.Uint64().Draw(t, "offset"),
				File: text.Draw(t, "file"), BuildID: rapid.SampledFrom([]string{"", "00ff", "go/build/id", "F"}).Draw(t, "build id"),
			})
		}
		for range some("real mappings", 2) {
			start := rapid.Uint64Range(0x1000, 0x9000).Draw(t, "start") &^ 0xfff
			mappings = append(mappings, &ntconv.Mapping{Start: start, Limit: start + 0x2000, File: text.Draw(t, "file"), Flags: ntconv.MappingFlags(rapid.Uint8().Draw(t, "flags"))})
		}
		funcs := []*ntconv.Function{nil, {Name: "void [M] T::F()[Tier0]"}}
		for i := range some("funcs", 4) {
			funcs = append(funcs, &ntconv.Function{
				Name: fmt.Sprint("f", i, text.Draw(t, "name")), SystemName: text.Draw(t, "system name"), File: text.Draw(t, "source"), StartLine: rapid.Int32().Draw(t, "line"),
			})
		}
		procs := []*ntconv.Process{{PID: 1, Name: "one", Mappings: mappings[2:]}, {PID: 2}}
		var events []*ntconv.Event
		typ := &ntconv.Type{Provider: "pprof", ID: 1, Name: "sample"}
		for i := range some("events", 12) {
			th := &ntconv.Thread{TID: 5, Process: rapid.SampledFrom(procs).Draw(t, "process")}
			e := &ntconv.Event{Time: ntconv.Ticks(i), Type: typ, Thread: th, Capture: th, Payload: []byte{1}}
			for range some("frames", 5) {
				if e.Stack == nil {
					e.Stack = &ntconv.Stack{PCs: []uint64{7}}
				}
				e.Stack.Frames = append(e.Stack.Frames, ntconv.Frame{
					Func: rapid.SampledFrom(funcs).Draw(t, "func"), Mapping: rapid.SampledFrom(mappings).Draw(t, "mapping"),
					PC: rapid.OneOf(rapid.Uint64(), rapid.Uint64Range(0xffe, 0x5000)).Draw(t, "pc"), Line: rapid.Int32().Draw(t, "line"), Column: rapid.Int32().Draw(t, "column"),
					Flags: ntconv.FrameFlags(rapid.Uint8().Draw(t, "flags")),
				})
			}
			events = append(events, e)
		}
		checkSynthesis(t, nil, rapid.SampledFrom(modes).Draw(t, "mode").opts, events)
	})
}

// frameEvent returns an event whose stack has only frames.
func frameEvent(p *ntconv.Process, frames ...ntconv.Frame) *ntconv.Event {
	th := &ntconv.Thread{TID: 9, Process: p}
	return &ntconv.Event{Time: 100, Type: &ntconv.Type{Provider: "pprof", Name: "sample"}, Thread: th, Capture: th, Stack: &ntconv.Stack{Frames: frames}}
}

// TestSynthesizeForOthers checks that a tool that ignores ntconv's definitions finds processes, files and names.
func TestSynthesizeForOthers(t *testing.T) {
	exe := &ntconv.Mapping{Start: 0x400000, Limit: 0x500000, File: "/opt/app/shop", BuildID: "5f1e0c9a"}
	libc := &ntconv.Mapping{Start: 0x7f0000000000, Limit: 0x7f0000100000, File: "/lib/libc.so.6"}
	leaf, root := &ntconv.Function{Name: "malloc"}, &ntconv.Function{Name: "main.main"}
	p := &ntconv.Process{PID: 77}
	e := frameEvent(p, ntconv.Frame{Func: leaf, Mapping: libc, PC: 0x7f0000000123}, ntconv.Frame{Func: leaf}, ntconv.Frame{Func: root, Mapping: exe, PC: 0x400123})
	src := symbol.Synthesize(ntconvtest.NewSource(&ntconv.Info{PointerSize: 4, Clock: ntconv.Clock{Freq: 1}}, e, e), nil)
	if src.Info().PointerSize != 8 {
		t.Errorf("pointer size %d is too small for synthetic addresses", src.Info().PointerSize)
	}
	got, err := ntconvtest.Record(src)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	table := symbol.New(nil)
	for _, e := range got {
		names = append(names, e.Type.Name)
		if e.Type.Provider != "ntconv" {
			table.Observe(e)
		}
	}
	const want = "ExistingProcess ProcessMapping Mapping ProcessSymbol Frame ProcessMapping Mapping ProcessSymbol Frame " +
		"ProcessMappingMetadata ProcessMapping Mapping ProcessSymbol Frame sample sample"
	if s := strings.Join(names, " "); s != want {
		t.Errorf("events %s\nwant   %s", s, want)
	}
	if got[len(got)-1].Stack != got[len(got)-2].Stack {
		t.Error("equal stacks are two")
	}
	if info := table.Process(p); info.Name != "shop" {
		t.Errorf("process %+v, want the name of the outermost frame's file", info)
	}
	frames := table.AppendFrames(nil, p, backFromFile(got[len(got)-1].Stack), 100)
	for i, w := range []struct{ name, file, build string }{{"malloc", "/lib/libc.so.6", ""}, {"malloc", "shop", ""}, {"main.main", "/opt/app/shop", "5f1e0c9a"}} {
		f := frames[i]
		if f.Func.Name != w.name || f.Mapping == nil || f.Mapping.File != w.file || f.Mapping.BuildID != w.build || f.Flags != 0 {
			t.Errorf("frame %d: %+v %+v %+v, want %+v", i, f, f.Func, f.Mapping, w)
		}
	}
}

func TestSynthesizeCutsLongTexts(t *testing.T) {
	long := strings.Repeat("ä", 40000) // two bytes each, and the limit is odd
	e := frameEvent(&ntconv.Process{PID: 1}, ntconv.Frame{Func: &ntconv.Function{Name: long, File: long}, Mapping: &ntconv.Mapping{File: long}})
	var report ntconv.Report
	got, err := ntconvtest.Record(symbol.Synthesize(ntconvtest.NewSource(nil, e), &symbol.SynthesizeOptions{Report: &report}))
	if err != nil {
		t.Fatal(err)
	}
	if n := report.Count(ntconv.CodeNotCarried); n != 4 { // also the process, which has the name of the mapping
		t.Errorf("%d strings were counted, want 4: %v", n, report.Entries())
	}
	table := symbol.New(nil)
	for _, e := range got {
		table.Observe(e)
	}
	last := got[len(got)-1]
	f := table.AppendFrames(nil, last.Thread.Process, backFromFile(last.Stack), 100)[0]
	if want := long[:65534]; f.Func.Name != want {
		t.Errorf("name of %d bytes, want %d", len(f.Func.Name), len(want))
	}
}

func TestSynthesizeError(t *testing.T) {
	src := ntconvtest.NewSource(nil, frameEvent(&ntconv.Process{PID: 1}, ntconv.Frame{Func: &ntconv.Function{Name: "f"}}))
	src.Err = ntconv.ErrTruncated
	s := symbol.Synthesize(src, nil)
	got, err := ntconvtest.Record(s)
	if len(got) != 6 || !errors.Is(err, ntconv.ErrTruncated) {
		t.Fatalf("%d events, %v", len(got), err)
	}
	if _, err := s.Next(); !errors.Is(err, ntconv.ErrTruncated) {
		t.Errorf("the error did not stay: %v", err)
	}
}

// TestInlinedChainsAreBounded checks the bounds on frames per address and per stack that a file can cause.
func TestInlinedChainsAreBounded(t *testing.T) {
	m := &ntconv.Mapping{Start: 0x1000, Limit: 0x9000, File: "f"}
	chain := func(n int) (frames []ntconv.Frame) {
		for i := range n {
			frames = append(frames, ntconv.Frame{Func: &ntconv.Function{Name: fmt.Sprint("f", i)}, Mapping: m, PC: 0x2000, Flags: ntconv.FrameInlined})
		}
		frames[n-1].Flags = 0
		return frames
	}
	real := &symbol.SynthesizeOptions{Addresses: symbol.AddressesReal}
	for _, n := range []int{1, 2, 1024, 1025, 3000} {
		checkSynthesis(t, nil, real, []*ntconv.Event{frameEvent(&ntconv.Process{PID: 1}, chain(n)...)})
	}
	e := frameEvent(&ntconv.Process{PID: 1}, chain(1000)...)
	got, err := ntconvtest.Record(symbol.Synthesize(ntconvtest.NewSource(nil, e), real))
	if err != nil {
		t.Fatal(err)
	}
	table := symbol.New(nil)
	for _, e := range got {
		table.Observe(e)
	}
	last := got[len(got)-1]
	if len(last.Stack.PCs) != 1 {
		t.Fatalf("%d addresses", len(last.Stack.PCs))
	}
	stack := &ntconv.Stack{PCs: slices.Repeat(last.Stack.PCs, 10_000)}
	frames := table.AppendFrames(nil, last.Thread.Process, stack, 100)
	if n := len(frames); n < 80_000 || n > 1024+10*10_000 {
		t.Errorf("%d frames of 10,000 addresses", n)
	}
	n := len(frames)
	if last, omitted := frames[n-1], frames[n-2]; last.Func.Name != "f999" || omitted.Func.Name != "[inlined functions omitted]" || omitted.Flags&ntconv.FrameInlined == 0 {
		t.Errorf("frames end with %+v and %+v", omitted, last)
	}
	report := new(ntconv.Report)
	if table.ReportOmitted(report); report.Count(ntconv.CodeNotCarried) != 1 {
		t.Errorf("report %v, want one address", report.Entries())
	}
}

// The stacks recognized by pointer are bounded by their frames: 8,190 frames take 0.4 MB.
func TestKnownStacksAreBounded(t *testing.T) {
	const stacks, depth = 500, 8190
	th := &ntconv.Thread{Process: &ntconv.Process{PID: 1}}
	typ, fn := &ntconv.Type{Provider: "p"}, &ntconv.Function{Name: "f"}
	sink := symbol.SynthesizeTo(new(discard), nil)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for range stacks {
		e := &ntconv.Event{Type: typ, Thread: th, Capture: th, Stack: &ntconv.Stack{Frames: slices.Repeat([]ntconv.Frame{{Func: fn}}, depth)}}
		if err := sink.Write(e); err != nil {
			t.Fatal(err)
		}
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if after.HeapAlloc > before.HeapAlloc+32<<20 {
		t.Errorf("%d MiB are held", (after.HeapAlloc-before.HeapAlloc)>>20)
	}
	runtime.KeepAlive(sink)
}

type discard struct{}

func (discard) Write(*ntconv.Event) error { return nil }
func (discard) Close() error              { return nil }

// Mappings without an address, however many, do not affect the symbols of real addresses.
func TestManyMappingsWithoutAddresses(t *testing.T) {
	const n = 1<<15 + 1
	real := &ntconv.Mapping{Start: 0x4000_0000_0000, Limit: 0x4000_4000_0000, File: "real"}
	p := &ntconv.Process{PID: 1, Name: "p", Mappings: []*ntconv.Mapping{real}}
	for range n {
		p.Mappings = append(p.Mappings, new(ntconv.Mapping))
	}
	checkSynthesis(t, nil, nil, []*ntconv.Event{
		frameEvent(p, ntconv.Frame{Func: &ntconv.Function{Name: "f"}, Mapping: real, PC: real.Start + 8}),
		frameEvent(p, ntconv.Frame{Func: &ntconv.Function{Name: "g"}, Mapping: p.Mappings[n], PC: 0x1234}),
	})
}

// The source ends with an error when synthetic addresses are exhausted.
func TestNoMoreAddresses(t *testing.T) {
	p := &ntconv.Process{PID: 1}
	var events []*ntconv.Event
	for i := range 3 {
		events = append(events, frameEvent(p, ntconv.Frame{Func: &ntconv.Function{Name: "f"}, Mapping: &ntconv.Mapping{File: fmt.Sprint(i)}}))
	}
	s := symbol.Synthesize(ntconvtest.NewSource(nil, events...), nil)
	symbol.SkipRegions(s, 2<<20)
	got, err := ntconvtest.Record(s)
	samples := len(slices.DeleteFunc(got, isDefinition))
	var l *ntconv.LimitError
	if samples != 2 || !errors.As(err, &l) || *l != (ntconv.LimitError{Limit: symbol.LimitRegions, Value: 1 << 25, Asked: 1<<25 + 1}) {
		t.Errorf("%d samples, then %v", samples, err)
	}
}

// Processes with the same mappings do not each define all of them, but a Table has all of them.
func TestSharedMappingsAreToldOnce(t *testing.T) {
	const mappings, processes = 300, 100
	var list []*ntconv.Mapping
	for i := range uint64(mappings) {
		list = append(list, &ntconv.Mapping{Start: i << 12, Limit: (i + 1) << 12, File: fmt.Sprint("file", i)})
	}
	var events []*ntconv.Event
	for i := range uint64(processes) {
		m := list[i]
		events = append(events, frameEvent(&ntconv.Process{PID: i + 1, Mappings: list}, ntconv.Frame{Func: &ntconv.Function{Name: "f"}, Mapping: m, PC: m.Start + 5}))
	}
	checkSynthesis(t, nil, nil, events)
	got, err := ntconvtest.Record(symbol.Synthesize(ntconvtest.NewSource(nil, events...), nil))
	if err != nil {
		t.Fatal(err)
	}
	table, defined, files := symbol.New(nil), 0, map[string]bool{}
	for _, e := range got {
		if table.Observe(e); isDefinition(e) && e.Type.Name == "Mapping" {
			defined++
		}
	}
	for _, e := range events {
		for _, m := range table.Mappings(&ntconv.Process{PID: e.Thread.Process.PID}) {
			files[m.File] = true
		}
	}
	if defined > mappings+processes || len(files) != mappings {
		t.Errorf("%d mappings were defined, and %d of %d are known", defined, len(files), mappings)
	}
}
