package timelines

import (
	"math"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/span"
	"github.com/ntconv/ntconv/internal/timeline"
	"github.com/ntconv/ntconv/sample"
)

// Sample types of the samples in Items: of the kinds sample.CPU, sample.Wall and sample.Imported.
var (
	CPU  = []sample.Type{{Type: "cpu", Unit: "nanoseconds"}}
	Wall = []sample.Type{{Type: "samples", Unit: "count"}, {Type: "wall", Unit: "nanoseconds"}}
	Heap = []sample.Type{{Type: "objects", Unit: "count"}, {Type: "space", Unit: "kilobytes"}}
)

// Sample returns a sample on a track. The weight represents no time unless the first value of types is one.
func Sample(t *timeline.Track, at int64, n timeline.Node, k sample.Kind, types []sample.Type, values ...int64) timeline.Item {
	w := &timeline.Weight{Kind: k, Types: types, Values: values, Until: at}
	for i := range types {
		if types[i].Unit == "nanoseconds" {
			w.Until = at + values[i]
		}
	}
	return timeline.Item{Kind: timeline.Sample, Time: at, Track: t, Thread: t, Stack: n, Weight: w}
}

// Slice returns the begin and the end of a slice.
func Slice(t *timeline.Track, id uint64, at, duration int64, name, category string) (begin, end timeline.Item) {
	begin = timeline.Item{Kind: timeline.SliceBegin, Time: at, Duration: duration, ID: id, Track: t, Name: name, Category: category}
	if t.Kind == timeline.ThreadTrack {
		begin.Thread = t
	}
	end = timeline.Item{Kind: timeline.SliceEnd, Time: at + duration, ID: id, Track: t, Name: name, Category: category}
	return begin, end
}

// Items returns a timeline with all that items have, also what formats cannot represent: times that are not microseconds,
// a thread that waits, samples without a stack, negative and large values, two sample types, lanes with an arrow, slices
// that end on another thread or not at all, numbers that are not finite, strings that are not valid Unicode, args of all
// types. args is timeline.Options.Args of an exporter, or nil.
func Items(args func(dst []byte, s *timeline.Source) []byte) *Fake {
	f := New(
		ntconv.Frame{
			Func: &ntconv.Function{Name: "Main", File: "a.cs", StartLine: 3}, Line: 12, Column: 3, Flags: ntconv.FrameManaged,
			Mapping: &ntconv.Mapping{File: `C:\app\shop.dll`, BuildID: "0aff01"},
		},
		ntconv.Frame{Func: &ntconv.Function{Name: "JIT_New\xff"}, Mapping: &ntconv.Mapping{File: "/usr/share/dotnet/libcoreclr.so"}},
		ntconv.Frame{Func: &ntconv.Function{Name: "page_fault"}, Flags: ntconv.FrameKernel},
	)
	shop := f.Process(42, "shop")
	gc := f.Track(shop, timeline.GCTrack, 9, "GC pauses", "")
	main := f.Track(shop, timeline.ThreadTrack, 7, "main", "")
	worker := f.Track(shop, timeline.ThreadTrack, 8, "", "")
	memory := f.Track(shop, timeline.CounterTrack, 10, "working-set", "MB")
	lane := f.Track(shop, timeline.LaneTrack, 11, "Lane 1", "")
	lane.Lane = 1
	encoded := func(list ...span.Attribute) []byte {
		if args == nil {
			return nil
		}
		return args(nil, &timeline.Source{Span: &span.Span{Evidence: span.FromRuntime, Attributes: list}})
	}
	request, requestEnd := Slice(lane, 1, 100, 8_000_000, "GET /", timeline.CategorySpan)
	request.Thread, request.EndThread = main, worker
	jit, jitEnd := Slice(main, 2, 2_000_000, 0, "JIT", timeline.CategoryJIT)
	pause, pauseEnd := Slice(gc, 3, 2_000_100, 500, "GC pause gen 0", timeline.CategoryGC)
	pause.Unfinished = true
	pause.Encoded = encoded(span.Attribute{Key: "reason", Value: span.String("AllocSmall")},
		span.Attribute{Key: "number", Value: span.Int(7)}, span.Attribute{Key: "kind", Value: span.Int(1 << 60)})
	query, queryEnd := Slice(worker, 4, 3_000_000, 1_000_000, "query", timeline.CategorySpan)
	query.Stack = 1
	waiting := Sample(worker, 5_000_000, 2, sample.Wall, Wall, 1, 1_500_000)
	waiting.Weight.State = "External"
	f.Add(
		Sample(main, 0, 3, sample.CPU, CPU, 1_000_000), request, Sample(main, 1_000_001, 2, sample.CPU, CPU, 1_000_000),
		timeline.Item{Kind: timeline.Counter, Time: 1_500_000, Track: memory, Name: memory.Name, Category: "counter", Value: 2.5},
		timeline.Item{Kind: timeline.Counter, Time: 1_600_000, Track: memory, Name: memory.Name, Category: "counter", Value: math.NaN()},
		jit, jitEnd, pause, pauseEnd,
		query, timeline.Item{Kind: timeline.FlowBegin, Time: 3_000_000, ID: 5, Track: lane, Name: "query", Category: timeline.CategoryFlow},
		timeline.Item{Kind: timeline.FlowEnd, Time: 3_000_000, ID: 5, Track: worker, Name: "query", Category: timeline.CategoryFlow},
		timeline.Item{
			Kind: timeline.Instant, Time: 3_500_000, Track: main, Thread: main, Name: "GCAllocationTick", Category: "Runtime", Stack: 2, Bytes: 100,
			Encoded: encoded(span.Attribute{Key: "type", Value: span.String("a \"b\"\xff")}, span.Attribute{Key: "type", Value: span.Float(math.Inf(1))},
				span.Attribute{Key: "bytes", Value: span.Bytes("\x01\xff")}, span.Attribute{Key: "list", Value: span.Array([]span.Value{span.Bool(true), span.Empty()})},
				span.Attribute{Key: "map", Value: span.Map([]span.Attribute{{Key: "a.b", Value: span.Float(0.5)}})}, span.Attribute{Key: "none", Value: span.Empty()}),
		},
		timeline.Item{Kind: timeline.Instant, Time: 3_600_000, Track: main, Thread: main, Name: "Written", Category: "Runtime", Encoded: eventArgs(args)},
		queryEnd,
		timeline.Item{Kind: timeline.Counter, Time: 4_000_000, Track: memory, Name: memory.Name, Category: "counter", Value: 1},
		waiting, Sample(main, 5_000_000, 0, sample.Imported, Heap, 0, 640), Sample(main, 5_000_000, 1, sample.Imported, Heap, 2, -1),
		requestEnd,
	)
	return f
}

// eventArgs returns the args of an event with fields and labels of all types.
func eventArgs(args func(dst []byte, s *timeline.Source) []byte) []byte {
	if args == nil {
		return nil
	}
	of := func(c ntconv.TypeCode) ntconv.FieldType { return ntconv.FieldType{Code: c} }
	list := func(elem ntconv.FieldType) ntconv.FieldType {
		return ntconv.FieldType{Code: ntconv.TypeArray, Elem: &elem}
	}
	object := ntconv.FieldType{Code: ntconv.TypeObject, Fields: []ntconv.Field{{Name: "a", Type: of(ntconv.TypeInt8)}, {Name: "b", Type: of(ntconv.TypeBool8)}}}
	values := []ntconv.Value{
		ntconv.UintValue(math.MaxUint64), ntconv.UintValue(0x7f00_1234_0000), ntconv.FloatValue(1e6), ntconv.StringValue("é\n"),
		ntconv.GUIDValue(ntconv.GUID{1, 2, 3}), ntconv.TimeValue(time.Unix(1_700_000_000, 100)), ntconv.ListValue(ntconv.IntValue(-1), ntconv.IntValue(1<<60)),
		ntconv.ListValue(ntconv.ObjectValue(ntconv.IntValue(1), ntconv.BoolValue(true))), ntconv.ObjectValue(ntconv.IntValue(2), ntconv.BoolValue(false)), ntconv.ListValue(),
	}
	var fields []ntconv.Field
	for i, t := range []ntconv.FieldType{
		of(ntconv.TypeUint64), of(ntconv.TypePointer), of(ntconv.TypeFloat64), of(ntconv.TypeUTF16String), of(ntconv.TypeGUID), of(ntconv.TypeDateTime),
		list(of(ntconv.TypeInt64)), list(object), object, list(of(ntconv.TypeInt16)),
	} {
		fields = append(fields, ntconv.Field{Name: "Field" + strconv.Itoa(i), Type: t})
	}
	e := &ntconv.Event{Type: &ntconv.Type{Provider: "Runtime", ID: 1, Name: "Written", Fields: fields}}
	var err error
	if e.Payload, err = ntconv.AppendFields(nil, fields, values, e.PointerSize()); err != nil {
		panic(err)
	}
	e.Labels = ntconv.NewLabels([]ntconv.Label{
		{Kind: ntconv.LabelActivityID, ID: [16]byte{1}}, {Kind: ntconv.LabelTraceID}, {Kind: ntconv.LabelSpanID, ID: [16]byte{2}},
		{Kind: ntconv.LabelString, Key: "shop", Str: "x"}, {Kind: ntconv.LabelInt, Key: "n", Num: 3}, {Kind: ntconv.LabelLevel, Num: 4},
	})
	return args(nil, &timeline.Source{Event: e})
}

// Golden compares an output with testdata/NAME, so that every change of it is seen. update writes the file.
func Golden(t *testing.T, update bool, name, got string) {
	t.Helper()
	golden := "testdata/" + name
	if update {
		if err := os.WriteFile(golden, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	a, b := strings.Split(got, "\n"), strings.Split(string(want), "\n")
	for i := range max(len(a), len(b)) {
		if i >= len(a) || i >= len(b) || a[i] != b[i] {
			t.Fatalf("line %d of %s: got\n%s\nwant\n%s", i+1, golden, strings.Join(a[min(i, len(a)):], "\n"), strings.Join(b[min(i, len(b)):], "\n"))
		}
	}
}

// CheckAllocations checks that an encoder does not allocate for items whose tracks, names and stacks it knows.
func (f *Fake) CheckAllocations(t *testing.T, encode func(*timeline.Item) error) {
	t.Helper()
	it, now := new(timeline.Item), int64(0)
	round := func() {
		for i := range f.Items {
			now += 1000
			*it = f.Items[i]
			it.Time = now
			if err := encode(it); err != nil {
				t.Fatal(err)
			}
		}
	}
	for range 2000 {
		round()
	}
	if n := testing.AllocsPerRun(100, round); n != 0 {
		t.Errorf("%v allocations for %d items", n, len(f.Items))
	}
}

// Full is a writer that fails.
type Full struct{ Err error }

func (f Full) Write([]byte) (int, error) { return 0, f.Err }
