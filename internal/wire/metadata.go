package wire

import (
	"fmt"

	"github.com/ntconv/ntconv/internal/bin"
)

// Limits bound what a metadata row may hold. Zero members mean the defaults.
type Limits struct {
	Depth  int // nesting of types; 32
	Fields int // of a row, nested ones included; 4096
	Name   int // length of a provider, event or field name: bytes in version 6, UTF-16 units before; 65,536
}

// WithDefaults returns l with the defaults filled in.
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

// Metadata is a row of a version 6 metadata block: the description of a type of events.
type Metadata struct {
	ID       uint32
	Provider string
	EventID  uint32
	Name     string // may be empty
	Fields   []Field

	Has                  OptionalSet // which of the members up to Description were given
	Opcode               uint8
	Level                uint8
	Version              uint8
	Keywords             uint64
	ProviderGUID         [16]byte // in file order
	Message, Description string
	KeyValues            []KeyValue

	OptionalExtra []byte // from an optional element of unknown kind to the end of the optional elements, borrowed
	Extra         []byte // bytes behind the optional elements, borrowed
}

// An OptionalSet says which optional members a [Metadata] has: 1<<OptOpcode and so on.
type OptionalSet uint16

// Has reports whether k was given.
func (s OptionalSet) Has(k OptionalKind) bool { return s>>k&1 != 0 }

// ParseMetadataHeader reads the header of a metadata block ("MetadataBlock") and returns its uninterpreted bytes,
// borrowed.
func ParseMetadataHeader(c *bin.Cursor) ([]byte, error) {
	extra := c.At("MetadataBlock/HeaderSize").Bytes(int(c.U16()))
	return extra, c.Err()
}

// AppendMetadataHeader is the inverse of [ParseMetadataHeader]; extra must not exceed 65,535 bytes.
func AppendMetadataHeader(dst, extra []byte) []byte {
	return append(bin.AppendU16(dst, uint16(len(extra))), extra...)
}

// ParseMetadata reads a row of a metadata block. Where an optional element is repeated the last one counts; key/values
// accumulate.
//
// A type or optional element that is not understood does not end the row, since sizes frame it: the error, which wraps
// ErrUnknown, ErrValue (a RelLoc or DataLoc of elements without a fixed size) or ErrLimit, comes with a row that has
// everything else. A field whose type is not understood is opaque. A row that is cut (ErrShort), or has too long a name
// (ErrLimit), is returned as far as it goes.
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

// bytesFrom returns the unread bytes of a copy of a cursor.
func bytesFrom(c bin.Cursor) []byte { return c.Rest() }

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

// Meaningful returns the members of m.Has that say something: an opcode, because 0 is one, and all others unless they
// are given as the zero value, which they have anyway.
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

// AppendMetadata is the inverse of [ParseMetadata], with the optional elements in the order of their kinds. A row,
// field or optional part above 65,535 bytes is ErrLimit.
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
