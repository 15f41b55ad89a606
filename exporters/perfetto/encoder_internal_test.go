package perfetto

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/profile"
	"github.com/ntconv/ntconv/internal/timeline"
	"github.com/ntconv/ntconv/kind"
)

// A fakeTree is a tree of stacks: node n is nodes[n].
type fakeTree struct {
	nodes  []fakeNode
	frames []ntconv.Frame
}

type fakeNode struct {
	parent timeline.Node
	frame  uint32
}

func (t *fakeTree) Node(n timeline.Node) (timeline.Node, uint32) {
	return t.nodes[n].parent, t.nodes[n].frame
}
func (t *fakeTree) Frames() int                 { return len(t.frames) }
func (t *fakeTree) Frame(f uint32) ntconv.Frame { return t.frames[f] }

// text returns the frames of a node as readTrace.stack does.
func (t *fakeTree) text(n timeline.Node) (list []string) {
	if n == timeline.NoStack {
		return []string{"[no stack]"}
	}
	for ; n != timeline.NoStack; n = t.nodes[n].parent {
		f := t.frames[t.nodes[n].frame]
		text := f.Func.Name
		if f.Func.File != "" {
			text += " " + f.Func.File
		}
		if f.Line > 0 {
			text += fmt.Sprintf(":%d", f.Line)
		}
		if f.Mapping != nil {
			text += " (" + f.Mapping.File
			if f.Mapping.BuildID != "" {
				text += " " + f.Mapping.BuildID
			}
			text += ")"
		}
		list = append(list, text)
	}
	slices.Reverse(list)
	return list
}

func newFakeTree(r *rand.Rand, nodes int) *fakeTree {
	t := &fakeTree{nodes: make([]fakeNode, 1)}
	mappings := []*ntconv.Mapping{nil, {File: "app.dll", BuildID: "0aff01"}, {File: "lib/libc.so"}}
	for i := range 40 {
		f := &ntconv.Function{Name: fmt.Sprintf("Method%d", i/2)}
		if i%3 == 0 {
			f.File = fmt.Sprintf("src/file%d.cs", i%7)
		}
		t.frames = append(t.frames, ntconv.Frame{Func: f, Line: int32(i % 5), Mapping: mappings[i%3]})
	}
	for i := range nodes {
		t.nodes = append(t.nodes, fakeNode{timeline.Node(r.IntN(i + 1)), uint32(r.IntN(len(t.frames)))})
	}
	return t
}

// A scenario is tracks and items, and what a reader must find.
type scenario struct {
	tree   *fakeTree
	tracks []*timeline.Track
	items  []timeline.Item
	args   *argEncoder
	values map[uint64]map[string]any // args of slices
}

const scenarioStart = 1_700_000_000_123_456_789

func newScenario(r *rand.Rand) *scenario {
	s := &scenario{tree: newFakeTree(r, 50), args: newArgEncoder(nil), values: map[uint64]map[string]any{}}
	for pid := range uint32(2) {
		p := &timeline.Process{PID: 100 + pid*(1<<31), Name: "dotnet", Command: "dotnet app.dll"}
		add := func(kind timeline.TrackKind, tid uint32, name, unit string) {
			s.tracks = append(s.tracks, &timeline.Track{ID: uint32(len(s.tracks) + 1), Kind: kind, Process: p, TID: tid, Name: name, Unit: unit})
		}
		add(timeline.ProcessTrack, 1, "", "")
		p.Track = s.tracks[len(s.tracks)-1]
		add(timeline.GCTrack, 2, "", "")
		add(timeline.ThreadTrack, 100, "Main", "")
		add(timeline.ThreadTrack, math.MaxUint32, "", "")
		add(timeline.CounterTrack, 3, "heap \xff", "By")
		add(timeline.CounterTrack, 4, "queue", "{item}")
		add(timeline.LaneTrack, 5, "", "")
	}
	s.generate(r)
	return s
}

// A generator generates items in time order whose slices nest, even across tracks, which is stricter than necessary.
type generator struct {
	s    *scenario
	r    *rand.Rand
	now  int64
	id   uint64
	open []timeline.Item // slices
}

func (s *scenario) generate(r *rand.Rand) {
	g := &generator{s: s, r: r}
	for range 300 {
		g.now += r.Int64N(5) * r.Int64N(2000)
		g.closeUntil(g.now)
		g.id++
		g.item()
	}
	g.closeUntil(math.MaxInt64)
}

func (g *generator) closeUntil(t int64) {
	for len(g.open) > 0 {
		last := g.open[len(g.open)-1]
		if last.Time+last.Duration > t {
			return
		}
		g.open = g.open[:len(g.open)-1]
		g.add(timeline.Item{Kind: timeline.SliceEnd, Time: last.Time + last.Duration, Track: last.Track, ID: last.ID, Name: last.Name})
	}
}

func (g *generator) add(items ...timeline.Item) { g.s.items = append(g.s.items, items...) }

func (g *generator) item() {
	s, r := g.s, g.r
	it := timeline.Item{Time: g.now, Track: s.tracks[r.IntN(len(s.tracks))], ID: g.id, Name: fmt.Sprintf("name %d", r.IntN(9)), Category: "Provider"}
	switch r.IntN(6) {
	case 0:
		g.slice(it)
		return
	case 1:
		it.Kind, it.Stack = timeline.Instant, timeline.Node(r.IntN(len(s.tree.nodes)))
	case 2:
		it.Kind, it.Value = timeline.Counter, []float64{0, -1, 1.5, 1 << 60, float64(r.IntN(1000)), math.Inf(1)}[r.IntN(6)]
	case 3:
		if n := len(s.items); n > 0 && (s.items[n-1].Kind == timeline.SliceBegin || s.items[n-1].Kind == timeline.FlowEnd) {
			return // what belongs to a slice that begins is made with it
		}
		it.Kind = timeline.FlowBegin
	default:
		it.Kind, it.Track, it.Stack, it.Weight = timeline.Sample, s.tracks[2+r.IntN(2)], timeline.Node(r.IntN(len(s.tree.nodes))), g.weight()
	}
	g.add(it)
}

// slice begins a slice with args and up to two flows that end there.
func (g *generator) slice(it timeline.Item) {
	s, r := g.s, g.r
	it.Kind, it.Duration = timeline.SliceBegin, 1+r.Int64N(20000)
	if len(g.open) > 0 {
		around := g.open[len(g.open)-1]
		it.Duration = min(it.Duration, around.Time+around.Duration-g.now)
	}
	text, n, f := fmt.Sprintf("value %d", r.IntN(3)), r.Int64()-r.Int64(), r.Float64()
	it.Encoded = s.args.append(nil, &timeline.Source{Values: []timeline.Value{
		{Name: "text", Text: text}, {Name: "n", Kind: timeline.IntValue, Int: n}, {Name: "f", Kind: timeline.FloatValue, Float: f},
		{Name: "bad \xff", Text: "\xff"},
	}})
	s.values[it.ID] = map[string]any{"text": text, "n": n, "f": f, "bad \ufffd": "\ufffd"}
	it.Unfinished, it.Thread, it.EndThread = r.IntN(5) == 0, s.tracks[2], s.tracks[3]
	g.open = append(g.open, it)
	g.add(it)
	for n := range uint64(r.IntN(3)) {
		id := 1e6*(n+1) + it.ID
		g.add(timeline.Item{Kind: timeline.FlowBegin, Time: it.Time, Track: s.tracks[2], ID: id},
			timeline.Item{Kind: timeline.FlowEnd, Time: it.Time, Track: it.Track, ID: id})
	}
}

func (g *generator) weight() *timeline.Weight {
	if g.r.IntN(4) == 0 {
		return &timeline.Weight{Kind: kind.Imported, Types: importedTypes, Values: []int64{g.r.Int64N(1e6)}}
	}
	return &timeline.Weight{Kind: kind.Wall, Types: wallTypes, Values: []int64{1, g.r.Int64N(1e9)}}
}

var (
	wallTypes     = []profile.ValueType{{Type: "samples", Unit: "count"}, {Type: "wall", Unit: "nanoseconds"}}
	importedTypes = []profile.ValueType{{Type: "alloc_space", Unit: "bytes"}}
)

func (s *scenario) encode(t testing.TB, o *Options) []byte {
	var out bytes.Buffer
	e := newEncoder(&out, s.tree, scenarioStart, o)
	if err := e.begin(s.tracks, s.args); err != nil {
		t.Fatal(err)
	}
	for i := range s.items {
		it := s.items[i]
		if err := e.item(&it); err != nil {
			t.Fatal(err)
		}
	}
	if err := e.finish(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// TestItems encodes random items and reads them back: every item is there with all that it has.
func TestItems(t *testing.T) {
	for seed := range uint64(50) {
		s := newScenario(rand.New(rand.NewPCG(seed, 13)))
		for _, o := range []Options{{}, {Samples: StackSamples, Plain: true}} {
			r := read(t, s.encode(t, &o))
			s.checkEvents(t, r)
			s.checkSamples(t, r, o.Samples)
			s.checkTracks(t, r)
			if t.Failed() {
				t.Fatalf("seed %d, %+v", seed, o)
			}
		}
	}
}

func (s *scenario) checkEvents(t *testing.T, r *readTrace) {
	events := r.events
	next := func() *readEvent {
		if len(events) == 0 {
			t.Fatal("too few events")
		}
		e := &events[0]
		events = events[1:]
		return e
	}
	for i := 0; i < len(s.items); i++ {
		it := &s.items[i]
		if it.Kind == timeline.Sample {
			continue
		}
		if it.Kind == timeline.SliceBegin {
			var flows, ends []uint64
			for ; i+2 < len(s.items) && s.items[i+1].Kind == timeline.FlowBegin && s.items[i+2].Kind == timeline.FlowEnd; i += 2 {
				id := s.items[i+1].ID
				ends = append(ends, id)
				if s.items[i+1].Track == it.Track {
					flows = append(flows, id)
				} else if e := next(); e.kind != 3 || !slices.Equal(e.flows, []uint64{id}) || e.track != uint64(s.items[i+1].Track.ID) {
					t.Errorf("item %d: the event before the slice is %+v, want the begin of flow %d", i, e, id)
				}
			}
			e := next()
			s.checkSlice(t, it, e)
			if !slices.Equal(e.ends, ends) || !slices.Equal(e.flows, flows) {
				t.Errorf("item %d: flows %d, %d, want %d, %d", i, e.flows, e.ends, flows, ends)
			}
			continue
		}
		e := next()
		if e.time != scenarioStart+uint64(it.Time) || e.track != uint64(it.Track.ID) {
			t.Errorf("item %d: read %+v, want time %d on track %d", i, e, scenarioStart+it.Time, it.Track.ID)
		}
		s.checkOther(t, i, it, e)
	}
	if len(events) > 0 {
		t.Errorf("%d events too many", len(events))
	}
}

func (s *scenario) checkOther(t *testing.T, i int, it *timeline.Item, e *readEvent) {
	switch it.Kind {
	case timeline.SliceEnd:
		if e.kind != 2 {
			t.Errorf("item %d: kind %d", i, e.kind)
		}
	case timeline.Instant:
		if e.kind != 3 || e.name != it.Name || e.category != it.Category {
			t.Errorf("item %d: read %+v", i, e)
		}
		if want := s.tree.text(it.Stack); it.Stack != timeline.NoStack && !slices.Equal(e.stack, want) {
			t.Errorf("item %d: stack %q, want %q", i, e.stack, want)
		}
	case timeline.Counter:
		if e.kind != 4 || e.value != it.Value {
			t.Errorf("item %d: read %+v, want %v", i, e, it.Value)
		}
	case timeline.FlowBegin:
		if e.kind != 3 || e.category != "flow" || !slices.Equal(e.flows, []uint64{it.ID}) {
			t.Errorf("item %d: read %+v", i, e)
		}
	}
}

func (s *scenario) checkSlice(t *testing.T, it *timeline.Item, e *readEvent) {
	want := maps.Clone(s.values[it.ID])
	want["end_tid"] = uint64(math.MaxUint32)
	if it.Track != it.Thread {
		want["tid"] = uint64(100)
	}
	if it.Unfinished {
		want["unfinished"] = true
	}
	if e.kind != 1 || e.time != scenarioStart+uint64(it.Time) || e.track != uint64(it.Track.ID) || e.name != it.Name || e.category != it.Category || !reflect.DeepEqual(e.args, want) {
		t.Errorf("slice %d: read %+v, want args %v", it.ID, e, want)
	}
}

func (s *scenario) checkSamples(t *testing.T, r *readTrace, form Samples) {
	var want []readSample
	streamed := kind.Auto
	for i := range s.items {
		it := &s.items[i]
		if it.Kind != timeline.Sample {
			continue
		}
		if streamed == kind.Auto {
			streamed = it.Weight.Kind
		}
		at := scenarioStart + uint64(it.Time)
		sample := readSample{pid: uint64(it.Track.Process.PID), tid: uint64(it.Track.TID), stack: s.tree.text(it.Stack)}
		if form == StreamingSamples && it.Weight.Kind == streamed {
			sample.time, sample.streamed = at/1000*1000, true
		} else {
			sample.time, sample.source = at, "ntconv."+it.Weight.Kind.String()
			if it.Weight.Kind == kind.Wall {
				sample.columns, sample.weights = []string{"wall/ns", "samples/count"}, []uint64{uint64(it.Weight.Values[1]), 1}
			} else {
				sample.columns, sample.weights = []string{"alloc_space/bytes"}, []uint64{uint64(it.Weight.Values[0])}
			}
		}
		want = append(want, sample)
	}
	// Streamed samples come in runs after others of the same time; each form is in order.
	for _, streamed := range []bool{false, true} {
		in := func(list []readSample) []readSample {
			return slices.DeleteFunc(slices.Clone(list), func(s readSample) bool { return s.streamed != streamed })
		}
		if got := in(r.samples); !reflect.DeepEqual(got, in(want)) {
			t.Errorf("samples (streamed %t):\n%+v\nwant\n%+v", streamed, got, in(want))
		}
	}
}

func (s *scenario) checkTracks(t *testing.T, r *readTrace) {
	if len(r.tracks) != len(s.tracks) {
		t.Errorf("%d tracks, want %d", len(r.tracks), len(s.tracks))
	}
	for _, track := range s.tracks {
		want := readTrack{uuid: uint64(track.ID), parent: uint64(track.Process.Track.ID)}
		switch track.Kind {
		case timeline.ProcessTrack:
			want = readTrack{uuid: want.uuid, kind: "process", name: "dotnet", command: "dotnet app.dll", pid: uint64(track.Process.PID), explicitOrdering: true}
		case timeline.ThreadTrack:
			want.kind, want.name, want.pid, want.tid = "thread", track.Name, uint64(track.Process.PID), uint64(track.TID)
		case timeline.GCTrack:
			want.name = "GC pauses"
		case timeline.LaneTrack:
			want.name, want.rank = "Async operations", rankLanes
		case timeline.CounterTrack:
			want.kind, want.name, want.unit, want.rank = "counter", map[string]string{"heap \xff": "heap \ufffd", "queue": "queue"}[track.Name], track.Unit, rankCounters
			if track.Unit == "By" {
				want.unit = "bytes"
			}
		}
		if got := *r.tracks[want.uuid]; got != want {
			t.Errorf("track %+v, want %+v", got, want)
		}
	}
}

// TestForgottenThreads restarts the sequences of threads again and again, which makes no difference to a reader.
func TestForgottenThreads(t *testing.T) {
	s := newScenario(rand.New(rand.NewPCG(1, 2)))
	var out bytes.Buffer
	e := newEncoder(&out, s.tree, scenarioStart, &Options{})
	if err := e.begin(s.tracks, s.args); err != nil {
		t.Fatal(err)
	}
	for i := range s.items {
		it := s.items[i]
		if err := e.item(&it); err != nil {
			t.Fatal(err)
		}
		if i%7 == 0 {
			e.closeEvent()
			e.endRun()
			e.restartThreads()
		}
	}
	if err := e.finish(); err != nil {
		t.Fatal(err)
	}
	s.checkSamples(t, read(t, out.Bytes()), StreamingSamples)
}

// TestFullTables: names that do not fit into a table are written where they are used.
func TestFullTables(t *testing.T) {
	s := newScenario(rand.New(rand.NewPCG(3, 4)))
	s.args.names.bytes, s.args.values.bytes = maxStringBytes, maxStringBytes
	encoded := s.args.append(nil, &timeline.Source{Values: []timeline.Value{{Name: "new name", Text: "new value"}, {Name: "new name", Text: "new value"}}})
	s.items = []timeline.Item{{Kind: timeline.Instant, Track: s.tracks[0], Name: "event", Category: "category", Encoded: encoded}}
	var out bytes.Buffer
	e := newEncoder(&out, s.tree, scenarioStart, &Options{})
	e.names.bytes, e.categories.bytes = maxStringBytes, maxStringBytes
	if err := e.begin(s.tracks, s.args); err != nil {
		t.Fatal(err)
	}
	if err := e.item(&s.items[0]); err != nil {
		t.Fatal(err)
	}
	if err := e.finish(); err != nil {
		t.Fatal(err)
	}
	got := read(t, out.Bytes()).events[0]
	if got.name != "event" || got.category != "category" || !reflect.DeepEqual(got.args, map[string]any{"new name": "new value"}) {
		t.Errorf("read %+v", got)
	}
}

// TestOrder rejects an item that is earlier than the previous item: the time difference would be a huge number.
func TestOrder(t *testing.T) {
	s := newScenario(rand.New(rand.NewPCG(5, 6)))
	e := newEncoder(io.Discard, s.tree, scenarioStart, &Options{})
	first := e.item(&timeline.Item{Kind: timeline.Instant, Time: 2, Track: s.tracks[0]})
	second := e.item(&timeline.Item{Kind: timeline.Instant, Time: 1, Track: s.tracks[0]})
	if first != nil || second == nil {
		t.Errorf("errors %v, %v, want nil and one", first, second)
	}
}

// TestCloseMessage compares lengths of any size with those of an encoder that knows the length in advance.
func TestCloseMessage(t *testing.T) {
	for _, size := range []int{0, 1, 127, 128, 16383, 16384, 1 << 21} {
		body := bytes.Repeat([]byte{7}, size)
		got, m := openMessage([]byte{1, 2}, 500)
		got = closeMessage(append(got, body...), m)
		if want := appendBytes([]byte{1, 2}, 500, body); !bytes.Equal(got, want) {
			t.Errorf("size %d: got %d bytes, want %d", size, len(got), len(want))
		}
	}
}
