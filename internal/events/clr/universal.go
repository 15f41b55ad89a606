package clr

import (
	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/data/bin"
)

// Views of machine-wide traces (universal, 1.3 and 1.8; nettrace-in-practice, 4.2). The process is that of the event's
// thread. Payloads may be longer than a view expects, because one-collect appends undeclared bytes. Strings are UTF-8,
// borrowed from the event.

// A Process is the payload of ExistingProcess and ProcessCreate.
type Process struct {
	NamespaceID   uint64 // the process's ID inside its own PID namespace; 0 if unknown
	Name          []byte // at most 15 bytes on Linux
	NamespaceName []byte // one-collect always writes Unknown
	Existing      bool   // the process existed before the session; may be repeated, once per thread
}

// ParseProcess decodes an event of class ClassUniversalProcess into p. Like the other views of Universal.System, it
// returns false if the payload is too short.
func ParseProcess(e *ntconv.Event, p *Process) bool {
	c := bin.Reader{B: e.Payload}
	*p = Process{NamespaceID: c.Uvarint(), Name: c.Text(), NamespaceName: c.Text(), Existing: e.Type.ID == 0}
	return !c.Failed
}

// A Mapping is the payload of ProcessMapping: a part of a file, or generated code, in the address space of a process.
type Mapping struct {
	// ID is unique only within its process: a forked child repeats its parent's mappings with the same IDs.
	ID uint64
	// Start and End are as recorded. One-collect writes the last address as End; PerfView treats End as the first
	// address after the mapping. An End that is a multiple of the page size is the latter. See Limit.
	Start, End uint64
	Offset     uint64 // file offset of Start, in bytes
	File       []byte // empty for generated code; vmlinux for the kernel
	MetadataID uint64 // ID of a MappingMetadata; 0 if there is none
}

// Limit returns the first address after the mapping for both meanings of End, or the largest address if it would be
// 2^64.
func (m *Mapping) Limit() uint64 {
	if m.End&0xfff == 0xfff && m.End != ^uint64(0) {
		return m.End + 1
	}
	return m.End
}

// ParseMapping decodes an event of class ClassUniversalMapping into m. It returns false if the payload is too short.
func ParseMapping(e *ntconv.Event, m *Mapping) bool {
	c := bin.Reader{B: e.Payload}
	*m = Mapping{
		ID:         c.Uvarint(),
		Start:      c.Uvarint(),
		End:        c.Uvarint(),
		Offset:     c.Uvarint(),
		File:       c.Text(),
		MetadataID: c.Uvarint(),
	}
	return !c.Failed
}

// A Symbol is the payload of ProcessSymbol: a named range of addresses inside a mapping. It often follows the samples
// that need it, and it is repeated for each process that shares the mapping.
type Symbol struct {
	ID, MappingID uint64
	// Start and End are addresses. End is the last address of the symbol, or the next one for generated code.
	Start, End uint64
	Name       []byte
}

// ParseSymbol decodes an event of class ClassUniversalSymbol into s. It returns false if the payload is too short.
func ParseSymbol(e *ntconv.Event, s *Symbol) bool {
	c := bin.Reader{B: e.Payload}
	*s = Symbol{ID: c.Uvarint(), MappingID: c.Uvarint(), Start: c.Uvarint(), End: c.Uvarint(), Name: c.Text()}
	return !c.Failed
}

// A MappingMetadata is the payload of ProcessMappingMetadata. Both strings are JSON or empty. The JSON may be invalid,
// because one-collect does not escape file names in it.
type MappingMetadata struct {
	ID      uint64
	Symbol  []byte // where to find symbols of the file: build ID, PDB name and signature
	Version []byte
}

// ParseMappingMetadata decodes an event of class ClassUniversalMappingMetadata into m. It returns false if the payload
// is too short.
func ParseMappingMetadata(e *ntconv.Event, m *MappingMetadata) bool {
	c := bin.Reader{B: e.Payload}
	*m = MappingMetadata{ID: c.Uvarint(), Symbol: c.Text(), Version: c.Text()}
	return !c.Failed
}

// Value returns the number in an event of Universal.Events: 1 for cpu, clock ticks without a CPU for cswitch, otherwise
// a count, bytes or ticks, which the file does not specify. It returns false if there is no number.
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
	c := bin.Reader{B: e.Payload}
	n := c.Uvarint()
	return n, !c.Failed
}
