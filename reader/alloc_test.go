package reader

import (
	"bytes"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/testing/wirestream"
	"github.com/ntconv/ntconv/internal/trace/wire"
)

// repeated returns a version 6 trace whose events all refer to the same few rows, in the given number of blocks.
func repeated(blocks int, sorted bool) []byte {
	var out bytes.Buffer
	s := wirestream.New(&out, wire.V6)
	s.Types(wirestream.Type{ID: 1, Provider: "Shop", Event: 1, Name: "Sale"})
	var threads []wire.Thread
	for i := range uint64(4) {
		threads = append(threads, wire.Thread{Index: i, PID: 7, TID: i, Has: 1<<wire.ThreadPID | 1<<wire.ThreadTID})
	}
	s.Threads(threads...)
	s.Stacks(1, make([]byte, 64))
	const start = 1_000_000_000
	seq := [4]uint32{}
	b := s.Events()
	for i := range blocks {
		for j := range 500 {
			th := uint64(j % 4)
			seq[th]++
			h := wire.EventHeader{Time: start + uint64(i*1000+2*(j^1)), Thread: th, CaptureThread: th, MetadataID: 1, Sequence: seq[th],
				StackID: uint32(j % 2), PayloadSize: 8, Sorted: sorted}
			if sorted {
				h.Time = start + uint64(i*1000+j)
			}
			b.Add(&h, []byte("payload!"))
		}
		b.Flush()
		if i%4 == 3 && !sorted {
			s.SequencePoint(start+uint64(i*1000+1001), 0)
			s.Stacks(1, make([]byte, 64))
		}
	}
	s.End()
	return out.Bytes()
}

// TestAllocations checks that events cost no allocation. It compares the allocations for a trace with those for a trace
// twice as long, so that it counts what additional events cost, including sequence points and stacks.
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
			short, base := count(repeated(blocks, sorted))
			long, more := count(repeated(2*blocks, sorted))
			perWindow := 0.0
			if !sorted {
				perWindow = 4 // two arrays of stacks, the mark and its thread list
			}
			if allowed := perWindow*blocks/4 + 4; more-base > allowed {
				t.Errorf("sorted %v, order %v: %d more events cost %.0f allocations, want at most %.0f", sorted, order, long-short, more-base, allowed)
			}
		}
	}
}
