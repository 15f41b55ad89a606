package clr

import (
	"encoding/binary"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/data/bin"
)

// A MethodAction is what happened to the code of a method.
type MethodAction uint8

const (
	MethodLoaded       MethodAction = iota // the code exists from the event's time on
	MethodUnloaded                         // the code does not exist afterwards; an exiting process unloads everything
	MethodRundownStart                     // the code existed when the session began
	MethodRundownEnd                       // the code existed when the session ended
)

var methodActionNames = [...]string{"load", "unload", "rundown start", "rundown end"}

// String returns the name of the action in lower case.
func (a MethodAction) String() string { return methodActionNames[a&3] }

// Bits of Method.Flags.
const (
	MethodDynamic uint32 = 1 << 0
	MethodGeneric uint32 = 1 << 1
	MethodJitted  uint32 = 1 << 3
)

// A Method is the payload of MethodLoad, MethodUnload, MethodDCStart, MethodDCEnd and their verbose forms
// (nettrace-in-practice, 3.3). Strings are UTF-16 without a terminator, borrowed from the event.
type Method struct {
	MethodID, ModuleID uint64
	Start              uint64 // address of the code
	Size               uint32 // bytes of the code
	Token              uint32 // 0 for dynamic methods
	Flags              uint32 // bits 7-9 are the tier, 28-31 distinguish hot and cold parts
	Instance           uint16 // of the runtime in the process; 0 in version 0
	Action             MethodAction
	Verbose            bool   // the event has the names
	ReJITID            uint64 // from version 2 on
	Namespace          []byte // full name of the type; nil when not verbose
	Name               []byte
	Signature          []byte
}

// ParseMethod decodes an event of class ClassMethod into m. It returns false if the event has another class or its
// payload is too short.
func ParseMethod(e *ntconv.Event, m *Method) bool {
	if !ParseMethodCode(e, m) {
		return false
	}
	b := e.Payload[methodCodeSize:]
	if m.Verbose {
		var ok [3]bool
		m.Namespace, b, ok[0] = bin.CutUTF16(b)
		m.Name, b, ok[1] = bin.CutUTF16(b)
		m.Signature, b, ok[2] = bin.CutUTF16(b)
		if ok != [3]bool{true, true, true} {
			return false
		}
	}
	// Later versions only append fields.
	if len(b) >= 2 {
		m.Instance = binary.LittleEndian.Uint16(b)
	}
	if len(b) >= 10 {
		m.ReJITID = binary.LittleEndian.Uint64(b[2:])
	}
	return true
}

// IsMethodRundownEnd reports whether events of a type describe methods at the end of a recording: MethodDCEnd and
// MethodDCEndVerbose.
func IsMethodRundownEnd(t *ntconv.Type) bool {
	return t.Provider == Rundown && (t.ID == 142 || t.ID == 144)
}

// methodCodeSize is the size of the fields that all method events begin with, in bytes.
const methodCodeSize = 36

// ParseMethodCode decodes only the fields before the names, which take most of the time of ParseMethod. It returns
// false if the event has another class or its payload is too short.
func ParseMethodCode(e *ntconv.Event, m *Method) bool {
	b := e.Payload
	id := e.Type.ID
	if len(b) < methodCodeSize || id < 141 || id > 144 {
		return false
	}
	var action MethodAction
	switch e.Type.Provider {
	case Runtime:
	case Rundown:
		action = MethodRundownStart
	default:
		return false
	}
	*m = Method{
		MethodID: binary.LittleEndian.Uint64(b), ModuleID: binary.LittleEndian.Uint64(b[8:]),
		Start: binary.LittleEndian.Uint64(b[16:]), Size: binary.LittleEndian.Uint32(b[24:]),
		Token: binary.LittleEndian.Uint32(b[28:]), Flags: binary.LittleEndian.Uint32(b[32:]),
		Action: action + MethodAction(id-141)&1, Verbose: id >= 143,
	}
	return true
}

// A Sample is the payload of the sample profiler's event: the profiler saw the event's thread with the event's stack.
// Samples measure wall-clock time, not CPU time.
type Sample struct {
	Type uint32 // names in Layout.MapName; 1 means in native code or waiting (nettrace-in-practice, 3.6)
}

// ParseSample decodes an event of class ClassSample. It returns false if the payload is too short.
func ParseSample(e *ntconv.Event, s *Sample) bool {
	if len(e.Payload) < 4 {
		return false
	}
	s.Type = binary.LittleEndian.Uint32(e.Payload)
	return true
}
