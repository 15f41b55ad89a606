package ntconv

import (
	"slices"
	"strconv"
)

// Kind is the kind of an Event.
type Kind uint8

const (
	// KindEvent is a recorded event. Type, Thread and Capture are never nil.
	KindEvent Kind = iota
	// KindMark is a barrier in the order of events, or the end of threads. Mark is not nil. Time is the mark's own
	// time.
	KindMark
	// KindLost means that the recorder lost events of Capture before this position; Lost is their number. Time is that
	// of the event that revealed the loss.
	KindLost
	// KindDefine means that the input declares Type or Thread here; one of them is set. No event need use it.
	KindDefine
	// KindOpaque is a block of unknown kind, so that it can be copied. Seq is the kind of the block and Payload its
	// bytes.
	KindOpaque
)

// String returns the kind's name in lower case.
func (k Kind) String() string {
	return nameOf(kindNames, int(k))
}

var kindNames = []string{"event", "mark", "lost", "define", "opaque"}

// Flags are properties of an Event, as a bit set.
type Flags uint8

const (
	// FlagSorted means that no later event of the input has an earlier time. The input states it and may be wrong.
	FlagSorted Flags = 1 << iota
	// FlagPlaceholder means that the input refers to a Type, Thread, Capture or Labels without a definition. The event
	// has a placeholder instead.
	FlagPlaceholder
	// FlagLate means that the reader delivered the event after a later one although it delivers events in time order.
	FlagLate
	// FlagNumbered means that Seq was recorded as 0. Otherwise a Seq of 0 means that it was not recorded.
	FlagNumbered
)

// CPUUnknown is the value of Event.CPU if the CPU was not recorded.
const CPUUnknown int32 = -1

// An Event is one record of a trace. The Event and its Payload are borrowed until the next call of the source's Next.
// Everything else that it points to is shared, immutable and may be kept.
//
// All methods are valid for every kind of event: an event without a Type has no fields, and its properties are zero.
type Event struct {
	Kind  Kind
	Flags Flags
	CPU   int32  // CPU that recorded the event, as the bits of a uint32, or CPUUnknown
	Seq   uint32 // sequence number on the capture thread, from 1, wraps at 2^32; 0 if not recorded (see FlagNumbered)
	Lost  uint32 // KindLost: number of lost events

	Time   Ticks
	Offset int64 // byte offset of the record in the decompressed input, or -1

	Type    *Type
	Thread  *Thread // thread that the event describes
	Capture *Thread // thread that recorded the event; sequence numbers count per capture thread
	Stack   *Stack  // nil if none
	Labels  *Labels // nil if none
	Mark    *Mark   // KindMark only
	Payload []byte
}

// Version returns the version of the event's layout: that of a label if the event has such a label, otherwise that of
// the type. It returns 0 without a Type. Decoders call Version instead of reading Type.Version.
func (e *Event) Version() uint8 {
	if e.Labels != nil && e.Labels.overrides&overrideVersion != 0 {
		return e.Labels.version
	}
	if e.Type == nil {
		return 0
	}
	return e.Type.Version
}

// Check returns ErrNoType if the event has no Type although its kind needs one. Sources yield no such event; sinks that get
// one from a program return the error.
func (e *Event) Check() error {
	if e.Kind == KindEvent && e.Type == nil {
		return ErrNoType
	}
	return nil
}

// Opcode returns the opcode of the event: that of a label if the event has such a label, otherwise that of the type. It
// returns 0 without a Type.
func (e *Event) Opcode() uint8 {
	if e.Labels != nil && e.Labels.overrides&overrideOpcode != 0 {
		return e.Labels.opcode
	}
	if e.Type == nil {
		return 0
	}
	return e.Type.Opcode
}

// Level returns the verbosity of the event (1 critical to 5 verbose, 0 always): that of a label if the event has such a
// label, otherwise that of the type. It returns 0 without a Type.
func (e *Event) Level() uint8 {
	if e.Labels != nil && e.Labels.overrides&overrideLevel != 0 {
		return e.Labels.level
	}
	if e.Type == nil {
		return 0
	}
	return e.Type.Level
}

// Keywords returns the event's keywords as a bit set: those of a label if the event has such a label, otherwise those
// of the type. It returns 0 without a Type.
func (e *Event) Keywords() uint64 {
	if e.Labels != nil && e.Labels.overrides&overrideKeywords != 0 {
		return e.Labels.keywords
	}
	if e.Type == nil {
		return 0
	}
	return e.Type.Keywords
}

// PointerSize returns the size in bytes of pointers in the event's payload: that of the process, or 8 if it is unknown.
func (e *Event) PointerSize() int {
	if e.Thread != nil && e.Thread.Process != nil && e.Thread.Process.PointerSize != 0 {
		return int(e.Thread.Process.PointerSize)
	}
	return 8
}

// Clone returns a copy of the event with its own payload. The copy may be kept.
func (e *Event) Clone() *Event {
	c := *e
	c.Payload = slices.Clone(e.Payload)
	return &c
}

// MarkKind is the kind of a Mark.
type MarkKind uint8

const (
	// MarkSequencePoint is a barrier: no event before it in the stream is later than an event after it. For each listed
	// thread, Seq is a lower bound of the number of the last event that the thread tried to record.
	MarkSequencePoint MarkKind = iota
	// MarkThreadsRemoved ends the listed threads. Their sequence numbers are final.
	MarkThreadsRemoved
)

// String returns the kind's name in lower case.
func (k MarkKind) String() string {
	return nameOf(markKindNames, int(k))
}

var markKindNames = []string{"sequence point", "threads removed"}

// MarkFlags are properties of a sequence point (nettrace-v6, "SequencePointBlock"), as a bit set. Bits without a
// constant are kept as recorded.
type MarkFlags uint32

const (
	// MarkFlushThreads means that thread IDs defined before this sequence point are no longer valid.
	MarkFlushThreads MarkFlags = 1
	// MarkFlushTypes means that metadata IDs defined before this sequence point are no longer valid.
	MarkFlushTypes MarkFlags = 2
)

// A Mark is a record of the stream that is not an event. It is immutable and may be kept.
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

// nameOf returns names[i], or a placeholder with the number for values without a name.
func nameOf(names []string, i int) string {
	if i < len(names) {
		return names[i]
	}
	return "unknown(" + strconv.Itoa(i) + ")"
}
