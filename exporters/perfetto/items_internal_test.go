package perfetto

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/span"
	"github.com/ntconv/ntconv/internal/testing/timelines"
	"github.com/ntconv/ntconv/internal/timeline"
	"github.com/ntconv/ntconv/sample"
)

// A scenario is a timeline of random items in time order, whose slices nest even across tracks.
type scenario struct {
	*timelines.Fake
	*rand.Rand
	args   *argEncoder
	values map[uint64]map[string]any // args of slices
	now    int64
	id     uint64
	open   []timeline.Item // slices
}

func newScenario(seed uint64) *scenario {
	s := &scenario{Rand: rand.New(rand.NewPCG(seed, 13)), args: newArgEncoder(nil), values: map[uint64]map[string]any{}}
	mappings := []*ntconv.Mapping{nil, {File: "app.dll", BuildID: "0aff01"}, {File: "lib/libc.so"}}
	var frames []ntconv.Frame
	for i := range 40 {
		f := &ntconv.Function{Name: fmt.Sprintf("Method%d", i/2)}
		if i%3 == 0 {
			f.File = fmt.Sprintf("src/file%d.cs", i%7)
		}
		frames = append(frames, ntconv.Frame{Func: f, Line: int32(i % 5), Mapping: mappings[i%3]})
	}
	s.Fake = timelines.New(frames...)
	for i := 1; i <= 50; i++ {
		s.Tree = append(s.Tree[:i], timelines.Node{Parent: timeline.Node(s.IntN(i)), Frame: uint32(s.IntN(len(frames)))})
	}
	for pid := range uint32(2) {
		p := s.Process(100+pid*(1<<31), "dotnet")
		s.Track(p, timeline.GCTrack, 2, "GC pauses", "")
		s.Track(p, timeline.ThreadTrack, 100, "Main", "")
		s.Track(p, timeline.ThreadTrack, math.MaxUint32, "", "")
		s.Track(p, timeline.CounterTrack, 3, "heap \xff", "By")
		s.Track(p, timeline.CounterTrack, 4, "queue", "{item}")
		s.Track(p, timeline.LaneTrack, 5, "", "")
	}
	for range 300 {
		s.now += s.Int64N(5) * s.Int64N(2000)
		s.closeUntil(s.now)
		s.id++
		s.item()
	}
	s.closeUntil(math.MaxInt64)
	return s
}

func (s *scenario) closeUntil(t int64) {
	for len(s.open) > 0 {
		last := s.open[len(s.open)-1]
		if last.Time+last.Duration > t {
			return
		}
		s.open = s.open[:len(s.open)-1]
		s.Add(timeline.Item{Kind: timeline.SliceEnd, Time: last.Time + last.Duration, Track: last.Track, ID: last.ID, Name: last.Name})
	}
}

func (s *scenario) item() {
	it := timeline.Item{Time: s.now, Track: s.Shown[s.IntN(len(s.Shown))], ID: s.id, Name: fmt.Sprintf("name %d", s.IntN(9)), Category: "Provider"}
	node := timeline.Node(s.IntN(len(s.Tree)))
	switch s.IntN(6) {
	case 0:
		s.slice(it)
		return
	case 1:
		it.Kind, it.Stack = timeline.Instant, node
	case 2:
		it.Kind, it.Value = timeline.Counter, []float64{0, -1, 1.5, 1 << 60, float64(s.IntN(1000)), math.Inf(1)}[s.IntN(6)]
	case 3:
		it.Kind, it.Value = timeline.Counter, math.NaN()
	default:
		k, types, values := sample.Wall, timelines.Wall, []int64{1, s.Int64N(1e9)}
		if s.IntN(4) == 0 {
			k, types, values = sample.Imported, allocated, []int64{s.Int64N(1e6)}
		}
		it = timelines.Sample(s.Shown[2+s.IntN(2)], s.now, node, k, types, values...)
	}
	s.Add(it)
}

var allocated = []sample.Type{{Type: "alloc_space", Unit: "bytes"}}

// slice begins a slice with args and up to two flows that end there.
func (s *scenario) slice(it timeline.Item) {
	it.Kind, it.Duration = timeline.SliceBegin, 1+s.Int64N(20000)
	if len(s.open) > 0 {
		around := s.open[len(s.open)-1]
		it.Duration = min(it.Duration, around.Time+around.Duration-s.now)
	}
	text, n, f := fmt.Sprintf("value %d", s.IntN(3)), s.Int64()-s.Int64(), s.Float64()
	it.Encoded = s.args.append(nil, &timeline.Source{Attributes: []span.Attribute{
		{Key: "text", Value: span.String(text)}, {Key: "n", Value: span.Int(n)}, {Key: "f", Value: span.Float(f)},
		{Key: "bad \xff", Value: span.String("\xff")},
	}})
	s.values[it.ID] = map[string]any{"text": text, "n": n, "f": f, "bad \ufffd": "\ufffd"}
	it.Unfinished, it.Thread, it.EndThread = s.IntN(5) == 0, s.Shown[2], s.Shown[3]
	s.open = append(s.open, it)
	s.Add(it)
	for n := range uint64(s.IntN(3)) {
		id := 1e6*(n+1) + it.ID
		s.Add(timeline.Item{Kind: timeline.FlowBegin, Time: it.Time, Track: s.Shown[2], ID: id},
			timeline.Item{Kind: timeline.FlowEnd, Time: it.Time, Track: it.Track, ID: id})
	}
}

func encode(t testing.TB, trace timeline.Trace, args *argEncoder, o *Options) []byte {
	var out bytes.Buffer
	if err := newEncoder(&out, trace, uint64(trace.Start().UnixNano()), o).write(args); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// TestItems encodes hand-made and random items and reads them back: every item is there with all that it has.
func TestItems(t *testing.T) {
	for _, o := range []Options{{}, {Samples: StackSamples, Plain: true}} {
		args := newArgEncoder(nil)
		f := timelines.Items(args.append)
		compare(t, read(t, encode(t, f, args, &o)), f, o.Samples, map[uint64]map[string]any{
			1: {}, 2: {}, 3: {"reason": "AllocSmall", "number": int64(7), "attributes.kind": int64(1 << 60)}, 4: {},
		})
		for seed := range uint64(50) {
			s := newScenario(seed)
			if compare(t, read(t, encode(t, s, s.args, &o)), s, o.Samples, s.values); t.Failed() {
				t.Fatalf("seed %d, %+v", seed, o)
			}
		}
	}
}

// TestArgs: args of all types are annotations of their types.
func TestArgs(t *testing.T) {
	args := newArgEncoder(nil)
	r := read(t, encode(t, timelines.Items(args.append), args, &Options{}))
	want := map[string]map[string]any{
		"GCAllocationTick": {"type": math.Inf(1), "bytes": "hex:01ff", "list": []any{true, "null"}, "map": []member{{"a.b", 0.5}}},
		"Written": {
			"Field0": uint64(math.MaxUint64), "Field1": uint64(0x7f00_1234_0000), "Field2": 1e6, "Field3": "é\n", "Field4": "00030201-0000-0000-0000-000000000000",
			"Field5": "2023-11-14T22:13:20.0000001Z", "Field6": []any{int64(-1), int64(1 << 60)}, "Field7": []any{[]member{{"a", int64(1)}, {"b", true}}},
			"Field8": []member{{"a", int64(2)}, {"b", false}}, "Field9": "[]", "$activity_id": "00000001-0000-0000-0000-000000000000",
			"$span_id": "0200000000000000", "$label.shop": "x", "$label.n": int64(3),
		},
	}
	for _, e := range r.events {
		if w := want[e.name]; w != nil && !reflect.DeepEqual(e.args, w) {
			t.Errorf("args %v, want %v", e.args, w)
		}
	}
}

// TestUndecodable: a payload that cannot be decoded is counted once, and its fields state the error.
func TestUndecodable(t *testing.T) {
	report := new(ntconv.Report)
	text := ntconv.FieldType{Code: ntconv.TypeUTF16String}
	e := &ntconv.Event{Payload: []byte{'x'}, Type: &ntconv.Type{Provider: "P", Fields: []ntconv.Field{{Name: "a", Type: text}, {Name: "b", Type: text}}}}
	args := newArgEncoder(report).append(nil, &timeline.Source{Event: e})
	if n := report.Count(ntconv.CodePayload); n != 1 || !bytes.Contains(args, []byte("error: byte 0")) {
		t.Errorf("%d payloads are counted, args %q", n, args)
	}
}

// TestForgottenThreads restarts the sequences of threads again and again, which makes no difference to a reader.
func TestForgottenThreads(t *testing.T) {
	s := newScenario(1)
	var out bytes.Buffer
	e := newEncoder(&out, s, uint64(s.Start().UnixNano()), &Options{})
	if err := e.begin(s.Tracks(), s.args); err != nil {
		t.Fatal(err)
	}
	for i := range s.Items {
		it := s.Items[i]
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
	c := comparison{t: t, r: read(t, out.Bytes()), trace: s, start: uint64(s.Start().UnixNano()), texts: map[timeline.Node][]string{}}
	for i := range s.Items {
		if it := &s.Items[i]; it.Kind == timeline.Sample {
			c.sample(it)
		}
	}
	c.compareSamples()
}

// TestFullTables: names that do not fit into a table are written where they are used.
func TestFullTables(t *testing.T) {
	f := timelines.New()
	args := newArgEncoder(nil)
	args.names.bytes, args.values.bytes = maxStringBytes, maxStringBytes
	value := span.Attribute{Key: "new name", Value: span.String("new value")}
	encoded := args.append(nil, &timeline.Source{Attributes: []span.Attribute{value, value}})
	f.Add(timeline.Item{Kind: timeline.Instant, Track: f.Process(1, "p").Track, Name: "event", Category: "category", Encoded: encoded})
	var out bytes.Buffer
	e := newEncoder(&out, f, 0, &Options{})
	e.names.bytes, e.categories.bytes = maxStringBytes, maxStringBytes
	if err := e.write(args); err != nil {
		t.Fatal(err)
	}
	got := read(t, out.Bytes()).events[0]
	if got.name != "event" || got.category != "category" || !reflect.DeepEqual(got.args, map[string]any{"new name": "new value"}) {
		t.Errorf("read %+v", got)
	}
}

// TestOrder rejects an item that is earlier than the previous item: the time difference would be a huge number.
func TestOrder(t *testing.T) {
	f := timelines.New()
	p := f.Process(1, "p")
	e := newEncoder(io.Discard, f, 0, &Options{})
	first := e.item(&timeline.Item{Kind: timeline.Instant, Time: 2, Track: p.Track})
	second := e.item(&timeline.Item{Kind: timeline.Instant, Time: 1, Track: p.Track})
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

// TestAllocations checks items whose names and stacks are known.
func TestAllocations(t *testing.T) {
	for _, o := range []Options{{}, {Samples: StackSamples}, {Plain: true}} {
		args := newArgEncoder(nil)
		f := timelines.Items(args.append)
		e := newEncoder(io.Discard, f, 0, &o)
		if err := e.begin(f.Tracks(), args); err != nil {
			t.Fatal(err)
		}
		f.CheckAllocations(t, e.item)
	}
}

// TestArgsDoNotAllocate encodes payloads whose names and strings are known.
func TestArgsDoNotAllocate(t *testing.T) {
	events := timelines.Events(t, "jit")
	a, src := newArgEncoder(nil), new(timeline.Source)
	var dst []byte
	encode := func() {
		for _, e := range events {
			src.Event = e
			dst = a.append(dst[:0], src)
		}
	}
	for range 5 {
		encode() // until the strings that repeat have numbers
	}
	if n := testing.AllocsPerRun(3, encode); n > 1 {
		t.Errorf("%.0f allocations for %d events", n, len(events))
	}
}
