package speedscope

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/data/bin"
	"github.com/ntconv/ntconv/internal/files/spool"
	"github.com/ntconv/ntconv/internal/profile"
	"github.com/ntconv/ntconv/internal/timeline"
	"github.com/ntconv/ntconv/kind"
)

// A fake is a trace of hand-made items. Its frames are "f0", "f1" and so on, and node n is frame n-1 called by node
// n-1.
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
func (f *fake) Frames() int                 { return len(f.frames) }
func (f *fake) Frame(n uint32) ntconv.Frame { return f.frames[n] }
func (f *fake) End() int64                  { return f.end }
func (f *fake) Counts() timeline.Counts     { return timeline.Counts{} }

var (
	shop   = &timeline.Process{PID: 42, Name: "shop"}
	main   = &timeline.Track{ID: 1, Kind: timeline.ThreadTrack, Process: shop, TID: 7, Name: "main"}
	worker = &timeline.Track{ID: 2, Kind: timeline.ThreadTrack, Process: shop, TID: 8}
	lane   = &timeline.Track{ID: 3, Kind: timeline.LaneTrack, Process: shop, TID: 9, Name: "Lane 1", Lane: 1}
	wall   = []profile.ValueType{{Type: "wall", Unit: "nanoseconds"}}
	heap   = []profile.ValueType{{Type: "objects", Unit: "count"}, {Type: "space", Unit: "kilobytes"}}
)

func frames(names ...string) (list []ntconv.Frame) {
	for _, n := range names {
		list = append(list, ntconv.Frame{Func: &ntconv.Function{Name: n}})
	}
	return list
}

func sample(t *timeline.Track, at int64, n timeline.Node, state string, types []profile.ValueType, values ...int64) timeline.Item {
	k := kind.Wall
	if len(types) > 1 {
		k = kind.Imported
	}
	return timeline.Item{
		Kind: timeline.Sample, Time: at, Track: t, Thread: t, Stack: n, Weight: &timeline.Weight{Kind: k, Types: types, Values: values, State: state},
	}
}

func write(t testing.TB, f *fake, o Options) string {
	t.Helper()
	var out bytes.Buffer
	s := &Sink{w: &out, o: o}
	if err := s.write(f); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// TestItems compares the file of hand-made items with one that was checked by hand: testdata/items.json. It has a
// waiting thread, a sample without a stack, negative values, two sample types in one file, a lane, and names that are
// not valid Unicode.
func TestItems(t *testing.T) {
	report := &ntconv.Report{}
	f := &fake{
		tracks: []*timeline.Track{main, worker}, end: 90, frames: frames("Main", "Work\xff", "Leaf"),
		items: []timeline.Item{
			{Kind: timeline.SliceBegin, Time: 0, Duration: 90, ID: 1, Track: lane, Name: "GET /", Category: "span"},
			sample(worker, 5, 2, "External", wall, 30), sample(main, 10, 3, "Managed", wall, 20), sample(main, 30, 0, "Managed", wall, 5),
			{Kind: timeline.Instant, Time: 31, Track: main, Name: "GCStart"},
			{Kind: timeline.SliceBegin, Time: 40, Duration: 0, ID: 2, Track: main, Name: "JIT", Category: "jit"},
			{Kind: timeline.SliceEnd, Time: 40, ID: 2, Track: main, Name: "JIT", Category: "jit"},
			sample(main, 41, 1, "", heap, 3, -4), sample(main, 42, 1, "", heap, 0, 2),
			{Kind: timeline.SliceEnd, Time: 90, ID: 1, Track: lane, Name: "GET /", Category: "span"},
		},
	}
	f.frames[0].Func.File, f.frames[0].Line, f.frames[0].Column = "a.cs", 12, 3
	f.frames[2].Mapping = &ntconv.Mapping{File: "/lib/x.dll"}
	got := write(t, f, Options{Name: "trace", Version: "1.2", Report: report})
	want, err := os.ReadFile("testdata/items.json")
	if err != nil || got != string(want) {
		t.Errorf("%v; got\n%s", err, got)
	}
	if n := report.Count(ntconv.CodeNotCarried); n != 2 {
		t.Errorf("%d losses were reported, want a negative value and a name", n)
	}
}

// TestOrder checks that profiles have the order of tracks regardless of the order of the samples, and that the thread
// with the most work is active.
func TestOrder(t *testing.T) {
	f := &fake{frames: frames("Main")}
	for i := range 50 {
		f.tracks = append(f.tracks, &timeline.Track{ID: uint32(i + 1), Kind: timeline.ThreadTrack, Process: shop, TID: uint32(i + 100)})
	}
	for i := range 1000 {
		state := "External"
		if i%50 == 30 {
			state = "Managed"
		}
		f.items = append(f.items, sample(f.tracks[i*7%50], int64(i), 1, state, wall, 1))
	}
	got := write(t, f, Options{})
	at := 0
	for i := range 50 {
		next := strings.Index(got, fmt.Sprintf(`"shop (42) thread %d: wall"`, i+100))
		if next <= at {
			t.Fatalf("thread %d is at %d, the one before at %d", i, next, at)
		}
		at = next
	}
	if want := fmt.Sprintf(`"activeProfileIndex":%d,`, 1+30*7%50); !strings.Contains(got, want) {
		t.Errorf("no %s in %.300s", want, got)
	}
}

var errFull = errors.New("disk full")

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errFull }

func TestWriteError(t *testing.T) {
	f := &fake{tracks: []*timeline.Track{main}, frames: frames("Main"), items: []timeline.Item{sample(main, 1, 1, "", wall, 1)}}
	if err := (&Sink{w: full{}}).write(f); !errors.Is(err, errFull) {
		t.Errorf("error %v", err)
	}
}

func TestUnits(t *testing.T) {
	for unit, want := range map[string]string{
		"nanoseconds": "nanoseconds 1", "ns": "nanoseconds 1", "us": "microseconds 1", "\u00b5s": "microseconds 1", "ms": "milliseconds 1", "seconds": "seconds 1", "s": "seconds 1",
		"bytes": "bytes 1", "kB": "bytes 1024", "MiB": "bytes 1048576", "count": "none 1", "": "none 1", "cycles": "none 1",
	} {
		name, scale := unitOf(unit)
		if got := fmt.Sprint(name, " ", scale); got != want {
			t.Errorf("%s: %s, want %s", unit, got, want)
		}
	}
}

// TestAllocations checks that a sample and a slice do not allocate once their thread and stack are known.
func TestAllocations(t *testing.T) {
	f := &fake{tracks: []*timeline.Track{main, worker}, frames: frames("a", "b", "c", "d")}
	e := newEncoder(f, nil, nil, &profile.MainTypes{})
	items := []timeline.Item{
		sample(main, 1, 4, "", wall, 1), sample(worker, 1, 3, "", wall, 1),
		{Kind: timeline.SliceBegin, Track: main, Name: "JIT", Category: "jit"}, {Kind: timeline.SliceEnd, Track: main, Name: "JIT", Category: "jit"},
	}
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

// BenchmarkSamples has stacks of 40 frames, which alternate.
func BenchmarkSamples(b *testing.B) {
	f := &fake{frames: frames(slices.Repeat([]string{"Namespace.Type.Method(string, int)"}, 41)...)}
	for i := range f.frames {
		f.frames[i].Func.Name += fmt.Sprint(i)
	}
	for i := range 8 {
		f.tracks = append(f.tracks, &timeline.Track{ID: uint32(i + 1), Kind: timeline.ThreadTrack, Process: shop, TID: uint32(i + 100)})
	}
	e := newEncoder(f, nil, nil, &profile.MainTypes{})
	b.ReportAllocs()
	for i := range b.N {
		item := sample(f.tracks[i%8], int64(i)*1000, timeline.Node(40+i%2), "", wall, 1_000_000)
		if err := e.item(&item); err != nil {
			b.Fatal(err)
		}
	}
	if err := e.set.Close(); err != nil {
		b.Fatal(err)
	}
}

// TestMemory checks that memory does not follow the number of samples: 100 MB of columns need less than half of that.
func TestMemory(t *testing.T) {
	f := &fake{tracks: []*timeline.Track{main, worker}, frames: frames(slices.Repeat([]string{"Method"}, 30)...)}
	for i := range f.frames {
		f.frames[i].Func.Name += fmt.Sprint(i)
	}
	e := newEncoder(f, &spool.Options{Dir: t.TempDir()}, nil, &profile.MainTypes{})
	item := sample(main, 0, 0, "", wall, 1_000_000)
	heap := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before, most := heap(), uint64(0)
	for i := range 1_200_000 {
		item.Time, item.Stack, item.Track = int64(i), timeline.Node(1+i%30), f.tracks[i/10%2]
		if err := e.item(&item); err != nil {
			t.Fatal(err)
		}
		if i%200_000 == 199_999 {
			most = max(most, heap()-before)
		}
	}
	var out counter
	s := &Sink{w: &out}
	if err := s.file(e); err != nil {
		t.Fatal(err)
	}
	if err := e.set.Close(); err != nil {
		t.Fatal(err)
	}
	if most > 48<<20 || out < 80<<20 {
		t.Errorf("%d bytes of heap for a file of %d bytes", most, out)
	}
}

// A counter counts what is written.
type counter int

func (c *counter) Write(b []byte) (int, error) {
	*c += counter(len(b))
	return len(b), nil
}

// TestSum checks that weights that add up to more than 64 bits do not become negative.
func TestSum(t *testing.T) {
	for _, c := range [][3]int64{{1, 2, 3}, {math.MaxInt64, 1, math.MaxInt64}, {9e18, 9e18, math.MaxInt64}, {math.MaxInt64, 0, math.MaxInt64}} {
		if got := bin.AddClamped(c[0], c[1]); got != c[2] {
			t.Errorf("%d + %d: got %d", c[0], c[1], got)
		}
	}
}
