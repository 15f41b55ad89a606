package chrome

import (
	"io"
	"strconv"
	"testing"
	"time"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/timeline"
	"github.com/ntconv/ntconv/kind"
)

// A fakeTrace is a trace of items in memory.
type fakeTrace struct {
	items     []timeline.Item
	processes []*timeline.Process
	tracks    []*timeline.Track
	nodes     []timeline.Node // parent of each
	names     []string        // of the frame of each node
	start     time.Time
}

func (f *fakeTrace) Each(emit func(*timeline.Item) error) error {
	it := new(timeline.Item)
	for i := range f.items {
		*it = f.items[i]
		if err := emit(it); err != nil {
			return err
		}
	}
	return nil
}

func (f *fakeTrace) Start() time.Time               { return f.start }
func (f *fakeTrace) Processes() []*timeline.Process { return f.processes }
func (f *fakeTrace) Tracks() []*timeline.Track      { return f.tracks }
func (f *fakeTrace) Nodes() int                     { return len(f.nodes) }
func (f *fakeTrace) Node(n timeline.Node) (parent timeline.Node, frame uint32) {
	return f.nodes[n], uint32(n)
}
func (f *fakeTrace) Frame(frame uint32) ntconv.Frame {
	return ntconv.Frame{Func: &ntconv.Function{Name: f.names[frame]}, Mapping: &ntconv.Mapping{File: "a.dll"}}
}

// newFakeTrace returns a trace with a process, a thread, a lane, and n stacks that grow by a frame each.
func newFakeTrace(n int) *fakeTrace {
	p := &timeline.Process{PID: 10, Name: "app"}
	f := &fakeTrace{processes: []*timeline.Process{p}, nodes: make([]timeline.Node, n+1), names: make([]string, n+1)}
	f.tracks = []*timeline.Track{
		{ID: 1, Kind: timeline.ProcessTrack, Process: p, TID: 90},
		{ID: 2, Kind: timeline.ThreadTrack, Process: p, TID: 11, Name: "main"},
		{ID: 3, Kind: timeline.CounterTrack, Process: p, TID: 91, Name: "cpu", Unit: "%"},
		{ID: 4, Kind: timeline.LaneTrack, Process: p, TID: 92},
		{ID: 5, Kind: timeline.ThreadTrack, Process: p, TID: 12},
	}
	p.Track = f.tracks[0]
	for i := 1; i <= n; i++ {
		f.nodes[i], f.names[i] = timeline.Node(i-1), "Function"+strconv.Itoa(i)
	}
	return f
}

// discard is an output that discards everything.
func discard() *output {
	return &output{create: func(int) (io.WriteCloser, error) { return nopCloser{io.Discard}, nil }}
}

// kinds are the benchmark inputs: n items of one kind each.
func benchItems(k timeline.Kind, n int) *fakeTrace {
	f := newFakeTrace(100)
	args := []byte(`{"ClrInstanceID":9,"HeapNumber":0,"AllocationAmount":106648,"TypeName":"System.Byte[]","Address":140123456789012}`)
	w := &timeline.Weight{Kind: kind.Wall, Values: []int64{1000}}
	for i := range n {
		it := timeline.Item{Kind: k, Time: int64(i) * 1234, Track: f.tracks[1], Thread: f.tracks[1], Name: "GCAllocationTick", Category: "Microsoft-Windows-DotNETRuntime", Encoded: args}
		switch k {
		case timeline.Counter:
			it.Track, it.Name, it.Value = f.tracks[2], "cpu", float64(i)/8
		case timeline.Sample:
			it.Stack, it.Weight = timeline.Node(1+i%100), w
			w.Until = 0
		case timeline.SliceBegin:
			it.ID, it.Duration = uint64(i+1), 1000
			f.items = append(f.items, it)
			it = timeline.Item{Kind: timeline.SliceEnd, Time: it.Time + 1000, Track: it.Track, ID: it.ID}
		}
		f.items = append(f.items, it)
	}
	return f
}

func encodeAll(tb testing.TB, f *fakeTrace) {
	if err := newEncoder(&Options{}, f, discard()).write(); err != nil {
		tb.Fatal(err)
	}
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
				encodeAll(b, f)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/item")
		})
	}
}

// TestAllocations: encoding allocates for threads, stacks and buffers, but not per item.
func TestAllocations(t *testing.T) {
	for _, kind := range []timeline.Kind{timeline.Instant, timeline.Counter, timeline.Sample, timeline.SliceBegin} {
		few, many := benchItems(kind, 5000), benchItems(kind, 50_000)
		a := testing.AllocsPerRun(3, func() { encodeAll(t, few) })
		b := testing.AllocsPerRun(3, func() { encodeAll(t, many) })
		// Buffers grow to their size, and pages of nodes are made.
		if b > a+50 {
			t.Errorf("kind %d: %v allocations for 5,000 items, %v for 50,000", kind, a, b)
		}
	}
}
