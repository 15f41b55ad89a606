package writer_test

import (
	"bytes"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/testing/wirestream"
	"github.com/ntconv/ntconv/internal/trace/wire"
	"github.com/ntconv/ntconv/reader"
	"github.com/ntconv/ntconv/writer"
)

// unknownTrace has an event of a type that the argument modifies, and a block of unknown kind.
func unknownTrace(t *testing.T, change func(m *wire.Metadata)) []byte {
	var out bytes.Buffer
	s := wirestream.New(&out, wire.V6)
	m := wire.Metadata{ID: 1, Provider: "P", EventID: 5, Name: "N", Fields: []wire.Field{{Name: "a", Type: wire.Type{Code: wire.TypeInt32}}}}
	change(&m)
	row, err := wire.AppendMetadata(wire.AppendMetadataHeader(nil, nil), &m)
	if err != nil {
		t.Fatal(err)
	}
	s.Block(wire.KindMetadata, row)
	s.Threads(wire.Thread{Index: 1, TID: 3, Has: 1 << wire.ThreadTID})
	b := s.Events()
	b.Add(&wire.EventHeader{MetadataID: 1, Sequence: 1, CaptureThread: 1, Thread: 1, Time: 1_000_000_001, PayloadSize: 8, Sorted: true}, make([]byte, 8))
	b.Flush()
	s.Block(wire.Kind(77), []byte("abc"))
	s.End()
	return out.Bytes()
}

// TestDropUnknown checks that parts that TraceEvent rejects are counted, and omitted with DropUnknown: then TraceEvent, and
// package reader in strict mode, read the trace. If TraceEvent is available, the test runs it for each case.
func TestDropUnknown(t *testing.T) {
	opaque := wire.Field{Name: "b", Opaque: true, Extra: []byte{99, 2, 3}}
	for name, c := range map[string]struct {
		change  func(m *wire.Metadata)
		refused bool
		dropped uint64 // including the block
		fields  int
	}{
		"nothing":         {func(*wire.Metadata) {}, false, 1, 1},
		"optional kind":   {func(m *wire.Metadata) { m.OptionalExtra = []byte{99, 1, 2} }, true, 2, 1},
		"bytes after it":  {func(m *wire.Metadata) { m.Extra = []byte{99, 1, 2} }, false, 1, 1},
		"bytes of fields": {func(m *wire.Metadata) { m.Fields[0].Extra = []byte{1, 2} }, false, 1, 1},
		"field":           {func(m *wire.Metadata) { m.Fields = append(m.Fields, opaque, m.Fields[0]) }, true, 3, 1},
		"field of a field": {func(m *wire.Metadata) {
			m.Fields = append(m.Fields, wire.Field{Name: "o", Type: wire.Type{Code: wire.TypeObject, Fields: []wire.Field{opaque}}})
		}, true, 2, 1},
	} {
		t.Run(name, func(t *testing.T) {
			in := unknownTrace(t, c.change)
			for _, drop := range []bool{false, true} {
				var report ntconv.Report
				out := write(t, read(t, in), &writer.Options{DropUnknown: drop, Report: &report})
				kept, dropped := uint64(0), uint64(0)
				if c.refused && !drop {
					kept = 1
				}
				if drop {
					dropped = c.dropped
				}
				if k, d := report.Count(ntconv.CodeUnknownKept), report.Count(ntconv.CodeUnknownDropped); k != kept || d != dropped {
					t.Errorf("drop %v: %d kept and %d dropped, want %d and %d", drop, k, d, kept, dropped)
				}
				_, err := tallyOf(out, reader.FileOrder)
				if refused := err != nil; refused != (kept > 0) {
					t.Errorf("drop %v: strict reading says %v", drop, err)
				}
				if drop {
					typ := typeOf(t, out)
					if len(typ.Fields) != c.fields || len(typ.OptionalExtra) > 0 {
						t.Errorf("left are %+v", typ)
					}
				}
			}
		})
	}
	t.Run("reference", func(t *testing.T) {
		for _, change := range []func(m *wire.Metadata){
			func(m *wire.Metadata) { m.OptionalExtra = []byte{99, 1, 2} },
			func(m *wire.Metadata) { m.Fields = append(m.Fields, opaque) },
		} {
			in := unknownTrace(t, change)
			for _, drop := range []bool{false, true} {
				out := traceEvent(t, "summary", write(t, read(t, in), &writer.Options{DropUnknown: drop}))
				if refuses := bytes.Contains(out, []byte(`"error"`)); refuses == drop {
					t.Errorf("drop %v: %s", drop, out)
				}
			}
		}
	})
}

// typeOf returns the type of the first event.
func typeOf(t *testing.T, b []byte) *ntconv.Type {
	t.Helper()
	for e, err := range ntconv.Events(read(t, b)) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Kind == ntconv.KindEvent {
			return e.Type
		}
	}
	t.Fatal("no event")
	return nil
}
