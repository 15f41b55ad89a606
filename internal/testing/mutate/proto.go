package mutate

import (
	"encoding/binary"
	"slices"
)

// A field is a field of a protobuf message. If its bytes parse as a message, it has fields, although it may be a
// string.
type field struct {
	number int
	wire   byte
	value  uint64  // for wire types 0, 1 and 5
	bytes  []byte  // for wire type 2 without fields
	fields []field // for wire type 2
}

const (
	wireVarint = 0
	wireFixed8 = 1
	wireBytes  = 2
	wireFixed4 = 5

	maxDepth = 8
)

// parseProto returns the fields of a message, or nil if the bytes are not a message.
func parseProto(b []byte, depth int) (fields []field) {
	for len(b) > 0 {
		tag, n := binary.Uvarint(b)
		if n <= 0 || tag>>3 == 0 || tag>>3 > 1<<20 {
			return nil
		}
		b = b[n:]
		f := field{number: int(tag >> 3), wire: byte(tag & 7)}
		switch f.wire {
		case wireVarint:
			f.value, n = binary.Uvarint(b)
			if n <= 0 {
				return nil
			}
		case wireFixed8, wireFixed4:
			if n = 8; f.wire == wireFixed4 {
				n = 4
			}
			if len(b) < n {
				return nil
			}
			var v [8]byte
			copy(v[:], b[:n])
			f.value = binary.LittleEndian.Uint64(v[:])
		case wireBytes:
			size, n2 := binary.Uvarint(b)
			if n2 <= 0 || size > uint64(len(b)-n2) {
				return nil
			}
			n = n2 + int(size)
			f.bytes = b[n2:n]
			if depth < maxDepth {
				f.fields = parseProto(f.bytes, depth+1)
			}
		default:
			return nil
		}
		b = b[n:]
		fields = append(fields, f)
	}
	return fields
}

// editProto edits one to six fields at any depth and encodes the message again.
func (m *Mutator) editProto() bool {
	if len(m.seed.fields) == 0 {
		return false
	}
	fields := slices.Clone(m.seed.fields)
	for range 1 + m.r.IntN(6) {
		fields = m.editFields(fields)
	}
	m.buf = m.appendFields(m.buf[:0], fields)
	return true
}

// editFields returns a copy of fields with one edit at a random depth.
func (m *Mutator) editFields(fields []field) []field {
	fields = slices.Clone(fields)
	if len(fields) == 0 {
		return append(fields, field{number: 1 + m.r.IntN(16), value: m.extreme()})
	}
	i := m.r.IntN(len(fields))
	f := &fields[i]
	if len(f.fields) > 0 && m.r.IntN(4) > 0 {
		f.fields = m.editFields(f.fields)
		return fields
	}
	switch m.r.IntN(10) {
	case 0:
		return slices.Delete(fields, i, i+1)
	case 1:
		return slices.Insert(fields, i, *f)
	case 2:
		return slices.Insert(fields, m.r.IntN(len(fields)), *f)
	case 3:
		f.number = 1 + m.r.IntN(20)
	case 4: // insert a field of another message
		if other := m.seeds[m.r.IntN(len(m.seeds))].fields; len(other) > 0 {
			return slices.Insert(fields, i, other[m.r.IntN(len(other))])
		}
	default:
		m.editValue(f)
	}
	return fields
}

func (m *Mutator) editValue(f *field) {
	if f.wire != wireBytes {
		f.value = [...]uint64{m.extreme(), m.extreme(), f.value + 1, f.value - 1, -f.value}[m.r.IntN(5)]
		return
	}
	b := slices.Clone(f.bytes)
	f.fields = nil
	switch m.r.IntN(5) {
	case 0:
		b = nil
	case 1:
		b = append(b, b...)
	case 2:
		b = binary.AppendUvarint(b, m.extreme()) // packed numbers
	case 3:
		b = b[:m.r.IntN(len(b)+1)]
	default:
		if len(b) > 0 {
			b[m.r.IntN(len(b))] = byte(m.r.Uint32())
		}
	}
	f.bytes = b
}

// appendFields encodes a message.
func (m *Mutator) appendFields(b []byte, fields []field) []byte {
	for i := range fields {
		f := &fields[i]
		b = binary.AppendUvarint(b, uint64(f.number)<<3|uint64(f.wire))
		switch f.wire {
		case wireVarint:
			b = binary.AppendUvarint(b, f.value)
		case wireFixed8:
			b = binary.LittleEndian.AppendUint64(b, f.value)
		case wireFixed4:
			b = binary.LittleEndian.AppendUint32(b, uint32(f.value))
		default:
			body := f.bytes
			if len(f.fields) > 0 {
				body = m.appendFields(nil, f.fields)
			}
			b = append(binary.AppendUvarint(b, uint64(len(body))), body...)
		}
	}
	return b
}
