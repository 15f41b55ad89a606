package writer_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/testing/wirestream"
	"github.com/ntconv/ntconv/internal/trace/wire"
	"github.com/ntconv/ntconv/reader"
	"github.com/ntconv/ntconv/writer"
)

// lateTypes returns a trace of three windows. The rows of half of its types follow the events of their window.
func lateTypes(v wire.Version) []byte {
	var out bytes.Buffer
	s := wirestream.New(&out, v)
	if v == wire.V6 {
		s.Threads(wire.Thread{Index: 1, TID: 3, Has: 1 << wire.ThreadTID})
	}
	h := wire.EventHeader{Thread: 1, CaptureThread: 1, Time: 1_000_000_000}
	for window := range uint32(3) {
		row := func(i uint32) wirestream.Type {
			return wirestream.Type{ID: 10*window + i, Provider: "P", Event: 10*window + i, Name: fmt.Sprint("E", window, i),
				Fields: []wire.Field{{Name: "a", Type: wire.Type{Code: wire.TypeInt32}}}}
		}
		s.Stacks(1, wirestream.Addresses(7, 8))
		s.Types(row(1), row(2))
		b := s.Events()
		for i := range uint32(40) {
			h.MetadataID, h.StackID, h.PayloadSize = 10*window+1+i%4, i%2, 4
			h.Sequence, h.Time = h.Sequence+1, h.Time+uint64(i%3)
			b.Add(&h, []byte{byte(i), 1, 2, 3})
			if i%15 == 14 {
				b.Flush()
			}
		}
		b.Flush()
		s.Types(row(3))
		s.Types(row(4))
		s.SequencePoint(h.Time, 0)
	}
	s.End()
	return out.Bytes()
}

// TestLateTypes checks that a trace with metadata rows after their events is written without loss in both orders: each
// event has its type, strict mode reads the result, and it equals the input.
func TestLateTypes(t *testing.T) {
	for _, v := range []wire.Version{wire.V4, wire.V6} {
		in := lateTypes(v)
		if err := checkRewriting(in, &writer.Options{}); err != nil {
			t.Errorf("version %d: %v", v, err)
		}
		for _, order := range []reader.Order{reader.FileOrder, reader.ByTime} {
			var report ntconv.Report
			src, err := reader.New(bytes.NewReader(in), &reader.Options{Order: order, Report: &report})
			if err != nil {
				t.Fatal(err)
			}
			out := write(t, src, &writer.Options{Report: &report})
			if len(report.Entries()) > 0 {
				t.Errorf("version %d, order %v: report %v", v, order, report.Entries())
			}
			back, err := strictly(out, order)
			if err != nil {
				t.Fatal(err)
			}
			n := 0
			for e, err := range ntconv.Events(back) {
				if err != nil {
					t.Fatal(err)
				}
				if e.Kind != ntconv.KindEvent {
					continue
				}
				want := fmt.Sprint("E", n/40, 1+n%40%4)
				if a, ok := e.Field("a"); !ok || a.Kind() != ntconv.ValueInt || e.Type.Name != want {
					t.Errorf("version %d, order %v: event %d is %q with %v, want %q", v, order, n, e.Type.Name, a, want)
				}
				n++
			}
			if n != 120 {
				t.Errorf("version %d, order %v: %d events", v, order, n)
			}
		}
	}
}
