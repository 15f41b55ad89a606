package clr

import (
	"encoding/binary"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/data/bin"
)

// A Module holds the fields of ModuleLoad, ModuleUnload, ModuleDCStart and ModuleDCEnd that a symbol table needs
// (nettrace-in-practice, 3.4). The events do not contain the address of the module. Strings are UTF-16 without a
// terminator, borrowed from the event.
type Module struct {
	ModuleID   uint64
	ILPath     []byte // file of the assembly; only a name for dynamic modules
	NativePath []byte // file of its precompiled code, if that is another file
	// Signature and Age identify the managed PDB, from version 2 on. They are zero if the payload does not contain them
	// and the PDB's path.
	Signature ntconv.GUID
	Age       uint32
}

// ParseModule decodes an event of class ClassModule into m. It returns false if the payload is too short. If the
// payload ends inside the debug information, m has the fields before it.
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
