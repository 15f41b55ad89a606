package reader

import (
	"bytes"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/wire"
)

// repeated returns a version 6 trace whose events all refer to the same few rows, in the given number of blocks.
func repeated(tb testing.TB, blocks int, sorted bool) []byte {
	tb.Helper()
	out := wire.AppendStreamHeader(nil, wire.StreamHeader{Version: wire.V6})
	add := func(kind wire.Kind, body []byte) {
		var err error
		if out, err = wire.AppendBlockHeader(out, wire.BlockHeader{Kind: kind, Size: len(body)}); err != nil {
			tb.Fatal(err)
		}
		out = append(out, body...)
	}
	add(wire.KindTrace, wire.AppendTrace(nil, &wire.Trace{SyncTicks: 1, Frequency: 1e9, PointerSize: 8}))
	row, err := wire.AppendMetadata(wire.AppendMetadataHeader(nil, nil), &wire.Metadata{ID: 1, Provider: "Shop", EventID: 1, Name: "Sale"})
	if err != nil {
		tb.Fatal(err)
	}
	add(wire.KindMetadata, row)
	var rows []byte
	for i := range uint64(4) {
		if rows, err = wire.AppendThread(rows, &wire.Thread{Index: i, PID: 7, TID: i, Has: 1<<wire.ThreadPID | 1<<wire.ThreadTID}); err != nil {
			tb.Fatal(err)
		}
	}
	add(wire.KindThread, rows)
	add(wire.KindStack, wire.AppendStack(wire.AppendIDRange(nil, wire.IDRange{First: 1, Count: 1}), make([]byte, 64)))
	seq := [4]uint32{}
	for i := range blocks {
		var prev wire.EventHeader
		body := wire.AppendEventBlockHeader(nil, &wire.EventBlockHeader{Flags: wire.FlagCompressed})
		for j := range 500 {
			th := uint64(j % 4)
			seq[th]++
			h := wire.EventHeader{Time: uint64(i*1000 + 2*(j^1)), Thread: th, CaptureThread: th, MetadataID: 1, Sequence: seq[th],
				StackID: uint32(j % 2), PayloadSize: 8, Sorted: sorted}
			if sorted {
				h.Time = uint64(i*1000 + j)
			}
			body = wire.AppendCompressed(body, &prev, &h)
			body = append(body, "payload!"...)
			prev = h
		}
		add(wire.KindEvent, body)
		if i%4 == 3 && !sorted {
			add(wire.KindSequencePoint, wire.AppendSequencePoint(nil, &wire.SequencePoint{Time: uint64(i*1000 + 1001)}))
			add(wire.KindStack, wire.AppendStack(wire.AppendIDRange(nil, wire.IDRange{First: 1, Count: 1}), make([]byte, 64)))
		}
	}
	add(wire.KindEnd, nil)
	return out
}

// TestAllocations: events cost no allocation. What more events cost, sequence points and stacks included, is counted by
// reading a trace and one twice as long.
func TestAllocations(t *testing.T) {
	const blocks = 200
	for _, sorted := range []bool{true, false} {
		for _, order := range []Order{FileOrder, ByTime} {
			count := func(data []byte) (events int, allocs float64) {
				allocs = testing.AllocsPerRun(5, func() {
					r, err := New(bytes.NewReader(data), &Options{Order: order})
					if err != nil {
						t.Fatal(err)
					}
					events = 0
					for e, err := range ntconv.Events(r) {
						if err != nil {
							t.Fatal(err)
						}
						if e.Kind == ntconv.KindEvent {
							events++
						}
					}
				})
				return events, allocs
			}
			short, base := count(repeated(t, blocks, sorted))
			long, more := count(repeated(t, 2*blocks, sorted))
			perWindow := 0.0
			if !sorted {
				perWindow = 4 // two arrays of stacks, the mark and its list
			}
			if allowed := perWindow*blocks/4 + 4; more-base > allowed {
				t.Errorf("sorted %v, order %v: %d more events cost %.0f allocations, at most %.0f are right", sorted, order, long-short, more-base, allowed)
			}
		}
	}
}
