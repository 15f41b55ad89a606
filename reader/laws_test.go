package reader

import (
	"bytes"
	"compress/gzip"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/testing/corpus"
	"github.com/ntconv/ntconv/internal/testing/laws"
	"github.com/ntconv/ntconv/internal/trace/wire"
	"github.com/ntconv/ntconv/ntconvtest"
)

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
		out = append(out, laws.Hash(e))
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
			if events >= len(whole) || e.Offset >= int64(n-tail) && laws.Hash(e) != whole[events] {
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

// edges is how many bytes of prefixes TestPrefixesAtBlockEdges reads for one trace; the edges are thinned out evenly to
// keep to it. Zero means all of them.
var edges = flag.Int64("edges", 8<<20, "bytes of prefixes to read for each trace at block edges; 0 for every edge")

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
		if err := compareSorted(f.Data); err != nil && !errors.Is(err, ntconv.ErrTruncated) {
			t.Errorf("%s: %v", f.Name, err)
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
