package tracegen

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/ntconv/ntconv/internal/testing/wirestream"
	"github.com/ntconv/ntconv/internal/trace/wire"
)

// A Late is a generated trace whose metadata rows may follow their events.
type Late struct {
	Version wire.Version // V4 or V6
	Seed    uint64
	Early   bool // each window begins with its metadata rows
	Sorted  bool // some events are sorted
	Missing bool // some IDs have no row
}

// largePayload needs a block of its own in the reader.
const largePayload = 16 << 10

// lateIDs are the metadata IDs of a Late. Rows of the last two are missing.
const lateIDs = 8

// Build returns the trace. Early affects nothing but the positions of metadata blocks.
func (l Late) Build() []byte {
	var out bytes.Buffer
	g := lateGen{Late: l, r: rand.New(rand.NewPCG(l.Seed, uint64(l.Version))), s: wirestream.New(&out, l.Version), seq: map[uint64]uint32{}}
	if l.Version == wire.V6 {
		g.s.Threads(wire.Thread{Index: 1, TID: 1, Has: 1 << wire.ThreadTID}, wire.Thread{Index: 2, TID: 2, Has: 1 << wire.ThreadTID})
	}
	for range 1 + g.r.IntN(4) {
		g.window()
	}
	if g.r.IntN(2) == 0 {
		g.s.SequencePoint(g.time, 0)
	}
	g.s.End()
	return out.Bytes()
}

type lateGen struct {
	Late
	r       *rand.Rand
	s       *wirestream.Stream
	time    uint64 // no later event is earlier
	count   uint64
	seq     map[uint64]uint32
	defined [lateIDs + 1]bool
	extra   uint64 // threads that ended
}

// window writes blocks in random order. An ID has at most one row.
func (g *lateGen) window() {
	if g.time == 0 {
		g.time = 1_000_000_000
	} else {
		g.time += 1000
		g.s.SequencePoint(g.time, 0)
	}
	g.s.Stacks(1, wirestream.Addresses(g.r.Uint64N(5), 2), wirestream.Addresses(3))
	var rows, others []func()
	first := g.time
	for range g.r.IntN(12) {
		others = append(others, g.block(first))
	}
	for id := uint32(1); id <= lateIDs; id++ {
		if g.Missing && id > lateIDs-2 || g.defined[id] || g.r.IntN(3) == 0 {
			continue
		}
		g.defined[id] = true
		rows = append(rows, func() {
			g.s.Types(wirestream.Type{ID: id, Provider: "P", Event: id, Name: fmt.Sprint("E", id)})
		})
	}
	all := slices.Clone(others)
	for _, f := range rows {
		all = slices.Insert(all, g.r.IntN(len(all)+1), f)
	}
	if g.Early {
		all = append(rows, others...)
	}
	for _, f := range all {
		f()
	}
}

// block returns a function that writes a block of events, or something that has no time.
func (g *lateGen) block(first uint64) func() {
	if g.Version == wire.V6 {
		switch g.r.IntN(6) {
		case 0:
			return func() { g.s.Block(wire.Kind(77), []byte("opaque")) }
		case 1:
			g.extra++
			id, h := 100+g.extra, g.header(first) // the number of this event is a loss of the other thread
			h.Thread, h.CaptureThread, h.Sequence, h.PayloadSize = id, id, 1, 0
			return func() { // a thread with one event
				g.s.Threads(wire.Thread{Index: id, TID: id, Has: 1 << wire.ThreadTID})
				b := g.s.Events()
				b.Add(&h, nil)
				b.Flush()
				g.s.RemoveThreads(wire.ThreadSeq{Thread: id, Sequence: 1})
			}
		}
	}
	var events []wire.EventHeader
	for range g.r.IntN(30) {
		events = append(events, g.header(first))
	}
	return func() {
		b := g.s.Events()
		for i := range events {
			b.Add(&events[i], bytes.Repeat([]byte{byte(events[i].Time)}, int(events[i].PayloadSize)))
		}
		b.Flush()
	}
}

// header returns the header of the next event. No two events have the same time.
func (g *lateGen) header(first uint64) (h wire.EventHeader) {
	g.count++
	h.Time = max(first, g.time) + g.r.Uint64N(20)
	h.Time = h.Time<<12 + g.count
	if h.Sorted = g.Sorted && g.r.IntN(20) == 0; h.Sorted {
		g.time = h.Time>>12 + 1
	}
	h.MetadataID = 1 + g.r.Uint32N(lateIDs)
	h.Thread = 1 + g.r.Uint64N(2)
	h.CaptureThread, h.StackID = h.Thread, g.r.Uint32N(3)
	g.seq[h.Thread]++
	h.Sequence = g.seq[h.Thread]
	h.PayloadSize = g.r.Uint32N(100)
	if g.r.IntN(50) == 0 {
		h.PayloadSize = largePayload
	}
	return h
}
