package ntconv

import "slices"

// Kind says what an Event is.
type Kind uint8

const (
	// KindEvent is a recorded event. Type, Thread and Capture are never nil.
	KindEvent Kind = iota
	// KindMark is a barrier in the order of events, or the removal of threads: Mark is set. Time is the mark's own
	// time.
	KindMark
	// KindLost says that Lost events of Capture are missing before this place. Time is that of the event that revealed
	// it.
	KindLost
	// KindDefine says that the input declared Type or Thread here (one of them is set), whether or not an event uses
	// it.
	KindDefine
	// KindOpaque is a block of a kind that the reader does not know, kept so that it can be copied: Seq is the block's
	// kind and Payload its bytes.
	KindOpaque
)

// String returns the kind's name in lower case.
func (k Kind) String() string {
	return nameOf(kindNames, int(k))
}

var kindNames = []string{"event", "mark", "lost", "define", "opaque"}

// Flags are properties of one Event.
type Flags uint8

const (
	// FlagSorted: no event later in the input has an earlier time. Recorded by the input, which may be wrong.
	FlagSorted Flags = 1 << iota
	// FlagPlaceholder: the event's Type, Thread, Capture or Labels were not defined where the input refers to them, and
	// stand-ins were put in their place.
	FlagPlaceholder
	// FlagLate: the event was delivered after an event with a later time although time order was asked for.
	FlagLate
	// FlagNumbered means that Seq was recorded although it is 0.
	FlagNumbered
)

// CPUUnknown is the value of Event.CPU where the processor was not recorded.
const CPUUnknown int32 = -1

// An Event is one record of a trace. The Event and its Payload are borrowed until the next call of the
// source's Next; everything else it points to is shared, immutable and may be kept.
//
// All methods are safe on every kind of event: an event without a Type has no fields, and its properties are zero.
type Event struct {
	Kind  Kind
	Flags Flags
	CPU   int32  // processor that recorded the event, as the bits of a uint32; CPUUnknown if not recorded
	Seq   uint32 // number of the event on its capture thread, counting from 1 and wrapping at 2^32; 0 if not recorded, but for FlagNumbered
	Lost  uint32 // KindLost: how many events are missing

	Time   Ticks
	Offset int64 // byte position of the record in the decompressed input, or -1

	Type    *Type
	Thread  *Thread // whom the event is about
	Capture *Thread // who recorded it; sequence numbers count per capture thread
	Stack   *Stack  // nil if none
	Labels  *Labels // nil if none
	Mark    *Mark   // KindMark only
	Payload []byte
}

// Version returns the version of the event's layout: the one of a label if the event has such a label, else the type's.
// Decoders call it instead of reading Type.Version. It is 0 if the event has no Type.
func (e *Event) Version() uint8 {
	if e.Labels != nil && e.Labels.overrides&overrideVersion != 0 {
		return e.Labels.version
	}
	if e.Type == nil {
		return 0
	}
	return e.Type.Version
}

// Opcode returns the event's opcode: the one of a label if the event has such a label, else the type's, and 0 without a
// Type.
func (e *Event) Opcode() uint8 {
	if e.Labels != nil && e.Labels.overrides&overrideOpcode != 0 {
		return e.Labels.opcode
	}
	if e.Type == nil {
		return 0
	}
	return e.Type.Opcode
}

// Level returns the event's verbosity (1 critical to 5 verbose, 0 always): the one of a label if the event has such a
// label, else the type's, and 0 without a Type.
func (e *Event) Level() uint8 {
	if e.Labels != nil && e.Labels.overrides&overrideLevel != 0 {
		return e.Labels.level
	}
	if e.Type == nil {
		return 0
	}
	return e.Type.Level
}

// Keywords returns the event's groups as a bit set: those of a label if the event has such a label, else the type's,
// and 0 without a Type.
func (e *Event) Keywords() uint64 {
	if e.Labels != nil && e.Labels.overrides&overrideKeywords != 0 {
		return e.Labels.keywords
	}
	if e.Type == nil {
		return 0
	}
	return e.Type.Keywords
}

// PointerSize returns the size in bytes of pointers in the event's payload: that of the process, and 8 if it is
// unknown.
func (e *Event) PointerSize() int {
	if e.Thread != nil && e.Thread.Process != nil && e.Thread.Process.PointerSize != 0 {
		return int(e.Thread.Process.PointerSize)
	}
	return 8
}

// Clone returns a copy of the event that may be kept.
func (e *Event) Clone() *Event {
	c := *e
	c.Payload = slices.Clone(e.Payload)
	return &c
}

// MarkKind says what a Mark is.
type MarkKind uint8

const (
	// MarkSequencePoint is a barrier: events before it in the stream are not later than events after it. Its threads
	// carry a lower bound of the number of the last event that each one tried to record.
	MarkSequencePoint MarkKind = iota
	// MarkThreadsRemoved ends the threads it lists; their numbers are final.
	MarkThreadsRemoved
)

// String returns the kind's name in lower case.
func (k MarkKind) String() string {
	return nameOf(markKindNames, int(k))
}

var markKindNames = []string{"sequence point", "threads removed"}

// MarkFlags are properties of a sequence point (nettrace-v6, "SequencePointBlock"). Bits without a constant are kept as
// recorded.
type MarkFlags uint32

const (
	// MarkFlushThreads means that the input's thread table is empty after the sequence point.
	MarkFlushThreads MarkFlags = 1
	// MarkFlushTypes means that the input's metadata table is empty after the sequence point.
	MarkFlushTypes MarkFlags = 2
)

// A Mark is a place in the stream that is not an event: immutable, and may be kept.
type Mark struct {
	Kind    MarkKind
	Flags   MarkFlags
	Threads []ThreadSeq
}

// ThreadSeq is a capture thread and the number of the last event that it tried to record.
type ThreadSeq struct {
	Thread *Thread
	Seq    uint32
}

// nameOf returns names[i], or a number for values that have none.
func nameOf(names []string, i int) string {
	if i < len(names) {
		return names[i]
	}
	return "unknown(" + itoa(i) + ")"
}
