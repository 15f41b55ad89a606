package clr

import (
	"encoding/binary"

	"github.com/ntconv/ntconv"
)

// An ILMap is the payload of MethodILToNativeMap and its rundown events: how the code of a method maps to its
// intermediate language. Offsets are borrowed from the event.
type ILMap struct {
	MethodID uint64
	ReJITID  uint64
	Extent   uint8
	// IL and Native hold little-endian numbers of 4 bytes: as many offsets in the intermediate language, or ilmap's
	// constants, as byte offsets from the first byte of the code. They are not sorted.
	IL, Native []byte
}

// ParseILMap decodes an event of class ClassILMap into m. It returns false if the event has another class or its payload
// is too short.
func ParseILMap(e *ntconv.Event, m *ILMap) bool {
	const header = 19
	b := e.Payload
	if ClassOf(e.Type) != ClassILMap || len(b) < header {
		return false
	}
	n := 4 * int(binary.LittleEndian.Uint16(b[17:]))
	if len(b) < header+2*n {
		return false
	}
	*m = ILMap{
		MethodID: binary.LittleEndian.Uint64(b), ReJITID: binary.LittleEndian.Uint64(b[8:]), Extent: b[16],
		IL: b[header : header+n], Native: b[header+n : header+2*n],
	}
	return true
}
