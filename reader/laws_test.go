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
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/testing/corpus"
	"github.com/ntconv/ntconv/internal/testing/members"
	"github.com/ntconv/ntconv/internal/trace/wire"
	"github.com/ntconv/ntconv/ntconvtest"
)

var seed = maphash.MakeSeed()

// digest hashes the content of an event and of everything that it refers to, but not the identity of pointers.
// TestDigest changes every member of the model.
func digest(e *ntconv.Event) uint64 {
	var d digester
	d.h.SetSeed(seed)
	d.num(uint64(e.Kind), uint64(e.Flags), uint64(e.CPU), uint64(e.Seq), uint64(e.Lost), uint64(e.Time), uint64(e.Offset))
	d.typ(e.Type)
	d.thread(e.Thread)
	d.thread(e.Capture)
	if s := e.Stack; s != nil {
		d.num(uint64(len(s.PCs)), uint64(len(s.Frames)))
		d.num(s.PCs...)
		for i := range s.Frames {
			d.frame(&s.Frames[i])
		}
	}
	for i := range e.Labels.List() {
		l := &e.Labels.List()[i]
		d.num(uint64(l.Kind), uint64(l.Num))
		d.text(l.Key, l.Str, l.Unit, string(l.ID[:]))
	}
	if m := e.Mark; m != nil {
		d.num(uint64(m.Kind), uint64(m.Flags), uint64(len(m.Threads)))
		for _, ts := range m.Threads {
			d.thread(ts.Thread)
			d.num(uint64(ts.Seq))
		}
	}
	d.num(uint64(len(e.Payload)))
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

// has adds whether a value is present.
func (d *digester) has(is bool) bool {
	if is {
		d.h.WriteByte(1)
	} else {
		d.h.WriteByte(0)
	}
	return is
}

func (d *digester) attrs(list ntconv.Attrs) {
	d.num(uint64(len(list)))
	for _, a := range list {
		d.text(a.Key, a.Value)
	}
}

func (d *digester) typ(t *ntconv.Type) {
	if !d.has(t != nil) {
		return
	}
	d.text(t.Provider, t.Name, t.Message, t.Description, string(t.Extra), string(t.OptionalExtra), string(t.GUID[:]))
	d.num(uint64(t.ID), uint64(t.Version), uint64(t.Level), uint64(t.Opcode), t.Keywords)
	d.has(t.HasOpcode)
	d.fields(t.Fields)
	d.attrs(t.Attrs)
}

func (d *digester) fields(list []ntconv.Field) {
	d.num(uint64(len(list)))
	for i := range list {
		d.text(list[i].Name, string(list[i].Extra))
		d.fieldType(&list[i].Type)
	}
}

func (d *digester) fieldType(t *ntconv.FieldType) {
	for ; d.has(t != nil); t = t.Elem {
		d.num(uint64(t.Code), uint64(t.Count))
		d.fields(t.Fields)
	}
}

func (d *digester) thread(t *ntconv.Thread) {
	if !d.has(t != nil) {
		return
	}
	d.num(t.TID)
	d.text(t.Name)
	d.attrs(t.Attrs)
	if p := t.Process; d.has(p != nil) {
		d.num(p.PID, uint64(p.PointerSize), uint64(len(p.Mappings)))
		d.text(p.Name, p.Host)
		d.attrs(p.Attrs)
		for _, m := range p.Mappings {
			d.mapping(m)
		}
	}
}

func (d *digester) frame(f *ntconv.Frame) {
	d.num(f.PC, uint64(f.Line), uint64(f.Column), uint64(f.Flags))
	d.mapping(f.Mapping)
	if d.has(f.Func != nil) {
		d.text(f.Func.Name, f.Func.SystemName, f.Func.File)
		d.num(uint64(f.Func.StartLine))
	}
}

func (d *digester) mapping(m *ntconv.Mapping) {
	if d.has(m != nil) {
		d.num(m.Start, m.Limit, m.Offset, uint64(m.Flags))
		d.text(m.File, m.BuildID)
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

// tail is the distance from the end of a prefix, in bytes, within which its events are compared by content. Earlier
// events are only counted, because no reader knows of the end when it delivers them.
const tail = 256 << 10

// checkPrefix reads the first n bytes of a trace whose events are known, and returns the number of events in them.
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

// TestPrefixes reads every prefix of traces of up to smallTrace bytes, and somePrefixes of traces of up to mediumTrace
// bytes, so that the bytes it reads grow linearly with the trace.
const (
	smallTrace, mediumTrace = 4 << 10, 256 << 10
	somePrefixes            = 1 << 10
)

// TestPrefixes checks that a prefix of a trace yields a prefix of its events in file order, and no fewer events than a
// shorter prefix. No metadata row of these traces follows its events; TestLateRowPrefixes states the law for such rows.
func TestPrefixes(t *testing.T) {
	for _, f := range corpus.Traces(t) {
		if len(f.Data) > mediumTrace {
			continue
		}
		t.Run(f.Name, func(t *testing.T) {
			t.Parallel()
			whole, err := digests(bytes.NewReader(f.Data), &Options{Order: FileOrder})
			if err != nil && !errors.Is(err, ntconv.ErrTruncated) {
				t.Fatal(err)
			}
			least := 0
			for _, n := range prefixLengths(len(f.Data), testing.Short()) {
				got := checkPrefix(t, f.Data, n, whole)
				if got < least {
					t.Fatalf("the first %d bytes give %d events, a shorter prefix gave %d", n, got, least)
				}
				least = got
			}
		})
	}
}

// prefixLengths returns the lengths of the prefixes to read of a trace of size bytes, in ascending order: all, or one
// at random of each of equal parts. Short mode reads a 29th.
func prefixLengths(size int, short bool) (list []int) {
	r := rand.New(rand.NewPCG(uint64(size), 0))
	parts := size
	if size > smallTrace {
		parts = somePrefixes
	}
	if short {
		parts = max(1, parts/29)
	}
	for i := range parts {
		from, to := size*i/parts, size*(i+1)/parts
		if to > from {
			list = append(list, from+r.IntN(to-from))
		}
	}
	return list
}

// TestPrefixLengths checks that all prefixes of small traces are read, and prefixes of other traces up to a multiple of
// the trace size in bytes.
func TestPrefixLengths(t *testing.T) {
	for _, size := range []int{0, 1, 100, smallTrace, smallTrace + 1, 30 << 10, mediumTrace} {
		list := prefixLengths(size, false)
		if size <= smallTrace && len(list) != size {
			t.Errorf("%d bytes: %d prefixes", size, len(list))
		}
		read := 0
		for _, n := range list {
			read += n
		}
		if !slices.IsSorted(list) || len(list) < min(size, somePrefixes) || read > size*smallTrace {
			t.Errorf("%d bytes: %d prefixes, %d bytes", size, len(list), read)
		}
	}
}

// edges is how many bytes of prefixes TestPrefixesAtBlockEdges reads for one trace; the edges are thinned out evenly to
// keep to it. Zero means all of them.
var edges = flag.Int64("edges", 40<<20, "bytes of prefixes to read for each trace at block edges; 0 for every edge")

// TestPrefixesAtBlockEdges does the same around the block edges of large traces, 16 bytes to either side.
func TestPrefixesAtBlockEdges(t *testing.T) {
	if testing.Short() {
		t.Skip("short mode: one goroutine reads many streams")
	}
	edgesOf(t, corpus.Traces(t))
	t.Run("shared", func(t *testing.T) {
		if testing.Short() {
			t.Skip("short mode: reference data is skipped")
		}
		edgesOf(t, corpus.SharedTraces(t))
	})
}

func edgesOf(t *testing.T, files []corpus.File) {
	for _, f := range files {
		if len(f.Data) <= smallTrace || f.Name == "perfview-prerelease-v4" {
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

// TestChopped checks that the result does not depend on the sizes of reads.
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

// TestBytes checks that a trace in memory yields the same as a stream, compressed or not, and is neither copied nor
// changed.
func TestBytes(t *testing.T) {
	for _, f := range corpus.Traces(t) {
		var compressed bytes.Buffer
		w := gzip.NewWriter(&compressed)
		if _, err := w.Write(f.Data); err != nil || w.Close() != nil {
			t.Fatal(err)
		}
		before := bytes.Clone(f.Data)
		for _, order := range []Order{FileOrder, ByTime} {
			want, wantErr := digests(bytes.NewReader(f.Data), &Options{Order: order})
			for i, data := range [][]byte{f.Data, compressed.Bytes()} {
				got, err := digestsOf(NewBytes(data, &Options{Order: order}))
				if !slices.Equal(got, want) || fmt.Sprint(err) != fmt.Sprint(wantErr) {
					t.Errorf("%s, compressed %d: %d events, %v; want %d, %v", f.Name, i, len(got), err, len(want), wantErr)
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

// TestTimeOrder checks that time order is the stable sort by time of the events between two sequence points.
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

// TestErrorStays checks that Next returns the last error again on later calls.
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

// TestReadError checks that Next returns an error of the input unchanged, after the events before it.
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
			t.Fatalf("after %d bytes: %d events are not a prefix", n, len(got))
		}
	}
}

type failing struct{ err error }

func (f *failing) Read([]byte) (int, error) { return 0, f.err }

// TestLive checks that the events of a window are delivered before the reader needs any byte after the block that
// releases them.
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

// maxHeader exceeds the length of every block header.
const maxHeader = 128

func edgeAfter(edges []int, offset, end int) int {
	i, _ := slices.BinarySearch(edges, offset+1)
	if i < len(edges) {
		return edges[i]
	}
	return end
}

// A gated reader returns one byte per Read and records the highest offset that was read.
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

// TestDigest checks that a change of any member that an event refers to changes its digest.
func TestDigest(t *testing.T) {
	digestsOfAll := func(tr *ntconvtest.Trace) (list []uint64) {
		for _, e := range tr.Events {
			list = append(list, digest(e))
		}
		return list
	}
	tested := 0
	for i, m := range members.Of(members.Trace()) {
		switch {
		case m.IsStruct() || strings.HasPrefix(m.Path, "Info"):
			continue
		case m.Name == "Type.layout" || strings.HasPrefix(m.Name, "Labels.") && m.Name != "Labels.list":
			continue // computed from other members
		case m.Value.Kind() == reflect.Pointer && m.Value.IsNil():
			continue // a stack or label list may be missing or empty
		}
		tested++
		changed := members.Trace()
		members.Change(members.Of(changed)[i])
		if slices.Equal(digestsOfAll(changed), digestsOfAll(members.Trace())) {
			t.Errorf("%s (%s): a change does not change the digest", m.Path, m.Name)
		}
	}
	if tested < 100 {
		t.Errorf("only %d members", tested)
	}
}
