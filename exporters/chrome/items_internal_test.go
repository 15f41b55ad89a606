package chrome

import (
	"bytes"
	"flag"
	"io"
	"strconv"
	"testing"

	"github.com/ntconv/ntconv/internal/testing/timelines"
	"github.com/ntconv/ntconv/internal/timeline"
	"github.com/ntconv/ntconv/sample"
	"github.com/ntconv/ntconv/track"
)

// outputTo is an output with one part.
func outputTo(w io.Writer) *output {
	return &output{create: func(int) (io.WriteCloser, error) { return nopCloser{w}, nil }}
}

var update = flag.Bool("update", false, "write golden files")

// TestItems shows a whole file per form of samples.
func TestItems(t *testing.T) {
	for name, o := range map[string]Options{
		"items.json":  {Options: track.Options{Name: "a\"b", Version: "v1"}},
		"slices.json": {Samples: Slices, Array: true},
		"frames.json": {Samples: StackFrames, Stacks: true},
	} {
		var args argEncoder
		var out bytes.Buffer
		e := newEncoder(&o, timelines.Items(args.append), outputTo(&out))
		if err := e.write(); err != nil {
			t.Fatal(err)
		}
		timelines.Golden(t, *update, name, out.String())
		if args.invalid != 1 || e.notNumbers != 1 || e.lostFlows != 0 || e.invalid == 0 {
			t.Errorf("%s: %d and %d invalid strings, %d values that are not numbers, %d arrows lost", name, args.invalid, e.invalid, e.notNumbers, e.lostFlows)
		}
	}
}

// benchItems returns n items of one kind.
func benchItems(k timeline.Kind, n int) *timelines.Fake {
	var names []string
	for i := range 100 {
		names = append(names, "Function"+strconv.Itoa(i+1))
	}
	f := timelines.New(timelines.Frames(names...)...)
	p := f.Process(10, "app")
	thread, cpu := f.Track(p, timeline.ThreadTrack, 11, "main", ""), f.Track(p, timeline.CounterTrack, 91, "cpu", "%")
	args := []byte(`{"ClrInstanceID":9,"HeapNumber":0,"AllocationAmount":106648,"TypeName":"System.Byte[]","Address":140123456789012}`)
	w := &timeline.Weight{Kind: sample.Wall, Values: []int64{1000}}
	for i := range n {
		it := timeline.Item{Kind: k, Time: int64(i) * 1234, Track: thread, Thread: thread, Name: "GCAllocationTick", Category: "Microsoft-Windows-DotNETRuntime", Encoded: args}
		switch k {
		case timeline.Counter:
			it.Track, it.Name, it.Value = cpu, "cpu", float64(i)/8
		case timeline.Sample:
			it.Stack, it.Weight = timeline.Node(1+i%100), w
		case timeline.SliceBegin:
			it.ID, it.Duration = uint64(i+1), 1000
			f.Add(it)
			it = timeline.Item{Kind: timeline.SliceEnd, Time: it.Time + 1000, Track: it.Track, ID: it.ID}
		}
		f.Add(it)
	}
	return f
}

// BenchmarkEncoder measures an item of each kind.
func BenchmarkEncoder(b *testing.B) {
	for name, kind := range map[string]timeline.Kind{
		"instant": timeline.Instant, "counter": timeline.Counter, "sample": timeline.Sample, "slice": timeline.SliceBegin,
	} {
		b.Run(name, func(b *testing.B) {
			const n = 10_000
			f := benchItems(kind, n)
			b.ReportAllocs()
			for b.Loop() {
				if err := newEncoder(&Options{}, f, outputTo(io.Discard)).write(); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/item")
		})
	}
}

func TestAllocations(t *testing.T) {
	f := timelines.Items(new(argEncoder).append)
	e := newEncoder(&Options{}, f, outputTo(io.Discard))
	if err := e.begin(); err != nil {
		t.Fatal(err)
	}
	f.CheckAllocations(t, e.item)
}
