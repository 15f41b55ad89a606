package wire

import (
	"fmt"

	"github.com/ntconv/ntconv/internal/data/bin"
)

// Limits bound the content of a metadata row. Zero selects the default.
type Limits struct {
	Depth  int // levels of nested types: 32
	Fields int // fields of a row, including nested ones: 4,096
	Name   int // provider, event or field name, in bytes (version 6) or UTF-16 units (before): 65,536
}

// WithDefaults returns l with the default for each zero member.
func (l Limits) WithDefaults() Limits {
	if l.Depth == 0 {
		l.Depth = 32
	}
	if l.Fields == 0 {
		l.Fields = 4096
	}
	if l.Name == 0 {
		l.Name = 1 << 16
	}
	return l
}

// Metadata is a row of a version 6 metadata block: the description of an event type.
type Metadata struct {
	ID       uint32
	Provider string
	EventID  uint32
	Name     string // may be empty
	Fields   []Field

	Has                  OptionalSet // the members up to Description that the row contains
	Opcode               uint8
	Level                uint8
	Version              uint8
	Keywords             uint64
	ProviderGUID         [16]byte // in file order
	Message, Description string
	KeyValues            []KeyValue

	OptionalExtra []byte // the optional elements from the first one of unknown kind, borrowed
	Extra         []byte // bytes after the optional elements, borrowed
}

// An OptionalSet is the set of optional members that a [Metadata] contains, as bits: 1<<OptOpcode and so on.
type OptionalSet uint16

// Has reports whether k is in the set.
func (s OptionalSet) Has(k OptionalKind) bool { return s>>k&1 != 0 }

// ParseMetadataHeader reads the header of a metadata block ("MetadataBlock") and returns its uninterpreted bytes,
// borrowed.
func ParseMetadataHeader(c *bin.Cursor) ([]byte, error) {
	extra := c.At("MetadataBlock/HeaderSize").Bytes(int(c.U16()))
	return extra, c.Err()
}

// AppendMetadataHeader is the inverse of [ParseMetadataHeader]. extra must not exceed 65,535 bytes.
func AppendMetadataHeader(dst, extra []byte) []byte {
	return append(bin.AppendU16(dst, uint16(len(extra))), extra...)
}

// ParseMetadata reads a row of a metadata block. The last occurrence of a repeated optional element wins; key/values
// accumulate.
//
// A type or optional element that cannot be parsed does not end the row, because sizes frame it: the row has everything
// else, and the error wraps ErrUnknown, ErrValue (a RelLoc or DataLoc of elements without a fixed size) or ErrLimit. A
// field whose type cannot be parsed is opaque. A truncated row (ErrShort), or one with a name that is too long
// (ErrLimit), is returned up to the error.
func ParseMetadata(c *bin.Cursor, limits Limits) (m Metadata, err error) {
	p := newTypeParser(limits)
	row := c.At("Metadata/RowSize").Sub(int(c.U16()))
	m.ID = row.At("Metadata/MetadataId").Varuint32()
	m.Provider = p.name(&row, "Metadata/ProviderName")
	m.EventID = row.At("Metadata/EventId").Varuint32()
	m.Name = p.name(&row, "Metadata/EventName")
	m.Fields = p.fields(&row, 1)
	m.parseOptional(&row, &p)
	m.Extra = row.Rest()
	p.note(row.Err())
	return m, p.err
}

// parseOptional reads the optional elements of a row, up to the first one of unknown kind, whose length is unknown.
func (m *Metadata) parseOptional(row *bin.Cursor, p *typeParser) {
	c := row.At("Metadata/OptionalSize").Sub(int(row.U16()))
	for c.Len() > 0 {
		at := c
		kind := c.At("Metadata/OptionalKind").U8()
		spec := attrSpec(OptionalKinds[:], kind)
		if spec.Name == "" {
			m.OptionalExtra = bytesFrom(at)
			at.Fail("Metadata/OptionalKind", fmt.Errorf("%w %d of optional metadata", bin.ErrUnknown, kind))
			c = at
			break
		}
		v := ParseValue(c.At(spec.Name), spec.Shape, false)
		if c.Err() == nil {
			m.set(OptionalKind(kind), &v)
		}
	}
	p.note(c.Err())
}

// bytesFrom returns the unread bytes of a cursor. The cursor is a copy, so the caller's one does not move.
func bytesFrom(c bin.Cursor) []byte { return c.Rest() }

// set stores the value of an optional element.
func (m *Metadata) set(kind OptionalKind, v *Value) {
	switch kind {
	case OptOpcode:
		m.Opcode = uint8(v.Num)
	case OptKeywords:
		m.Keywords = v.Uint()
	case OptMessage:
		m.Message = v.Str
	case OptDescription:
		m.Description = v.Str
	case OptProviderGUID:
		m.ProviderGUID = v.ID
	case OptLevel:
		m.Level = uint8(v.Num)
	case OptVersion:
		m.Version = uint8(v.Num)
	case OptKeyValue:
		m.KeyValues = append(m.KeyValues, KeyValue{v.Key, v.Str})
		return
	}
	m.Has |= 1 << kind
}

// Meaningful returns m.Has without the members whose value is zero, because zero is also the value of a missing member.
// An opcode stays, because opcode 0 differs from a missing opcode.
func (m *Metadata) Meaningful() (s OptionalSet) {
	for kind := OptOpcode; kind <= OptVersion; kind++ {
		if v := m.optional(kind); m.Has.Has(kind) && (kind == OptOpcode || v != Value{}) {
			s |= 1 << kind
		}
	}
	return s
}

// optional returns the value that set stored for kind.
func (m *Metadata) optional(kind OptionalKind) (v Value) {
	switch kind {
	case OptOpcode:
		v.Num = int64(m.Opcode)
	case OptKeywords:
		v.Num = int64(m.Keywords)
	case OptMessage:
		v.Str = m.Message
	case OptDescription:
		v.Str = m.Description
	case OptProviderGUID:
		v.ID = m.ProviderGUID
	case OptLevel:
		v.Num = int64(m.Level)
	case OptVersion:
		v.Num = int64(m.Version)
	}
	return v
}

// AppendMetadata is the inverse of [ParseMetadata]. It writes optional elements in the order of their kinds. A row,
// field or optional part above 65,535 bytes is ErrLimit; dst then has no part of the row.
func AppendMetadata(dst []byte, m *Metadata) ([]byte, error) {
	start := len(dst)
	dst = append(dst, 0, 0)
	dst = bin.AppendVaruint(dst, uint64(m.ID))
	dst = bin.AppendString(dst, m.Provider)
	dst = bin.AppendVaruint(dst, uint64(m.EventID))
	dst = bin.AppendString(dst, m.Name)
	dst, err := AppendFields(dst, m.Fields)
	if err != nil {
		return dst[:start], err
	}
	if dst, err = m.appendOptional(dst); err != nil {
		return dst[:start], err
	}
	return patchSize(append(dst, m.Extra...), start, LimitMetadata)
}

func (m *Metadata) appendOptional(dst []byte) ([]byte, error) {
	start := len(dst)
	dst = append(dst, 0, 0)
	for i, spec := range OptionalKinds {
		kind := OptionalKind(i)
		if m.Has.Has(kind) {
			v := m.optional(kind)
			dst = AppendValue(append(dst, byte(kind)), spec.Shape, &v, false)
		}
		if kind == OptKeyValue {
			for _, kv := range m.KeyValues {
				dst = AppendValue(append(dst, byte(kind)), spec.Shape, &Value{Key: kv.Key, Str: kv.Value}, false)
			}
		}
	}
	return patchSize(append(dst, m.OptionalExtra...), start, LimitOptional)
}
