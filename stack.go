package ntconv

// A Stack is a call stack, leaf first. PCs are the recorded addresses. Frames are set by sources that contain names;
// then PCs may be empty. A Stack is immutable. It keeps the memory of its whole stack block alive.
type Stack struct {
	PCs    []uint64
	Frames []Frame
}

// DefaultStackDepth is the number of frames of a stack that readers and importers keep unless their limits say
// otherwise. They drop the outer ones. TraceEvent reads 8,190 frames of a stack in a nettrace file.
const DefaultStackDepth = 10_000

// FrameFlags are properties of a Frame, as a bit set.
type FrameFlags uint8

const (
	// FrameInlined means that the function was inlined into the next, outer frame, which has the same PC.
	FrameInlined FrameFlags = 1 << iota
	// FrameUnresolved means that the address has no symbol. Func has a placeholder name, built from the mapping and the
	// address.
	FrameUnresolved
	// FrameKernel means that the code belongs to the kernel of the operating system.
	FrameKernel
	// FrameManaged means that the code is managed code.
	FrameManaged
	// FrameFolded means that this frame replaces several frames of the recorded stack.
	FrameFolded
	// FrameLabel means that the frame represents a label of the event, for viewers that do not show labels.
	FrameLabel
	// FrameNative means that the source states that the code is machine code of a program or library. Without this flag it
	// may be that or unknown.
	FrameNative
)

// A Frame is an entry of a resolved stack.
type Frame struct {
	Func         *Function
	Mapping      *Mapping // nil if unknown
	PC           uint64   // 0 if the source has no addresses
	Line, Column int32    // 0 if unknown
	Flags        FrameFlags
}

// A Function is a function of a program. It is immutable and compared by pointer.
type Function struct {
	Name       string // human-readable
	SystemName string // as the runtime or linker spells it; empty if it equals Name
	File       string
	StartLine  int32
}

// A Mapping is a range of a process's address space that contains a part of a file or generated code. It is immutable
// and compared by pointer.
type Mapping struct {
	Start, Limit uint64 // addresses from Start to Limit, excluding Limit
	Offset       uint64 // byte offset in File that Start maps
	File         string // path as recorded
	BuildID      string // GNU build ID, or PDB signature and age, in hexadecimal
	Flags        MappingFlags
}

// MappingFlags are properties of a Mapping, as a bit set. They are 0 if the source does not state them.
type MappingFlags uint8

const (
	// MappingMain means that the file is the program, not a library.
	MappingMain MappingFlags = 1 << iota
	// MappingHasFunctions means that function names have been resolved, so a symbolizer need not look for more
	// (has_functions in profile.proto).
	MappingHasFunctions
	// MappingHasFiles means that source file names have been resolved (has_filenames).
	MappingHasFiles
	// MappingHasLines means that line numbers have been resolved (has_line_numbers).
	MappingHasLines
	// MappingHasInlined means that inlined functions have been resolved (has_inline_frames).
	MappingHasInlined
)
