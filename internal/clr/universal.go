package clr

import (
	"encoding/binary"

	"github.com/ntconv/ntconv"
)

// Views of machine-wide traces (universal, 1.3 and 1.8; nettrace-in-practice, 4.2). The process is that of the event's
// thread. Payloads may be longer than a view says: one-collect leaves an undeclared tail. Text is UTF-8, borrowed from
// the event.

// A Process is the payload of ExistingProcess and ProcessCreate.
type Process struct {
	NamespaceID   uint64 // the process's id inside its own id namespace; 0 if unknown
	Name          []byte // at most 15 bytes on Linux
	NamespaceName []byte // one-collect always writes Unknown
	Existing      bool   // it ran before the session began. May be repeated, once a thread
}

// ParseProcess reads an event of class ClassUniversalProcess; p is overwritten. It returns false if the payload is too
// short. So do the other views of Universal.System.
func ParseProcess(e *ntconv.Event, p *Process) bool {
	c := cursor{b: e.Payload}
	*p = Process{NamespaceID: c.uvarint(), Name: c.text(), NamespaceName: c.text(), Existing: e.Type.ID == 0}
	return !c.short
}

// A Mapping is the payload of ProcessMapping: a piece of a file, or of generated code, in the process's address space.
type Mapping struct {
	// ID is unique in its process only: a forked child repeats its parent's mappings under the same ids.
	ID uint64
	// Start and End are as recorded. One-collect means End to be the last address; PerfView takes it for the first one
	// behind. An End that is a multiple of the page size is the latter. See Limit.
	Start, End uint64
	Offset     uint64 // in File of what lies at Start, in bytes
	File       []byte // empty for generated code; vmlinux for the kernel
	MetadataID uint64 // of a MappingMetadata; 0 if there is none
}

// Limit returns the first address behind the mapping, whichever way End was meant, and all bits set where that is 2^64.
func (m *Mapping) Limit() uint64 {
	if m.End&0xfff == 0xfff && m.End != ^uint64(0) {
		return m.End + 1
	}
	return m.End
}

// ParseMapping reads an event of class ClassUniversalMapping; m is overwritten.
func ParseMapping(e *ntconv.Event, m *Mapping) bool {
	c := cursor{b: e.Payload}
	*m = Mapping{
		ID:         c.uvarint(),
		Start:      c.uvarint(),
		End:        c.uvarint(),
		Offset:     c.uvarint(),
		File:       c.text(),
		MetadataID: c.uvarint(),
	}
	return !c.short
}

// A Symbol is the payload of ProcessSymbol: a named range of addresses inside a mapping. It often comes after the
// samples that need it, and it is repeated for each process that shares the mapping.
type Symbol struct {
	ID, MappingID uint64
	// Start and End are addresses, End the last one of the symbol. For generated code it is one too far.
	Start, End uint64
	Name       []byte
}

// ParseSymbol reads an event of class ClassUniversalSymbol; s is overwritten.
func ParseSymbol(e *ntconv.Event, s *Symbol) bool {
	c := cursor{b: e.Payload}
	*s = Symbol{ID: c.uvarint(), MappingID: c.uvarint(), Start: c.uvarint(), End: c.uvarint(), Name: c.text()}
	return !c.short
}

// A MappingMetadata is the payload of ProcessMappingMetadata. Both texts are JSON or empty; one-collect does not escape
// file names in them, so that the JSON may be broken.
type MappingMetadata struct {
	ID      uint64
	Symbol  []byte // where symbols of the file are found: build id, PDB name and signature
	Version []byte
}

// ParseMappingMetadata reads an event of class ClassUniversalMappingMetadata; m is overwritten.
func ParseMappingMetadata(e *ntconv.Event, m *MappingMetadata) bool {
	c := cursor{b: e.Payload}
	*m = MappingMetadata{ID: c.uvarint(), Symbol: c.text(), Version: c.text()}
	return !c.short
}

// Value returns the number that an event of Universal.Events carries: 1 for cpu, clock ticks off the processor for
// cswitch, else a count, bytes or ticks, which the file does not tell. It returns false if there is none.
func Value(e *ntconv.Event) (uint64, bool) {
	if e.Type.Provider != UniversalEvents {
		return 0, false
	}
	if f := e.Type.Fields; len(f) > 0 && f[0].Name != "Value" {
		return 0, false
	} else if len(f) > 0 && f[0].Type.Code != ntconv.TypeVarUint {
		v, _ := e.Field("Value")
		return v.Uint(), v.Kind() == ntconv.ValueUint || v.Kind() == ntconv.ValueInt
	}
	c := cursor{b: e.Payload}
	n := c.uvarint()
	return n, !c.short
}

// cursor reads a payload. After the first failure everything is zero.
type cursor struct {
	b     []byte
	short bool
}

func (c *cursor) uvarint() uint64 {
	n, used := binary.Uvarint(c.b)
	if used <= 0 {
		c.short, c.b = true, nil
		return 0
	}
	c.b = c.b[used:]
	return n
}

// text returns text behind a 16-bit count.
func (c *cursor) text() []byte {
	if len(c.b) < 2 {
		c.short, c.b = true, nil
		return nil
	}
	n := int(binary.LittleEndian.Uint16(c.b))
	if n > len(c.b)-2 {
		c.short, c.b = true, nil
		return nil
	}
	s := c.b[2 : 2+n : 2+n]
	c.b = c.b[2+n:]
	return s
}
