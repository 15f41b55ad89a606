package legacy

import (
	"encoding/binary"
	"fmt"

	"github.com/ntconv/ntconv/internal/data/bin"
	"github.com/ntconv/ntconv/internal/trace/wire"
)

// The tags that may follow the fields of a metadata row ("Metadata event encoding").
const (
	tagOpcode   = 1
	tagV2Params = 2
)

// Metadata is the payload of an event in a metadata block, or of a version 3 event with metadata ID 0.
type Metadata struct {
	ID       uint32
	Provider string
	EventID  uint32
	Name     string // empty for the events of native providers
	Keywords uint64
	Version  uint32 // TraceEvent keeps 8 bits of Version and Level, and 16 bits of EventID
	Level    uint32

	Has    Set
	Opcode uint8
	V1, V2 []wire.Field // see Fields
	// Extra has the complete unknown tags or, if the V1 field list could not be parsed, all bytes from that list on.
	Extra []byte
}

// A Set is the set of optional parts that a [Metadata] contains.
type Set uint8

// The parts of a [Set].
const (
	HasV1     Set = 1 << iota // a V1 field count, possibly 0; all known writers write it
	HasOpcode                 // the opcode tag
	HasV2                     // the V2Params tag, from version 5 on
)

// Fields returns the effective fields: V2 if the row has it, because V1 cannot represent arrays and is then empty.
func (m *Metadata) Fields() []wire.Field {
	if m.Has&HasV2 != 0 {
		return m.V2
	}
	return m.V1
}

// ParseMetadata reads a metadata row, which extends to the end of c.
//
// The errors, and the part of a row that is returned with them, are those of [wire.ParseMetadata]. But no sizes frame
// V1 fields: after a type that cannot be parsed, the end of the field is unknown, so the rest of the row from the field
// list on is in Extra.
func ParseMetadata(c *bin.Cursor, limits wire.Limits) (m Metadata, err error) {
	p := newTypeParser(limits)
	m.ID = c.At("Metadata/MetadataId").U32()
	m.Provider = p.name(c, "Metadata/ProviderName")
	m.EventID = c.At("Metadata/EventId").U32()
	m.Name = p.name(c, "Metadata/EventName")
	m.Keywords = c.At("Metadata/Keywords").U64()
	m.Version = c.At("Metadata/Version").U32()
	m.Level = c.At("Metadata/Level").U32()
	if c.Len() == 0 {
		return m, c.Err()
	}
	at := *c
	m.V1, err = p.fieldsV1(c, 1)
	if err != nil {
		m.V1 = nil
		m.Extra = at.Rest()
		return m, err
	}
	m.Has |= HasV1
	for c.Len() > 0 {
		m.parseTag(c, &p)
	}
	p.note(c.Err())
	return m, p.err
}

// parseTag reads one tag. It copies an unknown tag to Extra.
func (m *Metadata) parseTag(c *bin.Cursor, p *typeParser) {
	at := *c
	n := c.At("Metadata/TagSize").I32()
	kind := c.At("Metadata/Tag").U8()
	if n < 0 && c.Err() == nil {
		at.Fail("Metadata/TagSize", fmt.Errorf("%w: %d, want 0 or more", bin.ErrValue, n))
		*c = at
		return
	}
	tag := c.At("Metadata/Tag").Sub(int(n))
	switch {
	case c.Err() != nil:
	case kind == tagOpcode:
		m.Has |= HasOpcode
		m.Opcode = tag.At("Metadata/Opcode").U8()
		p.note(tag.Err())
	case kind == tagV2Params:
		m.Has |= HasV2
		m.V2 = p.fieldsV2(&tag, 1)
		p.note(tag.Err())
	default:
		m.Extra = append(m.Extra, at.Bytes(at.Len()-c.Len())...)
	}
}

// AppendMetadata is the inverse of [ParseMetadata]. Like .NET runtimes, it writes the opcode tag before V2Params.
func AppendMetadata(dst []byte, m *Metadata) []byte {
	dst = bin.AppendU32(dst, m.ID)
	dst = bin.AppendUTF16Z(dst, m.Provider)
	dst = bin.AppendU32(dst, m.EventID)
	dst = bin.AppendUTF16Z(dst, m.Name)
	dst = bin.AppendU64(dst, m.Keywords)
	dst = bin.AppendU32(dst, m.Version)
	dst = bin.AppendU32(dst, m.Level)
	if m.Has&HasV1 != 0 {
		dst = appendFieldsV1(dst, m.V1)
	}
	if m.Has&HasOpcode != 0 {
		dst = append(bin.AppendU32(dst, 1), tagOpcode, m.Opcode)
	}
	if m.Has&HasV2 != 0 {
		size := len(dst)
		dst = append(bin.AppendU32(dst, 0), tagV2Params)
		body := len(dst)
		dst = appendFieldsV2(dst, m.V2)
		binary.LittleEndian.PutUint32(dst[size:], uint32(len(dst)-body))
	}
	return append(dst, m.Extra...)
}
