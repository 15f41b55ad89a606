package tracegen

import (
	"bytes"
	"io"
	"math/bits"
	"slices"

	"github.com/ntconv/ntconv/internal/bin"
	"github.com/ntconv/ntconv/internal/wire"
	"github.com/ntconv/ntconv/internal/wire/legacy"
)

// A Stream frames blocks of version 4 or 6. The first error of the writer stops it: nothing is written after that.
type Stream struct {
	w      io.Writer
	v6     bool
	offset int64
	buf    []byte
	err    error
}

// NewStream writes the stream header and a Trace block with a clock of 1 GHz and pointers of 8 bytes. Version is [wire.V4]
// or [wire.V6].
func NewStream(w io.Writer, version wire.Version) *Stream {
	s := &Stream{w: w, v6: version == wire.V6}
	t := wire.Trace{
		Sync: wire.SystemTime{2026, 1, 4, 15, 12, 0, 0, 0}, SyncTicks: 1_000_000_000, Frequency: 1_000_000_000, PointerSize: 8,
		ProcessID: 4242, Processors: 8, SamplingRate: 1_000_000,
	}
	s.Raw(wire.AppendStreamHeader(nil, wire.StreamHeader{Version: version}))
	if s.v6 {
		t.KeyValues = []wire.KeyValue{
			{Key: "HardwareThreadCount", Value: "8"}, {Key: "ExpectedCPUSamplingRate", Value: "1000000"}, {Key: "ProcessId", Value: "4242"},
		}
		s.Block(wire.KindTrace, wire.AppendTrace(nil, &t))
		return s
	}
	s.Block(wire.KindTrace, legacy.AppendTrace(nil, &t))
	return s
}

// Offset returns how many bytes have been written.
func (s *Stream) Offset() int64 { return s.offset }

// Err returns the writer's error.
func (s *Stream) Err() error { return s.err }

// Raw writes bytes as they are.
func (s *Stream) Raw(b []byte) {
	if s.err != nil {
		return
	}
	n, err := s.w.Write(b)
	s.offset += int64(n)
	s.err = err
}

// Block writes a block. A kind that version 4 does not know becomes an object of that name.
func (s *Stream) Block(kind wire.Kind, body []byte) {
	s.Claim(kind, len(body), body)
	if !s.v6 {
		s.Raw(legacy.AppendEndObject(nil))
	}
}

// Claim writes the header of a block that claims to have size bytes, and some or more than these.
func (s *Stream) Claim(kind wire.Kind, size int, body []byte) {
	s.buf = s.buf[:0]
	if s.v6 {
		var err error
		if s.buf, err = wire.AppendBlockHeader(s.buf, wire.BlockHeader{Kind: kind, Size: size}); err != nil && s.err == nil {
			s.err = err
		}
	} else {
		o := legacy.Object{Private: true, Version: 2, MinReader: 0, Name: wire.Kinds[kind].Object, Size: int32(size)}
		if kind == wire.KindTrace {
			o.Version, o.MinReader = 4, 4
		}
		s.buf = legacy.AppendObject(s.buf, &o, s.offset)
	}
	s.Raw(s.buf)
	s.Raw(body)
}

// End writes the end of the trace.
func (s *Stream) End() {
	if s.v6 {
		s.Block(wire.KindEnd, nil)
		return
	}
	s.Raw(legacy.AppendObject(nil, &legacy.Object{End: true}, s.offset))
}

// Types writes a metadata block with these rows.
func (s *Stream) Types(rows ...Type) {
	var body []byte
	if s.v6 {
		body = wire.AppendMetadataHeader(nil, nil)
		for i := range rows {
			body = rows[i].append6(body)
		}
		s.Block(wire.KindMetadata, body)
		return
	}
	e := s.Events()
	for i := range rows {
		row := rows[i].row4()
		e.Add(&wire.EventHeader{PayloadSize: uint32(len(row))}, row)
	}
	s.Block(wire.KindMetadata, e.body)
}

// A Type is what a metadata row says.
type Type struct {
	ID       uint32 // the metadata id
	Provider string
	Event    uint32
	Name     string
	Version  uint8
	Fields   []wire.Field
}

func (t *Type) append6(dst []byte) []byte {
	m := wire.Metadata{ID: t.ID, Provider: t.Provider, EventID: t.Event, Name: t.Name, Fields: t.Fields}
	if t.Version > 0 {
		m.Version, m.Has = t.Version, 1<<wire.OptVersion
	}
	row, err := wire.AppendMetadata(dst, &m)
	if err != nil {
		panic(err) // a shape of this package is wrong
	}
	return row
}

func (t *Type) row4() []byte {
	return legacy.AppendMetadata(nil, &legacy.Metadata{
		ID: t.ID, Provider: t.Provider, EventID: t.Event, Name: t.Name, Version: uint32(t.Version), Has: legacy.HasV1, V1: t.Fields,
	})
}

// Stacks writes a stack block. The first stack gets the id first.
func (s *Stream) Stacks(first uint32, stacks ...[]byte) {
	body := wire.AppendIDRange(nil, wire.IDRange{First: first, Count: uint32(len(stacks))})
	for _, st := range stacks {
		body = wire.AppendStack(body, st)
	}
	s.Block(wire.KindStack, body)
}

// Threads writes a thread block of version 6.
func (s *Stream) Threads(rows ...wire.Thread) {
	var body []byte
	for i := range rows {
		var err error
		if body, err = wire.AppendThread(body, &rows[i]); err != nil {
			panic(err) // a shape of this package is wrong
		}
	}
	s.Block(wire.KindThread, body)
}

// RemoveThreads writes a block of version 6 that ends threads.
func (s *Stream) RemoveThreads(rows ...wire.ThreadSeq) {
	var body []byte
	for _, r := range rows {
		body = wire.AppendThreadSeq(body, r)
	}
	s.Block(wire.KindRemoveThread, body)
}

// SequencePoint writes a sequence point. Flags are those of version 6.
func (s *Stream) SequencePoint(time uint64, flags uint32, threads ...wire.ThreadSeq) {
	sp := wire.SequencePoint{Time: time, Flags: flags, Threads: threads}
	if s.v6 {
		s.Block(wire.KindSequencePoint, wire.AppendSequencePoint(nil, &sp))
		return
	}
	s.Block(wire.KindSequencePoint, legacy.AppendSequencePoint(nil, &sp))
}

// Addresses encodes a stack, leaf first.
func Addresses(pcs ...uint64) (b []byte) {
	for _, pc := range pcs {
		b = bin.AppendU64(b, pc)
	}
	return b
}

// Events begins an event block with compressed headers.
func (s *Stream) Events() *EventBlock {
	e := &EventBlock{s: s}
	e.reset()
	return e
}

// An EventBlock collects the events of one block.
type EventBlock struct {
	s     *Stream
	body  []byte
	prev  wire.EventHeader
	count int
	// Pad is how many bytes more than it needs each number in the headers to come takes, as far as the format allows.
	Pad int
}

func (e *EventBlock) reset() {
	e.body = wire.AppendEventBlockHeader(e.body[:0], &wire.EventBlockHeader{Flags: wire.FlagCompressed})
	e.prev, e.count = wire.EventHeader{}, 0
}

// Add appends an event. The header's PayloadSize must be that of the payload.
func (e *EventBlock) Add(h *wire.EventHeader, payload []byte) {
	start := len(e.body)
	if e.s.v6 {
		e.body = wire.AppendCompressed(e.body, &e.prev, h)
	} else {
		e.body = legacy.AppendCompressed(e.body, &e.prev, h)
	}
	if e.Pad > 0 {
		e.body = append(e.body[:start], e.padded(e.body[start:])...)
	}
	e.prev = *h
	e.body = append(e.body, payload...)
	e.count++
}

// numbers are those of a compressed header, in order, with the flag that announces each and the most bytes it may have.
var numbers = [...]struct {
	flag uint8
	most int
}{
	{wire.HasMetadataID, 5}, {wire.HasCapture, 5}, {wire.HasCapture, 10}, {wire.HasCapture, 5}, {wire.HasThread, 10}, {wire.HasStackID, 5},
	{0, 10}, {wire.HasLabelList, 5}, {wire.HasPayloadSize, 5},
}

// padded returns a compressed header whose numbers take Pad bytes more.
func (e *EventBlock) padded(header []byte) []byte {
	flags := header[0]
	out, header := []byte{flags}, header[1:]
	for _, f := range numbers {
		switch {
		case f.flag == wire.HasLabelList && !e.s.v6: // activity ids stand in its place
			n := 16 * bits.OnesCount8(flags&(wire.HasActivity|wire.HasRelated))
			out, header = append(out, header[:n]...), header[n:]
		case flags&f.flag == f.flag:
			n := 1 + slices.IndexFunc(header, func(b byte) bool { return b < 0x80 })
			out = append(out, header[:n]...)
			if more := min(e.Pad, f.most-n); more > 0 {
				out[len(out)-1] |= 0x80
				out = append(append(out, bytes.Repeat([]byte{0x80}, more-1)...), 0)
			}
			header = header[n:]
		}
	}
	return out
}

// Len returns the size of the block in bytes so far.
func (e *EventBlock) Len() int { return len(e.body) }

// Flush writes the block, if there is an event in it, and begins another one.
func (e *EventBlock) Flush() {
	if e.count > 0 {
		e.s.Block(wire.KindEvent, e.body)
	}
	e.reset()
}
