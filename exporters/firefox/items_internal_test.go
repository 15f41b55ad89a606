package firefox

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/profile"
	"github.com/ntconv/ntconv/internal/span"
	"github.com/ntconv/ntconv/internal/timeline"
	"github.com/ntconv/ntconv/kind"
)

// A fake is a trace of hand-made items. Node n is frame n-1 called by node n-1.
type fake struct {
	tracks []*timeline.Track
	items  []timeline.Item
	frames []ntconv.Frame
	end    int64
}

func (f *fake) Each(emit func(*timeline.Item) error) error {
	for i := range f.items {
		if err := emit(&f.items[i]); err != nil {
			return err
		}
	}
	return nil
}

func (f *fake) Tracks() []*timeline.Track { return f.tracks }
func (f *fake) Node(n timeline.Node) (parent timeline.Node, frame uint32) {
	return n - 1, uint32(n) - 1
}
func (f *fake) Frame(n uint32) ntconv.Frame { return f.frames[n] }
func (f *fake) Start() time.Time            { return time.Unix(1_700_000_000, 123_456_700) }
func (f *fake) End() int64                  { return f.end }
func (f *fake) Counts() timeline.Counts     { return timeline.Counts{} }

var (
	shop    = newProcess(42, "shop")
	mainOne = &timeline.Track{ID: 2, Kind: timeline.ThreadTrack, Process: shop, TID: 7, Name: "main"}
	gc      = &timeline.Track{ID: 3, Kind: timeline.GCTrack, Process: shop, TID: 9, Name: "GC"}
	memory  = &timeline.Track{ID: 4, Kind: timeline.CounterTrack, Process: shop, TID: 10, Name: "working-set", Unit: "MB"}
	cpu     = []profile.ValueType{{Type: "cpu", Unit: "nanoseconds"}}
	heap    = []profile.ValueType{{Type: "objects", Unit: "count"}, {Type: "space", Unit: "bytes"}}
)

func newProcess(pid uint32, name string) *timeline.Process {
	p := &timeline.Process{PID: pid, Name: name, Command: name + " --fast"}
	p.Track = &timeline.Track{ID: 1, Kind: timeline.ProcessTrack, Process: p, TID: 2_000_000_001, Name: name}
	return p
}

func sample(at int64, n timeline.Node, kind kind.Kind, types []profile.ValueType, values ...int64) timeline.Item {
	return timeline.Item{
		Kind: timeline.Sample, Time: at, Track: mainOne, Thread: mainOne, Stack: n, Weight: &timeline.Weight{Kind: kind, Types: types, Values: values},
	}
}

func frames() []ntconv.Frame {
	return []ntconv.Frame{
		{Func: &ntconv.Function{Name: "Main", File: "a.cs", StartLine: 3}, Line: 12, Mapping: &ntconv.Mapping{File: `C:\app\shop.dll`}, Flags: ntconv.FrameManaged},
		{Func: &ntconv.Function{Name: "JIT_New"}, Mapping: &ntconv.Mapping{File: "/usr/share/dotnet/libcoreclr.so"}},
		{Func: &ntconv.Function{Name: "page_fault"}, Flags: ntconv.FrameKernel},
	}
}

// TestItems compares the file of hand-made items with one that was checked by hand: testdata/items.json.
func TestItems(t *testing.T) {
	report := &ntconv.Report{}
	var out bytes.Buffer
	s := &Sink{w: &out, o: Options{Name: "trace", Version: "1.2", Report: report}, args: newArgEncoder(), info: &ntconv.Info{Format: "nettrace 6"}}
	args := func(values ...timeline.Value) []byte { return s.args.encode(nil, &timeline.Source{Values: values}) }
	f := &fake{
		tracks: []*timeline.Track{shop.Track, gc, mainOne, memory}, end: 9_000_000, frames: frames(),
		items: []timeline.Item{
			sample(0, 3, kind.CPU, cpu, 1_000_000), sample(1_000_001, 2, kind.CPU, cpu, 1_000_000),
			{Kind: timeline.Counter, Time: 1_500_000, Track: memory, Value: 2.5}, {Kind: timeline.Counter, Time: 1_600_000, Track: memory, Value: math.NaN()},
			{
				Kind: timeline.SliceBegin, Time: 2_000_000, Duration: 500, ID: 1, Track: gc, Name: "GC pause gen 0", Category: timeline.CategoryGC, Unfinished: true,
				EndThread: mainOne, Encoded: args(timeline.Value{Name: "reason", Text: "AllocSmall"}, timeline.Value{Name: "number", Kind: timeline.IntValue, Int: 7}),
			},
			{Kind: timeline.SliceEnd, Time: 2_000_500, ID: 1, Track: gc, Name: "GC pause gen 0", Category: timeline.CategoryGC},
			{
				Kind: timeline.Instant, Time: 3_000_000, Track: mainOne, Thread: mainOne, Name: "GCAllocationTick", Category: "Runtime", Stack: 2, Bytes: 100,
				Encoded: args(timeline.Value{Name: "type", Text: "a \"b\"\xff"}, timeline.Value{Name: "type", Kind: timeline.FloatValue, Float: math.Inf(1)}),
			},
			{Kind: timeline.Counter, Time: 4_000_000, Track: memory, Value: 1},
			sample(5_000_000, 0, kind.Imported, heap, 0, 640), sample(5_000_000, 1, kind.Imported, heap, 2, 0),
		},
	}
	if err := s.write(f); err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile("testdata/items.json")
	if err != nil || out.String() != string(want) {
		t.Errorf("%v; got\n%s", err, out.String())
	}
	if n := report.Count(ntconv.CodeNotCarried); n != 2 {
		t.Errorf("%d losses were reported, want a string and a value that is not a number", n)
	}
}

// TestVisible checks that the thread with the most work is visible, with its process, regardless of the number of
// processes.
func TestVisible(t *testing.T) {
	f := &fake{frames: frames()}
	for i := range 100 {
		p := newProcess(uint32(i+1), "p")
		h := &timeline.Track{ID: uint32(1000 + i), Kind: timeline.ThreadTrack, Process: p, TID: uint32(i + 1)}
		f.tracks = append(f.tracks, p.Track, h)
		weight := int64(1)
		if i == 77 {
			weight = 5
		}
		item := sample(int64(i), 1, kind.CPU, cpu, weight)
		item.Track = h
		f.items = append(f.items, item)
	}
	var out bytes.Buffer
	s := &Sink{w: &out, args: newArgEncoder(), info: &ntconv.Info{}}
	if err := s.write(f); err != nil {
		t.Fatal(err)
	}
	var file struct {
		Meta struct{ InitialVisibleThreads, InitialSelectedThreads []int }
	}
	if err := json.Unmarshal(out.Bytes(), &file); err != nil {
		t.Fatal(err)
	}
	v := file.Meta.InitialVisibleThreads
	if !slices.Equal(file.Meta.InitialSelectedThreads, []int{155}) || !slices.Contains(v, 155) || !slices.Contains(v, 154) || len(v) != maxVisible {
		t.Errorf("meta %+v", file.Meta)
	}
}

// TestEmpty: the Firefox Profiler rejects a profile without threads.
func TestEmpty(t *testing.T) {
	var out bytes.Buffer
	s := &Sink{w: &out, args: newArgEncoder(), info: &ntconv.Info{}}
	if err := s.write(&fake{}); err != nil {
		t.Fatal(err)
	}
	var file struct{ Threads []struct{ IsMainThread bool } }
	if err := json.Unmarshal(out.Bytes(), &file); err != nil || len(file.Threads) != 1 || !file.Threads[0].IsMainThread {
		t.Errorf("%v: %s", err, out.String())
	}
}

var errFull = errors.New("disk full")

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errFull }

func TestWriteError(t *testing.T) {
	s := &Sink{w: full{}, args: newArgEncoder(), info: &ntconv.Info{}}
	if err := s.write(&fake{}); !errors.Is(err, errFull) {
		t.Errorf("error %v", err)
	}
}

// FuzzArgs checks that args of any names and values are members of a JSON object with distinct keys that have their
// values, and that their shape lists the keys.
func FuzzArgs(f *testing.F) {
	f.Add("type", "type_", "\xff\x00\"", int64(1<<60), 1.5)
	f.Add("a", "a", "b", int64(-5), math.NaN())
	f.Fuzz(func(t *testing.T, first, second, text string, n int64, x float64) {
		a := newArgEncoder()
		values := []timeline.Value{
			{Name: first, Text: text}, {Name: second, Kind: timeline.IntValue, Int: n}, {Name: first, Kind: timeline.FloatValue, Float: x}, {Name: "cause"},
		}
		encoded := a.encode(nil, &timeline.Source{Values: values})
		if again := a.encode(nil, &timeline.Source{Values: values}); !bytes.Equal(again, encoded) {
			t.Errorf("%q, and then %q", encoded, again)
		}
		_, fields, members := a.decode(encoded)
		checkMembers(t, a, fields, members, len(values))

		s := &span.Span{Name: first, Scope: &span.Scope{Name: text}, Evidence: span.FromPair, Attributes: []span.Attribute{
			{Key: first, Value: span.String(text)}, {Key: second, Value: span.Float(x)}, {Key: second, Value: span.Array([]span.Value{span.Int(n), span.Bytes(text)})},
			{Key: text, Value: span.Map([]span.Attribute{{Key: first, Value: span.Bool(true)}})},
		}}
		_, fields, members = a.decode(a.encode(nil, &timeline.Source{Span: s}))
		checkMembers(t, a, fields, members, len(fields))
	})
}

func checkMembers(t *testing.T, a *argEncoder, fields []uint32, members []byte, n int) {
	t.Helper()
	var object map[string]any
	if err := json.Unmarshal(append(append([]byte(`{"type":0`), members...), '}'), &object); err != nil {
		t.Fatalf("%v: %q", err, members)
	}
	if len(object) != n+1 || len(fields) != n || object["type"] != 0.0 {
		t.Errorf("%d fields, want %d: %q", len(fields), n, members)
	}
	for _, id := range fields {
		if _, ok := object[a.keys[a.fields[id].key].text]; !ok {
			t.Errorf("no %q in %q", a.keys[a.fields[id].key].text, members)
		}
	}
}

// TestShapes checks events whose fields always differ: the memory for them is limited, and losses are reported.
func TestShapes(t *testing.T) {
	a := newArgEncoder()
	n := 0
	for i := range maxShapes + 1000 {
		encoded := a.encode(nil, &timeline.Source{Values: []timeline.Value{{Name: fmt.Sprint("key ", i)}, {Name: "same"}}})
		_, fields, members := a.decode(encoded)
		checkMembers(t, a, fields, members, len(fields))
		n += len(fields)
	}
	if len(a.keys) > maxKeys || len(a.lists) > maxShapes || a.dropped == 0 || n+int(a.dropped) != 2*(maxShapes+1000) {
		t.Errorf("%d keys, %d shapes, %d fields and %d dropped", len(a.keys), len(a.lists), n, a.dropped)
	}
}

func TestMillis(t *testing.T) {
	for nanos, want := range map[int64]string{
		0: "0", 1: "0.000001", 1_000_000: "1", 1_500_000: "1.5", 123_456_789: "123.456789", -1_000_001: "-1.000001", math.MinInt64: "-9223372036854.775807",
	} {
		if got := string(appendMillis(nil, nanos)); got != want {
			t.Errorf("%d ns: %s, want %s", nanos, got, want)
		}
	}
}

func TestCategories(t *testing.T) {
	for file, want := range map[string]int{
		"/usr/share/dotnet/libcoreclr.so": categoryRuntime, `C:\dotnet\clrjit.dll`: categoryRuntime, "/usr/lib/libc.so.6": categoryNative, "": categoryOther,
		"libSystem.Native.so": categoryRuntime,
	} {
		if got := categoryOf(&ntconv.Frame{Mapping: &ntconv.Mapping{File: file}}); got != want {
			t.Errorf("%s: category %s, want %s", file, categories[got].name, categories[want].name)
		}
	}
}

// TestAllocations checks that items cost no allocation once their threads, names and stacks are known.
func TestAllocations(t *testing.T) {
	e, items := newLoad()
	round := func() {
		for i := range items {
			if err := e.item(&items[i]); err != nil {
				t.Fatal(err)
			}
		}
	}
	for range 2000 {
		round()
	}
	if n := testing.AllocsPerRun(100, round); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// newLoad returns an encoder and items of all kinds.
func newLoad() (*encoder, []timeline.Item) {
	args := newArgEncoder()
	encoded := args.encode(nil, &timeline.Source{Values: []timeline.Value{
		{Name: "TypeName", Text: "System.String"}, {Name: "Address", Kind: timeline.IntValue, Int: 1 << 46}, {Name: "ObjectSize", Kind: timeline.IntValue, Int: 64},
	}})
	f := &fake{tracks: []*timeline.Track{shop.Track, gc, mainOne, memory}, frames: frames()}
	return newEncoder(f, nil, args, &profile.MainTypes{}), []timeline.Item{
		sample(1000, 3, kind.CPU, cpu, 1_000_000),
		{Kind: timeline.Counter, Time: 1500, Track: memory, Value: 2.5},
		{Kind: timeline.SliceBegin, Time: 2_000_000, Duration: 500, Track: gc, Name: "GC pause gen 0", Category: timeline.CategoryGC, Encoded: encoded},
		{Kind: timeline.Instant, Time: 3_000_000, Track: mainOne, Name: "GCAllocationTick", Category: "Runtime", Stack: 2, Bytes: 100, Encoded: encoded},
		{Kind: timeline.Instant, Time: 3_000_000, Track: mainOne, Name: "ThreadCreated", Category: "Runtime", Encoded: encoded},
	}
}

func BenchmarkItems(b *testing.B) {
	e, items := newLoad()
	for k, name := range []string{"sample", "counter", "slice", "allocation", "instant"} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for range b.N {
				if err := e.item(&items[k]); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	if err := e.set.Close(); err != nil {
		b.Fatal(err)
	}
}

func TestWeights(t *testing.T) {
	for unit, want := range map[string]string{
		"nanoseconds": "tracing-ms 1", "ns": "tracing-ms 1", "us": "tracing-ms 1000", "\u00b5s": "tracing-ms 1000", "\u03bcs": "tracing-ms 1000", "ms": "tracing-ms 1000000",
		"s": "tracing-ms 1000000000", "seconds": "tracing-ms 1000000000", "": "samples 1", "count": "samples 1", "KiB": "bytes 1024",
	} {
		weight, scale := weightOf(unit)
		if got := fmt.Sprint(weight, " ", scale); got != want {
			t.Errorf("%q: got %s, want %s", unit, got, want)
		}
	}
}
