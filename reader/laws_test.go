package reader

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"hash/maphash"
	"io"
	"slices"
	"testing"
	"unsafe"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/testing/corpus"
	"github.com/ntconv/ntconv/internal/wire"
	"github.com/ntconv/ntconv/ntconvtest"
)

var seed = maphash.MakeSeed()

// digest is the content of one event as a number. Everything that an event says is in it.
func digest(e *ntconv.Event) uint64 {
	var d digester
	d.h.SetSeed(seed)
	d.num(uint64(e.Kind), uint64(e.Flags), uint64(e.CPU), uint64(e.Seq), uint64(e.Lost), uint64(e.Time), uint64(e.Offset))
	if t := e.Type; t != nil {
		d.text(t.Provider, t.Name, t.Message, t.Description, string(t.Extra))
		d.num(uint64(t.ID), uint64(t.Version), uint64(t.Level), uint64(t.Opcode), t.Keywords, uint64(len(t.Fields)), uint64(len(t.Attrs)))
		d.h.Write(t.GUID[:])
	}
	d.thread(e.Thread)
	d.thread(e.Capture)
	if e.Stack != nil {
		d.num(e.Stack.PCs...)
	}
	if e.Labels != nil {
		for i := range e.Labels.List() {
			l := &e.Labels.List()[i]
			d.num(uint64(l.Kind), uint64(l.Num))
			d.text(l.Key, l.Str, l.Unit, string(l.ID[:]))
		}
	}
	if m := e.Mark; m != nil {
		d.num(uint64(m.Kind), uint64(m.Flags))
		for _, ts := range m.Threads {
			d.thread(ts.Thread)
			d.num(uint64(ts.Seq))
		}
	}
	d.h.Write(e.Payload)
	return d.h.Sum64()
}

type digester struct{ h maphash.Hash }

func (d *digester) num(v ...uint64) {
	var b [8]byte
	for _, n := range v {
		binary.LittleEndian.PutUint64(b[:], n)
		d.h.Write(b[:])
	}
}

func (d *digester) text(v ...string) {
	for _, s := range v {
		d.num(uint64(len(s)))
		d.h.WriteString(s)
	}
}

func (d *digester) thread(t *ntconv.Thread) {
	if t == nil {
		d.num(0)
		return
	}
	d.num(t.TID, t.Process.PID, uint64(t.Process.PointerSize))
	d.text(t.Name, t.Process.Name, t.Process.Host)
	for _, a := range t.Attrs {
		d.text(a.Key, a.Value)
	}
}

// digests reads a trace to its end and returns the digest of every event, and the error that it ended with.
func digests(in io.Reader, opts *Options) ([]uint64, error) {
	return digestsOf(New(in, opts))
}

func digestsOf(r *Reader, err error) (out []uint64, _ error) {
	if err != nil {
		return nil, err
	}
	for e, err := range ntconv.Events(r) {
		if err != nil {
			return out, err
		}
		out = append(out, digest(e))
	}
	return out, nil
}

// tail is how many bytes before the cut the events of a prefix are compared by content; those further in front are
// counted, because no reader can know of the cut when it delivers them.
const tail = 256 << 10

// checkPrefix reads the first n bytes of a trace whose events are known, and returns how many events they give.
func checkPrefix(t *testing.T, data []byte, n int, whole []uint64) (events int) {
	t.Helper()
	r, err := New(bytes.NewReader(data[:n]), &Options{Order: FileOrder})
	if err == nil {
		for e, readErr := range ntconv.Events(r) {
			if err = readErr; err != nil {
				break
			}
			if events >= len(whole) || e.Offset >= int64(n-tail) && digest(e) != whole[events] {
				t.Fatalf("the first %d bytes: event %d at byte %d is not that of the whole", n, events, e.Offset)
			}
			events++
		}
	}
	if n < len(data) && err == nil {
		t.Fatalf("the first %d bytes of %d read as complete", n, len(data))
	}
	if err != nil && !errors.Is(err, ntconv.ErrTruncated) && !errors.Is(err, ntconv.ErrFormat) {
		t.Fatalf("the first %d bytes: %v, want ErrTruncated", n, err)
	}
	return events
}

// TestPrefixes: every prefix of a small trace gives, in file order, a prefix of its events, and no fewer than a shorter
// one.
func TestPrefixes(t *testing.T) {
	files := corpus.Traces(t)
	for _, f := range files {
		if len(f.Data) > 30<<10 {
			continue
		}
		t.Run(f.Name, func(t *testing.T) {
			t.Parallel()
			whole, err := digests(bytes.NewReader(f.Data), &Options{Order: FileOrder})
			if err != nil && !errors.Is(err, ntconv.ErrTruncated) {
				t.Fatal(err)
			}
			least, step := 0, 1
			if testing.Short() {
				step = 29
			}
			for n := 0; n < len(f.Data); n += step {
				got := checkPrefix(t, f.Data, n, whole)
				if got < least {
					t.Fatalf("the first %d bytes give %d events, a shorter prefix gave %d", n, got, least)
				}
				least = got
			}
		})
	}
}

// edges is how many bytes of prefixes TestPrefixesAtBlockEdges reads for one trace; the edges are thinned out evenly to
// keep to it. Zero means all of them.
var edges = flag.Int64("edges", 40<<20, "bytes of prefixes to read for each trace at block edges; 0 for every edge")

// TestPrefixesAtBlockEdges does the same around the block edges of large traces, 16 bytes to either side.
func TestPrefixesAtBlockEdges(t *testing.T) {
	edgesOf(t, corpus.Traces(t))
	t.Run("shared", func(t *testing.T) {
		if testing.Short() {
			t.Skip("short mode: reference data is left out")
		}
		edgesOf(t, corpus.SharedTraces(t))
	})
}

func edgesOf(t *testing.T, files []corpus.File) {
	for _, f := range files {
		if len(f.Data) <= 30<<10 || f.Name == "perfview-prerelease-v4" {
			continue
		}
		whole, err := digests(bytes.NewReader(f.Data), &Options{Order: FileOrder})
		if err != nil && !errors.Is(err, ntconv.ErrTruncated) {
			t.Fatalf("%s: %v", f.Name, err)
		}
		all := blockEdges(t, f.Data)
		step := 1
		if *edges > 0 {
			step = max(1, int(int64(len(all)*33)*int64(len(f.Data)/2) / *edges))
		}
		for i := len(all) % step; i < len(all); i += step {
			for n := all[i] - 16; n <= all[i]+16; n++ {
				if n >= 0 && n <= len(f.Data) {
					checkPrefix(t, f.Data, n, whole)
				}
			}
		}
	}
}

// blockEdges returns the offsets of all blocks.
func blockEdges(t *testing.T, data []byte) (edges []int) {
	r, err := New(bytes.NewReader(data), nil)
	if err != nil {
		t.Fatal(err)
	}
	for {
		b, err := r.frame.next()
		if err != nil || b.kind == wire.KindEnd {
			return edges
		}
		edges = append(edges, int(b.offset))
	}
}

// TestChopped: a reader does not depend on how its input is cut.
func TestChopped(t *testing.T) {
	for _, f := range corpus.Traces(t) {
		for _, order := range []Order{FileOrder, ByTime} {
			want, wantErr := digests(bytes.NewReader(f.Data), &Options{Order: order})
			for i, in := range ntconvtest.Chops(f.Data) {
				got, err := digests(in, &Options{Order: order})
				if !slices.Equal(got, want) || fmt.Sprint(err) != fmt.Sprint(wantErr) {
					t.Errorf("%s: chopped %d: %d events, %v; want %d, %v", f.Name, i, len(got), err, len(want), wantErr)
				}
			}
		}
	}
}

// TestBytes: a trace in memory gives what it gives as a stream, packed or not, and is neither copied nor changed.
func TestBytes(t *testing.T) {
	for _, f := range corpus.Traces(t) {
		var packed bytes.Buffer
		w := gzip.NewWriter(&packed)
		if _, err := w.Write(f.Data); err != nil || w.Close() != nil {
			t.Fatal(err)
		}
		before := bytes.Clone(f.Data)
		for _, order := range []Order{FileOrder, ByTime} {
			want, wantErr := digests(bytes.NewReader(f.Data), &Options{Order: order})
			for i, data := range [][]byte{f.Data, packed.Bytes()} {
				got, err := digestsOf(NewBytes(data, &Options{Order: order}))
				if !slices.Equal(got, want) || fmt.Sprint(err) != fmt.Sprint(wantErr) {
					t.Errorf("%s, packed %d: %d events, %v; want %d, %v", f.Name, i, len(got), err, len(want), wantErr)
				}
			}
			r, err := NewBytes(f.Data, &Options{Order: order})
			if err != nil {
				t.Fatal(err)
			}
			for e, err := range ntconv.Events(r) {
				if err == nil && e.Kind == ntconv.KindEvent && len(e.Payload) > 0 && !within(e.Payload, f.Data) {
					t.Fatalf("%s: the payload at byte %d was copied", f.Name, e.Offset)
				}
			}
		}
		if !bytes.Equal(f.Data, before) {
			t.Errorf("%s: the trace was changed", f.Name)
		}
	}
}

// within reports whether part lies in the memory of whole.
func within(part, whole []byte) bool {
	start := uintptr(unsafe.Pointer(unsafe.SliceData(whole)))
	at := uintptr(unsafe.Pointer(unsafe.SliceData(part)))
	return at >= start && at+uintptr(len(part)) <= start+uintptr(len(whole))
}

// TestTimeOrder: time order is the stable sort by time of what lies between two sequence points in file order.
func TestTimeOrder(t *testing.T) {
	for _, f := range corpus.Traces(t) {
		want := sortedWindows(t, f.Data)
		var got []uint64
		r, err := New(bytes.NewReader(f.Data), nil)
		if err != nil {
			t.Fatal(err)
		}
		for e, err := range ntconv.Events(r) {
			if err == nil && e.Kind == ntconv.KindEvent {
				got = append(got, digest(e))
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %d events by time differ from the %d sorted ones", f.Name, len(got), len(want))
		}
	}
}

func sortedWindows(t *testing.T, data []byte) (out []uint64) {
	r, err := New(bytes.NewReader(data), &Options{Order: FileOrder})
	if err != nil {
		t.Fatal(err)
	}
	type item struct {
		time ntconv.Ticks
		sum  uint64
	}
	var window []item
	flush := func() {
		slices.SortStableFunc(window, func(a, b item) int { return int(min(max(a.time-b.time, -1), 1)) })
		for _, i := range window {
			out = append(out, i.sum)
		}
		window = window[:0]
	}
	for e, err := range ntconv.Events(r) {
		switch {
		case err != nil:
		case e.Kind == ntconv.KindEvent:
			window = append(window, item{e.Time, digest(e)})
		case e.Kind == ntconv.KindMark && e.Mark.Kind == ntconv.MarkSequencePoint:
			flush()
		}
	}
	flush()
	return out
}

// TestErrorStays: a source returns its last error again and again.
func TestErrorStays(t *testing.T) {
	data := corpus.Trace(t, "crash").Data
	for n := 0; n < len(data); n += 97 {
		r, err := New(bytes.NewReader(data[:n]), nil)
		if err != nil {
			continue
		}
		for _, err = range ntconv.Events(r) {
		}
		for range 3 {
			if e, again := r.Next(); e != nil || again != err {
				t.Fatalf("%d bytes: Next after %v returns %v, %v", n, err, e, again)
			}
		}
	}
}

// TestReadError: an error of the input comes out as it is, after the events before it.
func TestReadError(t *testing.T) {
	boom := errors.New("boom")
	data := corpus.Trace(t, "activities").Data
	whole, _ := digests(bytes.NewReader(data), &Options{Order: FileOrder})
	for n := 0; n < len(data); n += 13 {
		got, err := digests(io.MultiReader(bytes.NewReader(data[:n]), &failing{boom}), &Options{Order: FileOrder})
		if !errors.Is(err, boom) {
			t.Fatalf("after %d bytes: %v, want the error of the input", n, err)
		}
		if !slices.Equal(got, whole[:len(got)]) {
			t.Fatalf("after %d bytes: %d events are no prefix", n, len(got))
		}
	}
}

type failing struct{ err error }

func (f *failing) Read([]byte) (int, error) { return 0, f.err }

// TestLive: events of a window come out before the writer sends anything behind the block that releases them.
func TestLive(t *testing.T) {
	for _, name := range []string{"cpu-v6", "stress-drop", "cpu-netperf3"} {
		data := corpus.Trace(t, name).Data
		edges := blockEdges(t, data)
		for _, order := range []Order{FileOrder, ByTime} {
			in := &gated{data: data}
			in.limit = len(data)
			want, _ := digests(bytes.NewReader(data), &Options{Order: order})
			r, err := New(in, &Options{Order: order})
			if err != nil {
				t.Fatal(err)
			}
			got := 0
			for {
				e, err := r.Next()
				if err != nil {
					break
				}
				got++
				if order == FileOrder && e.Kind == ntconv.KindEvent && in.furthest > edgeAfter(edges, int(e.Offset), len(data))+maxHeader {
					t.Fatalf("%s: event at byte %d came after byte %d was read", name, e.Offset, in.furthest)
				}
			}
			if got != len(want) {
				t.Errorf("%s: %d events, want %d", name, got, len(want))
			}
		}
	}
}

// maxHeader is more than any block header has.
const maxHeader = 128

func edgeAfter(edges []int, offset, end int) int {
	i, _ := slices.BinarySearch(edges, offset+1)
	if i < len(edges) {
		return edges[i]
	}
	return end
}

// gated hands out one byte a Read and remembers how far it got.
type gated struct {
	data            []byte
	furthest, limit int
}

func (g *gated) Read(p []byte) (int, error) {
	if g.furthest == g.limit {
		return 0, io.EOF
	}
	p[0] = g.data[g.furthest]
	g.furthest++
	return 1, nil
}
