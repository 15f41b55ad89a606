package clr

import (
	"encoding/binary"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/bin"
)

// A Module is what a symbol table needs of ModuleLoad, ModuleUnload, ModuleDCStart and ModuleDCEnd
// (nettrace-in-practice, 3.4). It says nothing about where the module lies in memory. Text is UTF-16 without
// terminator, borrowed from the event.
type Module struct {
	ModuleID   uint64
	ILPath     []byte // file of the assembly; a mere name for dynamic modules
	NativePath []byte // file of its precompiled code, if it has its own
	// Signature and Age identify the managed PDB, from version 2 on; zero if the payload does not hold them and the
	// PDB's path.
	Signature ntconv.GUID
	Age       uint32
}

// ParseModule reads an event of class ClassModule; m is overwritten. It returns false if the payload is too short. A
// payload that ends inside the debug information still gives the part before it.
func ParseModule(e *ntconv.Event, m *Module) bool {
	b := e.Payload
	if len(b) < 24 {
		return false
	}
	id := binary.LittleEndian.Uint64(b)
	il, b, ok := bin.CutUTF16(b[24:])
	if !ok {
		return false
	}
	native, b, ok := bin.CutUTF16(b)
	if !ok {
		return false
	}
	*m = Module{ModuleID: id, ILPath: il, NativePath: native}
	if len(b) >= 22 {
		if _, _, ok := bin.CutUTF16(b[22:]); ok {
			m.Signature, m.Age = ntconv.GUID(b[2:18]), binary.LittleEndian.Uint32(b[18:])
		}
	}
	return true
}
