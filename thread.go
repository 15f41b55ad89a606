package ntconv

import "strconv"

func itoa(i int) string { return strconv.Itoa(i) }

// Attr is a key and a value that describe a trace, a type, a thread or a process.
type Attr struct{ Key, Value string }

// Attrs are attributes in the order of the input. A key may occur more than once.
type Attrs []Attr

// Get returns the last value of a key, as later entries replace earlier ones in every format that ntconv reads.
func (a Attrs) Get(key string) (value string, ok bool) {
	for i := len(a) - 1; i >= 0; i-- {
		if a[i].Key == key {
			return a[i].Value, true
		}
	}
	return "", false
}

// A Thread is a flow of execution that events are about: an operating system thread, or whatever the recorder counts as
// one. It is immutable and compared by pointer: an operating system id that is used again is another Thread.
type Thread struct {
	TID     uint64 // the operating system's id; all bits set if it was not recorded (TIDUnknown)
	Name    string // as recorded in the trace's thread table; names learned from events are behind a Namer
	Process *Process
	Attrs   Attrs
}

// TIDUnknown is the TID of a thread whose id was not recorded.
const TIDUnknown = ^uint64(0)

// A Process owns threads and addresses. It is immutable and compared by pointer.
type Process struct {
	PID         uint64
	Host        string // the machine, if the trace covers several; else empty
	Name        string // as recorded by sources that know it; names learned from events are behind a Namer
	PointerSize uint8  // 4 or 8; 0 if unknown
	Attrs       Attrs
	// Mappings are known by sources that carry names in their stacks, whether or not a frame refers to them. Others
	// learn them from events: ask a Namer.
	Mappings []*Mapping
}

// A Stack is a call stack, leaf first. PCs are the addresses as recorded; Frames stand where the source itself knows
// names, and then PCs may be empty. It is immutable; a kept *Stack pins the block of stacks that it was cut from.
type Stack struct {
	PCs    []uint64
	Frames []Frame
}

// FrameFlags are properties of one Frame.
type FrameFlags uint8

const (
	// FrameInlined: the frame was inlined into the next, outer one and has the same PC.
	FrameInlined FrameFlags = 1 << iota
	// FrameUnresolved: no name is known; Func carries a stand-in made from the mapping and the address.
	FrameUnresolved
	// FrameKernel: the code belongs to the operating system's kernel.
	FrameKernel
	// FrameManaged: the code belongs to a managed runtime.
	FrameManaged
	// FrameFolded: several frames of the recorded stack were replaced by this one.
	FrameFolded
	// FrameLabel: no code, but a label of the event that was made a frame for viewers which show no labels.
	FrameLabel
)

// A Frame is one entry of a stack with the names that are known for it.
type Frame struct {
	Func         *Function
	Mapping      *Mapping // nil if unknown
	PC           uint64   // 0 if the source has no addresses
	Line, Column int32    // 0 if unknown
	Flags        FrameFlags
}

// A Function is a named piece of code: immutable and compared by pointer.
type Function struct {
	Name       string // for people
	SystemName string // as the runtime or linker spells it; empty if it is the same
	File       string
	StartLine  int32
}

// A Mapping is a piece of a file, or of generated code, in a process's address space: immutable and compared by
// pointer.
type Mapping struct {
	Start, Limit uint64 // addresses; Limit is the first one behind it
	Offset       uint64 // byte offset in File that Start maps
	File         string // path as recorded
	BuildID      string // GNU build id or PDB signature and age, in hexadecimal
	Flags        MappingFlags
}

// MappingFlags say what is known about the code of a Mapping. Sources that do not tell leave them empty.
type MappingFlags uint8

const (
	// MappingMain: the file is the program, not a library.
	MappingMain MappingFlags = 1 << iota
	// MappingHasFunctions: names of functions were looked up, and none is left to be found.
	MappingHasFunctions
	// MappingHasFiles: so were source files,
	MappingHasFiles
	// MappingHasLines: line numbers,
	MappingHasLines
	// MappingHasInlined: and what was inlined.
	MappingHasInlined
)
