// Package wirestream builds nettrace and netperf streams for tests and benchmarks, block by block and row by row. It
// can write what recorders write, and sizes and padding that no recorder writes. It depends on the wire format, not on
// the model.
package wirestream

import (
	"io"

	"github.com/ntconv/ntconv/internal/data/bin"
	"github.com/ntconv/ntconv/internal/trace/wire"
	"github.com/ntconv/ntconv/internal/trace/wire/legacy"
)

// A Stream writes a stream of version 3, 4 or 6. After an error of the underlying writer it writes nothing. It panics
// for a row that the format cannot represent, because that is a bug in the test. A Stream is not safe for concurrent
// use.
type Stream struct {
	w      io.Writer
	header wire.StreamHeader
	offset int64
	buf    []byte
	stacks map[uint32][]byte // version 3, which stores a stack in each event
	err    error
}

// New writes the stream header and a Trace block with a clock of 1 GHz, 8-byte pointers and, in version 6, attributes.
// The version must be [wire.V3], [wire.V4] or [wire.V6].
func New(w io.Writer, version wire.Version, attributes ...wire.KeyValue) *Stream {
	s := &Stream{w: w, header: wire.StreamHeader{Version: version}}
	t := wire.Trace{
		Sync: wire.SystemTime{2026, 1, 4, 15, 12, 0, 0, 0}, SyncTicks: 1_000_000_000, Frequency: 1_000_000_000, PointerSize: 8,
		ProcessID: 4242, Processors: 8, SamplingRate: 1_000_000,
	}
	s.raw(wire.AppendStreamHeader(nil, s.header))
	if s.header.Objects() {
		s.Block(wire.KindTrace, legacy.AppendTrace(nil, &t))
		return s
	}
	t.KeyValues = append([]wire.KeyValue{
		{Key: "HardwareThreadCount", Value: "8"}, {Key: "ExpectedCPUSamplingRate", Value: "1000000"}, {Key: "ProcessId", Value: "4242"},
	}, attributes...)
	s.Block(wire.KindTrace, wire.AppendTrace(nil, &t))
	return s
}

// Version returns the version of the stream.
func (s *Stream) Version() wire.Version { return s.header.Version }

// Offset returns the number of bytes written.
func (s *Stream) Offset() int64 { return s.offset }

// Err returns the error of the underlying writer.
func (s *Stream) Err() error { return s.err }

// raw writes bytes unchanged.
func (s *Stream) raw(b []byte) {
	if s.err != nil {
		return
	}
	n, err := s.w.Write(b)
	s.offset += int64(n)
	s.err = err
}

// Block writes a block. Before version 6 the kind must have an object name.
func (s *Stream) Block(kind wire.Kind, body []byte) {
	f := s.Claim(kind, len(body), body)
	s.raw(f.AppendEnd(nil))
}

// Claim writes a block header that states a body of size bytes, then body, which may have another size, without an end
// tag. It returns the frame.
func (s *Stream) Claim(kind wire.Kind, size int, body []byte) Frame {
	f := NewFrame(s.header, kind)
	header, err := f.AppendHeader(s.buf[:0], s.offset, int64(size))
	must(err)
	s.buf = header
	s.raw(header)
	s.raw(body)
	return f
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

// End writes the end of the stream.
func (s *Stream) End() { s.Block(wire.KindEnd, nil) }

// A Type is the contents of a metadata row.
type Type struct {
	ID       uint32 // metadata ID
	Provider string
	Event    uint32
	Name     string
	Version  uint8
	Fields   []wire.Field
	// Arrays writes the fields as V2Params before version 6, because V1 fields cannot be arrays.
	Arrays bool
}

// Append appends the metadata row in the encoding of version v.
func (t *Type) Append(dst []byte, v wire.Version) []byte {
	if (wire.StreamHeader{Version: v}).Objects() {
		m := legacy.Metadata{
			ID: t.ID, Provider: t.Provider, EventID: t.Event, Name: t.Name, Version: uint32(t.Version), Has: legacy.HasV1, V1: t.Fields,
		}
		if t.Arrays {
			m.Has, m.V1, m.V2 = legacy.HasV1|legacy.HasV2, nil, t.Fields
		}
		return legacy.AppendMetadata(dst, &m)
	}
	m := wire.Metadata{ID: t.ID, Provider: t.Provider, EventID: t.Event, Name: t.Name, Fields: t.Fields}
	if t.Version > 0 {
		m.Version, m.Has = t.Version, 1<<wire.OptVersion
	}
	dst, err := wire.AppendMetadata(dst, &m)
	must(err)
	return dst
}

// Types writes a metadata block; in version 3, an event block with metadata events.
func (s *Stream) Types(types ...Type) {
	if s.header.Version == wire.V6 {
		body := wire.AppendMetadataHeader(nil, nil)
		for i := range types {
			body = types[i].Append(body, wire.V6)
		}
		s.Block(wire.KindMetadata, body)
		return
	}
	e := s.Events()
	for i := range types {
		row := types[i].Append(nil, s.header.Version)
		e.Add(&wire.EventHeader{PayloadSize: uint32(len(row))}, row)
	}
	if s.header.Version == wire.V3 {
		e.Flush()
		return
	}
	e.FlushAs(wire.KindMetadata)
}

// Stacks writes a stack block. The first stack has the ID first, and the others follow. In version 3 it writes nothing,
// because each event contains its stack.
func (s *Stream) Stacks(first uint32, stacks ...[]byte) {
	if s.header.Version == wire.V3 {
		if s.stacks == nil {
			s.stacks = map[uint32][]byte{}
		}
		for i, st := range stacks {
			s.stacks[first+uint32(i)] = st
		}
		return
	}
	body := wire.AppendIDRange(nil, wire.IDRange{First: first, Count: uint32(len(stacks))})
	for _, st := range stacks {
		body = wire.AppendStack(body, st)
	}
	s.Block(wire.KindStack, body)
}

// Labels writes a label list block of version 6. The first list has the ID first.
func (s *Stream) Labels(first uint32, lists ...[]wire.Label) {
	body := wire.AppendIDRange(nil, wire.IDRange{First: first, Count: uint32(len(lists))})
	for _, list := range lists {
		body = wire.AppendLabels(body, list, false)
	}
	s.Block(wire.KindLabelList, body)
}

// Threads writes a thread block of version 6.
func (s *Stream) Threads(rows ...wire.Thread) {
	var body []byte
	for i := range rows {
		var err error
		body, err = wire.AppendThread(body, &rows[i])
		must(err)
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

// SequencePoint writes a sequence point. Version 3 has none, and only version 6 has flags.
func (s *Stream) SequencePoint(time uint64, flags uint32, threads ...wire.ThreadSeq) {
	sp := wire.SequencePoint{Time: time, Flags: flags, Threads: threads}
	switch s.header.Version {
	case wire.V3:
	case wire.V6:
		s.Block(wire.KindSequencePoint, wire.AppendSequencePoint(nil, &sp))
	default:
		s.Block(wire.KindSequencePoint, legacy.AppendSequencePoint(nil, &sp))
	}
}

// Addresses encodes a stack of 8-byte addresses, leaf first.
func Addresses(pcs ...uint64) (b []byte) {
	for _, pc := range pcs {
		b = bin.AppendU64(b, pc)
	}
	return b
}
