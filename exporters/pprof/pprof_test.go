package pprof_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/pprof/profile"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/exporters/pprof"
	"github.com/ntconv/ntconv/sample"
)

// The traces of these tests have a clock of 10 MHz: 100 ns per tick.
func testInfo() *ntconv.Info {
	return &ntconv.Info{
		Format: "test 1",
		Clock:  ntconv.Clock{Freq: 1e7, Tick: 1000, Wall: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)},
		Attrs:  ntconv.Attrs{{Key: "ExpectedCPUSamplingRate", Value: "1000000"}},
	}
}

var (
	threadSample = &ntconv.Type{Provider: "Microsoft-DotNETCore-SampleProfiler"}
	shop         = &ntconv.Process{PID: 42}
	till         = &ntconv.Thread{TID: 7, Name: "till", Process: shop}
	idle         = &ntconv.Thread{TID: 0, Process: shop}
)

func sampled(t *ntconv.Thread, at ntconv.Ticks, s *ntconv.Stack) *ntconv.Event {
	return &ntconv.Event{Type: threadSample, Thread: t, Capture: t, Time: at, Stack: s, CPU: ntconv.CPUUnknown,
		Payload: binary.LittleEndian.AppendUint32(nil, 2)}
}

// table is a Namer with fixed frames by address.
type table struct {
	ntconv.NoNames
	frames  map[uint64][]ntconv.Frame
	modules []*ntconv.Mapping
	process ntconv.ProcessInfo
}

func (n *table) AppendFrames(dst []ntconv.Frame, _ *ntconv.Process, s *ntconv.Stack, _ ntconv.Ticks) []ntconv.Frame {
	for _, pc := range s.PCs {
		dst = append(dst, n.frames[pc]...)
	}
	return append(dst, s.Frames...)
}
func (n *table) Mappings(*ntconv.Process) []*ntconv.Mapping { return n.modules }
func (n *table) Process(*ntconv.Process) ntconv.ProcessInfo { return n.process }
func (n *table) name(pc uint64, names ...string) *table     { return n.in(nil, pc, names...) }
func (n *table) in(m *ntconv.Mapping, pc uint64, names ...string) *table {
	if n.frames == nil {
		n.frames = map[uint64][]ntconv.Frame{}
	}
	for i, name := range names {
		f := ntconv.Frame{Func: &ntconv.Function{Name: name}, PC: pc, Mapping: m}
		if i < len(names)-1 {
			f.Flags = ntconv.FrameInlined
		}
		n.frames[pc] = append(n.frames[pc], f)
	}
	return n
}

// export writes a profile of some events and reads it with pprof's own library. Each event is passed in the same
// memory, which is overwritten afterwards.
func export(t testing.TB, info *ntconv.Info, namer ntconv.Namer, o *pprof.Options, events ...*ntconv.Event) *profile.Profile {
	t.Helper()
	p, err := profile.ParseData(encode(t, info, namer, o, events...))
	if err != nil {
		t.Fatalf("parse: %v", err)
	}
	if err := p.CheckValid(); err != nil {
		t.Fatalf("invalid: %v", err)
	}
	return p
}

func encode(t testing.TB, info *ntconv.Info, namer ntconv.Namer, o *pprof.Options, events ...*ntconv.Event) []byte {
	t.Helper()
	var out bytes.Buffer
	sink := pprof.New(&out, info, namer, o)
	var lent ntconv.Event
	var payload [64]byte
	for _, e := range events {
		lent = *e
		lent.Payload = payload[:copy(payload[:], e.Payload)]
		if err := sink.Write(&lent); err != nil {
			t.Fatal(err)
		}
		for i := range payload {
			payload[i] = 0xaa
		}
		lent = ntconv.Event{Kind: ntconv.KindOpaque, Time: -1}
	}
	if err := sink.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// describe returns a sample as a string: values, lines from the leaf with "+" between those of one location, labels.
func describe(s *profile.Sample) string {
	var frames, labels []string
	for _, l := range s.Location {
		var lines []string
		for _, n := range l.Line {
			lines = append(lines, n.Function.Name)
		}
		frames = append(frames, strings.Join(lines, "+"))
	}
	for k, v := range s.Label {
		labels = append(labels, fmt.Sprintf("%s=%v", k, v))
	}
	for k, v := range s.NumLabel {
		labels = append(labels, fmt.Sprintf("%s=%v%v", k, v, s.NumUnit[k]))
	}
	slices.Sort(labels)
	return fmt.Sprintf("%v %s {%s}", s.Value, strings.Join(frames, "<"), strings.Join(labels, " "))
}

func TestProfile(t *testing.T) {
	app := &ntconv.Mapping{Start: 0x1000, Limit: 0x2000, Offset: 64, File: "/srv/shop.dll", BuildID: "abcd01"}
	lib := &ntconv.Mapping{Start: 0x8000, Limit: 0x9000, File: "/usr/lib/libcoreclr.so"}
	namer := (&table{modules: []*ntconv.Mapping{lib, app}, process: ntconv.ProcessInfo{Name: "shop"}}).
		in(lib, 0x8010, "libcoreclr.so+0x10").in(app, 0x1010, "Shop.Price", "Shop.Total").in(app, 0x1020, "Shop.Main")
	namer.frames[0x8010][0].Flags |= ntconv.FrameUnresolved
	namer.frames[0x1020][0].Func.File, namer.frames[0x1020][0].Func.StartLine, namer.frames[0x1020][0].Line = "shop.cs", 3, 7
	namer.frames[0x1020][0].Func.SystemName = "shop!Shop.Main(string[])"
	namer.frames[0x1010][0].Func.SystemName = "Shop.Price"
	report := &ntconv.Report{}
	report.Add(ntconv.CodeEventsLost, 3, 99)
	report.Add(ntconv.CodeThreadReused, 1, 5) // not in the comments, because it is only informational
	leaf := &ntconv.Stack{PCs: []uint64{0x8010, 0x1010, 0x1020}}
	p := export(t, testInfo(), namer, &pprof.Options{Options: sample.Options{
		Report: report, Comments: []string{"ntconv test"}, Remarks: func() []string { return []string{"the last one"} },
	}}, sampled(till, 1000, leaf), sampled(idle, 1500, &ntconv.Stack{PCs: []uint64{0x1020}}), sampled(till, 2000, &ntconv.Stack{PCs: []uint64{0x8010, 0x1010, 0x1020}}),
		&ntconv.Event{Type: &ntconv.Type{Provider: "x"}, Thread: till, Capture: till, Time: 21000})

	var got []string
	for _, s := range p.Sample {
		got = append(got, describe(s))
	}
	want := []string{
		"[2 200000] libcoreclr.so+0x10<Shop.Price+Shop.Total<Shop.Main {pid=[42][id] process=[shop] state=[Managed] thread=[till] tid=[7][id]}",
		"[1 100000] Shop.Main {pid=[42][id] process=[shop] state=[Managed] tid=[0][id]}",
	}
	if !slices.Equal(got, want) {
		t.Errorf("samples\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	header := fmt.Sprintf("%v %v | %s/%s %d | %s | %d %d", *p.SampleType[0], *p.SampleType[1], p.PeriodType.Type, p.PeriodType.Unit, p.Period, p.DefaultSampleType, p.TimeNanos, p.DurationNanos)
	if want := fmt.Sprintf("{samples count 0 0} {wall nanoseconds 0 0} | wall/nanoseconds 1000000 | wall | %d 2000000", testInfo().Clock.Wall.UnixNano()); zeroIndexes(header) != want {
		t.Errorf("header %s\nwant   %s", zeroIndexes(header), want)
	}
	comments := []string{"ntconv test", "events-lost: 3 events were lost by the recorder",
		"22.2% of frames are unresolved (native module without symbols, most in libcoreclr.so): on the stack for 66.7% of wall time, leaf for 66.7%", "the last one"}
	if !slices.Equal(p.Comments, comments) {
		t.Errorf("comments %q", p.Comments)
	}
	checkTables(t, p)
}

// zeroIndexes clears the string indexes that the library stores next to the strings.
func zeroIndexes(s string) string {
	s = strings.ReplaceAll(s, "count 1 2", "count 0 0")
	return strings.ReplaceAll(s, "nanoseconds 3 4", "nanoseconds 0 0")
}

func checkTables(t *testing.T, p *profile.Profile) {
	t.Helper()
	if len(p.Mapping) != 2 || len(p.Location) != 3 || len(p.Function) != 4 {
		t.Fatalf("%d mappings, %d locations, %d functions", len(p.Mapping), len(p.Location), len(p.Function))
	}
	m := p.Mapping[0]
	if m.ID != 1 || m.File != "/srv/shop.dll" || m.Start != 0x1000 || m.Limit != 0x2000 || m.Offset != 64 || m.BuildID != "abcd01" ||
		!m.HasFunctions || !m.HasFilenames || !m.HasLineNumbers || !m.HasInlineFrames {
		t.Errorf("main mapping %+v", *m)
	}
	if m := p.Mapping[1]; m.File != "/usr/lib/libcoreclr.so" || m.HasFunctions || m.HasFilenames || m.HasLineNumbers || m.HasInlineFrames {
		t.Errorf("library %+v", *m)
	}
	for i, l := range p.Location {
		if l.ID != uint64(i+1) {
			t.Errorf("location %d has id %d", i, l.ID)
		}
	}
	for _, f := range p.Function {
		system := map[string]string{"Shop.Main": "shop!Shop.Main(string[])"}[f.Name]
		if f.SystemName != system {
			t.Errorf("function %q has the system name %q, want %q", f.Name, f.SystemName, system)
		}
		if f.Name == "Shop.Main" && (f.Filename != "shop.cs" || f.StartLine != 3) {
			t.Errorf("function %+v", *f)
		}
	}
}

func TestEmptyTrace(t *testing.T) {
	p := export(t, testInfo(), nil, nil)
	if len(p.Sample) != 0 || len(p.SampleType) != 2 || p.DurationNanos != 0 {
		t.Errorf("profile %v", p)
	}
	info := testInfo()
	info.Clock.Wall = time.Time{}
	if p := export(t, info, nil, nil, sampled(till, 5, nil)); p.TimeNanos != 0 || len(p.Sample) != 1 {
		t.Errorf("without a wall clock: %v", p)
	}
}

// A trace without samples of a kind produces an empty, valid profile of that kind. Without a kind, it produces a profile
// of its events.
func TestNoSamplesOfKind(t *testing.T) {
	event := &ntconv.Event{Kind: ntconv.KindEvent, Time: 1, Type: &ntconv.Type{Provider: "Shop", Name: "Sale"}}
	for _, k := range []sample.Kind{sample.Wall, sample.CPU, sample.Imported, sample.GC, sample.Requests} {
		p := export(t, testInfo(), nil, &pprof.Options{Options: sample.Options{Kind: k}}, event)
		if len(p.Sample) != 0 || p.CheckValid() != nil {
			t.Errorf("%v: %v, %v", k, p, p.CheckValid())
		}
	}
	if p := export(t, testInfo(), nil, nil, event); len(p.Sample) != 1 || p.SampleType[0].Type != "events" {
		t.Errorf("auto: %v", p)
	}
}

// Equal events produce equal bytes, compressed or not.
func TestOutputIsDeterministic(t *testing.T) {
	events := randomEvents(3000, 40)
	for _, o := range []pprof.Options{{}, {Uncompressed: true}, {Level: 6}, {Options: sample.Options{DropLabels: []string{"tid"}}}} {
		first := encode(t, testInfo(), nil, &o, events...)
		for i := range 20 {
			if !bytes.Equal(encode(t, testInfo(), nil, &o, events...), first) {
				t.Fatalf("%+v: run %d differs", o, i)
			}
		}
	}
}

func TestDropLabels(t *testing.T) {
	namer := (&table{}).name(1, "a")
	s := &ntconv.Stack{PCs: []uint64{1}}
	p := export(t, testInfo(), namer, &pprof.Options{Options: sample.Options{DropLabels: []string{"tid", "pid", "state"}}}, sampled(till, 0, s), sampled(idle, 5, s), sampled(till, 10, s), sampled(idle, 15, s), ended(100))
	if len(p.Sample) != 1 || describe(p.Sample[0]) != "[4 4000] a {}" {
		t.Errorf("samples %v", p.Sample)
	}
}

func TestErrors(t *testing.T) {
	if err := pprof.New(&bytes.Buffer{}, testInfo(), nil, &pprof.Options{Level: 77}).Close(); err == nil {
		t.Error("level 77 was accepted")
	}
	for _, raw := range []bool{false, true} {
		s := pprof.New(broken{}, testInfo(), nil, &pprof.Options{Uncompressed: raw})
		for _, e := range randomEvents(20000, 20000) {
			_ = s.Write(e)
		}
		if err := s.Close(); !errors.Is(err, errBroken) {
			t.Errorf("error %v, want that of the writer", err)
		}
	}
}

// ended returns an event at a time, so that the recording does not end before.
func ended(at ntconv.Ticks) *ntconv.Event {
	return &ntconv.Event{Type: &ntconv.Type{Provider: "Shop", ID: 1}, Thread: till, Capture: till, Time: at, CPU: ntconv.CPUUnknown}
}

type broken struct{}

var errBroken = errors.New("broken")

func (broken) Write([]byte) (int, error) { return 0, errBroken }

func TestSummary(t *testing.T) {
	var out bytes.Buffer
	s := pprof.New(&out, testInfo(), (&table{}).name(1, "a", "b"), nil)
	_ = s.Write(sampled(till, 0, &ntconv.Stack{PCs: []uint64{1}}))
	_ = s.Write(sampled(till, 0, &ntconv.Stack{PCs: []uint64{1, 1}}))
	_ = s.Write(ended(20_000))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	want := sample.Summary{
		Kind: sample.Wall, Events: 2, Items: 2, Main: sample.Type{Type: "wall", Unit: "nanoseconds"},
		Total: 1_000_000, Frames: 6, // two simultaneous samples have no interval
		Others: []sample.Other{{Kind: sample.Events, N: 3}},
	}
	if got := s.Summary(); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// The counts of a summary equal those that a reader of the profile computes.
func TestSummaryOfUnresolvedFrames(t *testing.T) {
	var out bytes.Buffer
	s := pprof.New(&out, testInfo(), nil, &pprof.Options{Uncompressed: true})
	named := ntconv.Frame{Func: &ntconv.Function{Name: "a"}}
	unnamed := ntconv.Frame{Func: &ntconv.Function{Name: "?"}, Flags: ntconv.FrameUnresolved}
	for i, stack := range []string{"a", "a?", "?a", "??", "aaa", "?"} {
		var frames []ntconv.Frame
		for _, c := range stack {
			if c == 'a' {
				frames = append(frames, named)
			} else {
				frames = append(frames, unnamed)
			}
		}
		_ = s.Write(sampled(till, ntconv.Ticks(10*i*i), &ntconv.Stack{Frames: frames}))
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	p, err := profile.ParseData(out.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	var want sample.Unresolved
	var total, frames int64
	for _, x := range p.Sample {
		n, passing := x.Value[0], false
		total += x.Value[1]
		for i, l := range x.Location {
			frames += n
			if l.Line[0].Function.Name == "a" {
				continue
			}
			passing = true
			want.Frames, want.NoModule = want.Frames+n, want.NoModule+n
			if i == 0 {
				want.Leaf += x.Value[1]
			}
		}
		if passing {
			want.Passing += x.Value[1]
		}
	}
	if got := s.Summary(); got.Unresolved != want || got.Total != total || got.Frames != frames || want.Frames == 0 || want.Leaf == want.Passing {
		t.Errorf("got %+v, want %+v, total %d, %d frames", got, want, total, frames)
	}
}
