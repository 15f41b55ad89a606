package clr

import (
	"encoding/binary"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/bin"
)

// ModuleAction says what happened to a module.
type ModuleAction uint8

const (
	ModuleLoaded       ModuleAction = iota // it is there from the event's time on
	ModuleUnloaded                         // it is gone after it. At a process's end everything is said to be unloaded
	ModuleRundownStart                     // it was there when the session began
	ModuleRundownEnd                       // it was there when the session ended
)

// String returns the action's name in lower case.
func (a ModuleAction) String() string { return MethodAction(a).String() }

// A Module is the payload of ModuleLoad, ModuleUnload, ModuleDCStart and ModuleDCEnd (nettrace-in-practice, 3.4). It says
// nothing about where the module lies in memory. Text is UTF-16 without terminator, borrowed from the event.
type Module struct {
	ModuleID, AssemblyID uint64
	Flags                uint32
	Action               ModuleAction
	ILPath               []byte // file of the assembly; a mere name for dynamic modules
	NativePath           []byte // file of its precompiled code, if it has its own
	ManagedPDB           PDB    // from version 2 on
	NativePDB            PDB    // from version 2 on; of the precompiled code
}

// A PDB names the file with a module's debug information. It is the zero PDB where none is known.
type PDB struct {
	Signature ntconv.GUID
	Age       uint32
	Path      []byte // UTF-16 without terminator, borrowed: where the compiler put it
}

// ParseModule reads an event of class ClassModule; m is overwritten. It returns false if the event is none, or if its
// payload is too short. A payload that ends inside the debug information still gives the part before it.
func ParseModule(e *ntconv.Event, m *Module) bool {
	b := e.Payload
	action, ok := moduleAction(e.Type)
	if !ok || len(b) < 24 {
		return false
	}
	*m = Module{
		ModuleID: binary.LittleEndian.Uint64(b), AssemblyID: binary.LittleEndian.Uint64(b[8:]),
		Flags: binary.LittleEndian.Uint32(b[16:]), Action: action,
	}
	if m.ILPath, b, ok = bin.CutUTF16(b[24:]); !ok {
		return false
	}
	if m.NativePath, b, ok = bin.CutUTF16(b); !ok {
		return false
	}
	if len(b) >= 2 {
		if b, ok = m.ManagedPDB.parse(b[2:]); ok {
			m.NativePDB.parse(b)
		}
	}
	return true
}

func (p *PDB) parse(b []byte) (rest []byte, ok bool) {
	if len(b) < 20 {
		return nil, false
	}
	path, rest, ok := bin.CutUTF16(b[20:])
	if ok {
		*p = PDB{Signature: ntconv.GUID(b[:16]), Age: binary.LittleEndian.Uint32(b[16:]), Path: path}
	}
	return rest, ok
}

func moduleAction(t *ntconv.Type) (ModuleAction, bool) {
	switch {
	case t.Provider == Runtime && (t.ID == 152 || t.ID == 153):
		return ModuleLoaded + ModuleAction(t.ID-152), true
	case t.Provider == Rundown && (t.ID == 153 || t.ID == 154):
		return ModuleRundownStart + ModuleAction(t.ID-153), true
	}
	return 0, false
}
