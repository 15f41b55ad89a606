package writer_test

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/testing/wirestream"
	"github.com/ntconv/ntconv/internal/trace/wire"
	"github.com/ntconv/ntconv/reader"
	"github.com/ntconv/ntconv/writer"
)

// TestLosses checks that the reader counts exactly the events that a recorder omitted, in both orders, also after the
// trace has been rewritten. The recorder numbers each event that it tries to record and omits bursts of them, at the
// beginning of a thread, later, and at its end. It reuses thread IDs before version 6.
func TestLosses(t *testing.T) {
	for seed := range uint64(60) {
		for _, version := range []wire.Version{wire.V4, wire.V6} {
			trace, omitted := lossyTrace(version, rand.New(rand.NewPCG(seed, 5)))
			for _, order := range []reader.Order{reader.FileOrder, reader.ByTime} {
				if counted, delivered := losses(t, trace, order); counted != omitted || delivered != omitted {
					t.Fatalf("seed %d, %v, %v: %d counted, %d as events, want %d", seed, version, order, counted, delivered, omitted)
				}
				copied, err := rewritten(trace, order, &writer.Options{Ordered: order == reader.ByTime})
				if err != nil {
					t.Fatal(err)
				}
				if counted, _ := losses(t, copied, reader.FileOrder); counted != omitted {
					t.Fatalf("seed %d, %v, %v: %d counted after rewriting, want %d", seed, version, order, counted, omitted)
				}
				if err := equalIn(order, trace, copied, nil); err != nil {
					t.Fatalf("seed %d, %v, %v: %v", seed, version, order, err)
				}
			}
		}
	}
}

// losses returns how many events of a trace the report and the events of KindLost state as lost.
func losses(t *testing.T, trace []byte, order reader.Order) (counted, delivered uint64) {
	t.Helper()
	report := &ntconv.Report{}
	r, err := reader.New(bytes.NewReader(trace), &reader.Options{Order: order, Report: report})
	if err != nil {
		t.Fatal(err)
	}
	for e, err := range ntconv.Events(r) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Kind == ntconv.KindLost {
			delivered += uint64(e.Lost)
		}
	}
	return report.Count(ntconv.CodeEventsLost), delivered
}

// lossyTrace writes a trace of a recorder that omits events, and returns how many it omitted.
func lossyTrace(version wire.Version, random *rand.Rand) (trace []byte, omitted uint64) {
	var out bytes.Buffer
	s := wirestream.New(&out, version)
	s.Types(wirestream.Type{ID: 1, Provider: "Shop", Event: 1, Name: "Sale"})
	last := make([]uint32, 1+random.IntN(5)) // numbers of the threads 1 to len(last)
	written := make([]bool, len(last))       // the current thread with the ID has an event in the trace
	bursts := make([]int, len(last))         // events to omit next
	for i := range last {
		bursts[i] = random.IntN(2) * random.IntN(200)
		if version == wire.V6 {
			s.Threads(wire.Thread{Index: uint64(i + 1), Has: 1 << wire.ThreadTID, TID: uint64(i + 1)})
		}
	}
	block := s.Events()
	now := uint64(1000)
	former := make([][]uint32, len(last)) // last numbers of former threads with the ID
	point := func() {
		block.Flush()
		var rows []wire.ThreadSeq
		for i := range last {
			for slices.Contains(former[i], last[i]) { // the number would describe a former thread
				last[i]++
				omitted++
			}
			if last[i] > 0 {
				rows = append(rows, wire.ThreadSeq{Thread: uint64(i + 1), Sequence: last[i]})
			}
		}
		s.SequencePoint(now, 0, rows...)
	}
	for range random.IntN(2000) {
		now++
		switch i := random.IntN(len(last)); {
		case random.IntN(300) == 0:
			point()
		case random.IntN(300) == 0 && version != wire.V6 && written[i]:
			point() // or the end of the thread is unknown
			former[i] = append(former[i], last[i])
			last[i], written[i], bursts[i] = 0, false, 0 // else only the old thread would explain the first number
		case bursts[i] > 0 || written[i] && random.IntN(20) == 0:
			bursts[i] = max(bursts[i], 1+random.IntN(9)) - 1
			last[i]++
			omitted++
		default:
			last[i]++
			written[i] = true
			id := uint64(i + 1)
			h := wire.EventHeader{MetadataID: 1, Sequence: last[i], Thread: id, CaptureThread: id, Time: now, Sorted: true}
			block.Add(&h, nil)
			if random.IntN(40) == 0 {
				block.Flush()
			}
		}
	}
	point()
	s.End()
	return out.Bytes(), omitted
}
