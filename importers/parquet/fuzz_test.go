package parquet_test

import (
	"bytes"
	"encoding/binary"
	"maps"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/ntconv/ntconv"
	export "github.com/ntconv/ntconv/exporters/parquet"
	"github.com/ntconv/ntconv/importers/parquet"
	"github.com/ntconv/ntconv/ntconvtest"
)

// pack returns a directory as one blob: per table a byte for the length of its name, the name, 4 bytes for the size and
// the content.
func pack(d directory) (b []byte) {
	for _, name := range slices.Sorted(maps.Keys(d)) {
		b = append(append(b, byte(len(name))), name...)
		b = binary.LittleEndian.AppendUint32(b, uint32(len(d[name])))
		b = append(b, d[name]...)
	}
	return b
}

// unpack is the inverse of pack. For other blobs it returns as many tables as it can.
func unpack(b []byte) directory {
	d := directory{}
	for len(b) > 1 {
		n := int(b[0])
		if len(b) < 1+n+4 {
			break
		}
		name, size := string(b[1:1+n]), int(binary.LittleEndian.Uint32(b[1+n:]))
		b = b[1+n+4:]
		size = min(max(size, 0), len(b))
		d[name], b = b[:size], b[size:]
	}
	return d
}

// smallTrace has a few events of all kinds.
func smallTrace(t testing.TB) directory {
	t.Helper()
	p := &ntconv.Process{PID: 7, PointerSize: 8, Mappings: []*ntconv.Mapping{{Start: 4096, Limit: 8192, File: "/bin/x"}}}
	th := &ntconv.Thread{TID: 8, Name: "main", Process: p, Attrs: ntconv.Attrs{{Key: "k", Value: "v"}}}
	typ := &ntconv.Type{Provider: "P", ID: 1, Name: "E", Fields: []ntconv.Field{{Name: "n", Type: ntconv.FieldType{Code: ntconv.TypeInt32}}}}
	fn := &ntconv.Function{Name: "f"}
	event := func(at ntconv.Ticks) *ntconv.Event {
		return &ntconv.Event{Kind: ntconv.KindEvent, Type: typ, Thread: th, Capture: th, Time: at, Seq: uint32(at), Payload: []byte{1, 0, 0, 0}}
	}
	first, second := event(1), event(3)
	first.Stack = &ntconv.Stack{PCs: []uint64{4100, 4200}, Frames: []ntconv.Frame{{Func: fn, PC: 4100, Mapping: p.Mappings[0]}, {Func: fn, PC: 4200}}}
	second.Stack = &ntconv.Stack{PCs: []uint64{5000}}
	second.Labels = ntconv.NewLabels([]ntconv.Label{{Kind: ntconv.LabelTraceID, ID: [16]byte{1}}, {Kind: ntconv.LabelInt, Key: "i", Num: 5, Unit: "u"}})
	second.Payload = []byte{1, 2}
	src := ntconvtest.NewSource(&ntconv.Info{Clock: ntconv.Clock{Freq: 1e9}},
		first,
		&ntconv.Event{Kind: ntconv.KindLost, Capture: th, Lost: 2, Time: 2, CPU: ntconv.CPUUnknown},
		&ntconv.Event{Kind: ntconv.KindMark, Time: 2, CPU: ntconv.CPUUnknown, Mark: &ntconv.Mark{Threads: []ntconv.ThreadSeq{{Thread: th, Seq: 2}}}},
		&ntconv.Event{Kind: ntconv.KindDefine, Type: typ, CPU: ntconv.CPUUnknown},
		&ntconv.Event{Kind: ntconv.KindOpaque, Seq: 9, Payload: []byte{1}, CPU: ntconv.CPUUnknown},
		second,
	)
	m := members{}
	sink, err := export.New(m.create, src.Info(), nil, &export.Options{Ordered: true, TempDir: t.TempDir()})
	if err == nil {
		_, err = ntconv.Copy(sink, src)
	}
	if err == nil {
		err = sink.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return m.directory()
}

// readAny reads a blob, up to a number of events, and checks every event.
func readAny(t testing.TB, blob []byte) {
	opened, err := parquet.New(unpack(blob), &parquet.Options{
		ByTime: true, TempDir: t.TempDir(),
		Limits: parquet.Limits{TableBytes: 1 << 20, Open: 100, Names: 100, SortBytes: 1 << 16, PageBytes: 1 << 20},
	})
	if err != nil {
		return
	}
	defer opened.Close()
	src := ntconvtest.Poison(opened)
	for range 10_000 {
		e, err := src.Next()
		if err != nil {
			if _, again := src.Next(); again == nil || again.Error() != err.Error() {
				t.Fatalf("%v, then %v", err, again)
			}
			return
		}
		if e.Kind == ntconv.KindEvent && (e.Type == nil || e.Thread == nil || e.Capture == nil) {
			t.Fatalf("an event without type or thread: %+v", e)
		}
		for range e.Fields() { // must not fail
		}
	}
}

// foreignSeed is a table of another program.
func foreignSeed(t testing.TB) []byte {
	d := int64(5)
	return fileOf(t, []call{{Start: 1e15 + 5, Duration: &d, Name: "a"}, {Start: 1e15, Name: "b"}, {Start: 1e15 + 1, Duration: &d, Name: "a"}})
}

// FuzzImporter: no tables make the importer panic, or deliver events that are not valid.
func FuzzImporter(f *testing.F) {
	f.Add(pack(smallTrace(f)))
	f.Add(pack(directory{"x": foreignSeed(f)}))
	f.Add(pack(directory{"events": smallTrace(f)["events"]}))
	f.Fuzz(func(t *testing.T, blob []byte) { readAny(t, blob) })
}

// TestMutants reads corrupt copies of tables with bounded allocations.
func TestMutants(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	seeds := [][]byte{pack(smallTrace(t)), pack(directory{"x": foreignSeed(t)}), pack(directory{"events": smallTrace(t)["events"]})}
	n := 2000
	if testing.Short() {
		n = 200
	}
	var before, after runtime.MemStats
	for i := range n {
		blob := bytes.Clone(seeds[i%len(seeds)])
		for range 1 + rng.IntN(6) {
			at := rng.IntN(len(blob))
			switch rng.IntN(4) {
			case 0:
				blob[at] ^= 1 << rng.IntN(8)
			case 1:
				blob[at] = byte(rng.Uint32())
			case 2:
				copy(blob[at:], bytes.Repeat([]byte{0xff}, rng.IntN(9)))
			case 3:
				blob = slices.Delete(blob, at, min(len(blob), at+rng.IntN(5)))
			}
		}
		runtime.ReadMemStats(&before)
		readAny(t, blob)
		runtime.ReadMemStats(&after)
		if used := after.TotalAlloc - before.TotalAlloc; used > 512<<20 {
			t.Fatalf("mutant %d: %d bytes were allocated", i, used)
		}
	}
}
