package parquet

import (
	"encoding/binary"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/data/bin"
	"github.com/ntconv/ntconv/internal/files/spool"
)

// A record holds what a typed table needs of an event, with the payload not yet decoded. In a chunk it is encoded as:
//
//	flags, uvarint variant, 8 zigzag varint differences of fixed to the previous record, the IDs that flags lists,
//
//	uvarint length of the payload, payload
type record struct {
	variant int // index in typedTable.variants
	fixed   fixedValues
	flags   recordFlags
	trace   [16]byte
	span    [8]byte
	active  [16]byte
	payload []byte
}

// fixedValues are the numbers of a record. A chunk stores them as differences to the previous record.
type fixedValues [8]int64

const (
	valueID = iota
	valueNanos
	valueProcess
	valueThread
	valuePID
	valueTID
	valueCPU
	valueStack
)

// recordFlags states which optional parts a record has.
type recordFlags uint8

const (
	recordPointer4 recordFlags = 1 << iota // pointers in the payload have 4 bytes
	recordTrace                            // the record has the ID of this kind, as for the next two flags
	recordSpan
	recordActivity

	recordIDs = recordTrace | recordSpan | recordActivity
)

// maxRecord is the maximum size of an encoded record without its payload, in bytes.
const maxRecord = 1 + 40 + (2+len(fixedValues{}))*binary.MaxVarintLen64

// setLabels sets the IDs of the record from the labels of an event.
func (r *record) setLabels(l *ntconv.Labels) {
	if id, ok := l.ID(ntconv.LabelTraceID); ok {
		r.flags, r.trace = r.flags|recordTrace, id
	}
	if id, ok := l.ID(ntconv.LabelSpanID); ok {
		r.flags, r.span = r.flags|recordSpan, [8]byte(id[:8])
	}
	if id, ok := l.ID(ntconv.LabelActivityID); ok {
		r.flags, r.active = r.flags|recordActivity, id
	}
}

// append appends the encoded record to a chunk. last holds the fixed values of the chunk's previous record; append
// updates it.
func (r *record) append(b []byte, last *fixedValues) []byte {
	b = append(b, byte(r.flags))
	b = binary.AppendUvarint(b, uint64(r.variant))
	for i, v := range r.fixed {
		d := v - last[i]
		if u := uint64(d)<<1 ^ uint64(d>>63); u < 0x80 {
			b = append(b, byte(u))
		} else {
			b = binary.AppendUvarint(b, u)
		}
	}
	*last = r.fixed
	if r.flags&recordTrace != 0 {
		b = append(b, r.trace[:]...)
	}
	if r.flags&recordSpan != 0 {
		b = append(b, r.span[:]...)
	}
	if r.flags&recordActivity != 0 {
		b = append(b, r.active[:]...)
	}
	b = binary.AppendUvarint(b, uint64(len(r.payload)))
	return append(b, r.payload...)
}

// read decodes the first record of b into r, whose fixed values must be those of the previous record, and returns the
// rest of b. The payload aliases b. read returns a *spool.Error if the bytes are not a record.
func (r *record) read(b []byte) (rest []byte, err error) {
	in := bin.Reader{B: b}
	r.flags = recordFlags(in.Uvarint())
	r.variant = int(in.Uvarint())
	for i := range r.fixed {
		r.fixed[i] += in.Varint()
	}
	if r.flags&recordTrace != 0 {
		copy(r.trace[:], in.Bytes(16))
	}
	if r.flags&recordSpan != 0 {
		copy(r.span[:], in.Bytes(8))
	}
	if r.flags&recordActivity != 0 {
		copy(r.active[:], in.Bytes(16))
	}
	r.payload = in.Bytes(int(in.Uvarint()))
	if in.Failed || r.variant < 0 {
		return nil, &spool.Error{Err: spool.ErrChanged}
	}
	return in.B, nil
}
