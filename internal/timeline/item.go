package timeline

import (
	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/profile"
	"github.com/ntconv/ntconv/internal/span"
)

// A Kind says what an Item is.
type Kind uint8

const (
	// SliceBegin begins a slice: something that lasts. Duration is known. Slices of a track nest: those that would not
	// are on lanes.
	SliceBegin Kind = iota
	// SliceEnd ends the slice with the same ID. Its Time is that of the SliceBegin plus Duration. It has only Kind,
	// Time, Track, ID, Name and Category.
	SliceEnd
	// Instant is something that happened at one time.
	Instant
	// Counter is a value of a counter; Track is its track.
	Counter
	// Sample is a sample of a stack, with its weight.
	Sample
	// FlowBegin and FlowEnd are the ends of an arrow with the same ID. Each belongs to the innermost slice of its track
	// at its Time. A FlowBegin comes before its FlowEnd.
	FlowBegin
	FlowEnd
	// Raw is what Options.Raw has made of an event, in Encoded.
	Raw
)

// Categories of items that are not events. Those of events are the names of their providers.
const (
	CategorySpan       = "span"
	CategoryGC         = "gc"
	CategoryJIT        = "jit"
	CategoryContention = "contention"
	CategoryWait       = "wait"
	CategoryRequest    = "request"
	CategoryException  = "exception"
	CategoryCounter    = "counter"
	CategoryLoss       = "loss"
	CategoryFlow       = "flow"
)

// An Item is an element of a timeline. It is borrowed until the function that it is passed to returns; Track, Name and
// the other strings may be kept.
type Item struct {
	Kind     Kind
	Time     int64  // nanoseconds since Timeline.Start, never negative
	Duration int64  // SliceBegin: nanoseconds, never negative
	ID       uint64 // of a slice or a flow, not 0; unique among those of the timeline
	Track    *Track
	Name     string
	Category string

	Unfinished bool // SliceBegin: the trace does not show the end, and the slice ends with the trace
	// EndThread is the track of the thread on which a slice ended, nil if it is unknown or the one on which it began.
	EndThread *Track
	// Thread is the track of the thread on which a slice began, an instant happened, or a sample was taken; nil if
	// unknown. It is Track unless Track is a lane or belongs to the process.
	Thread *Track
	// Encoded is what Options.Args or Options.Raw appended for the item, nil if nothing.
	Encoded []byte
	// Stack is the stack of an Instant, a Sample or a Raw, or of the event that begins a slice; NoStack if there is
	// none.
	Stack Node
	// Bytes is the number of allocated bytes that an Instant stands for, 0 if it is no allocation.
	Bytes int64

	Value  float64 // Counter
	Weight *Weight // Sample
}

// A Weight is what a sample counts for. It is borrowed with the Item.
type Weight struct {
	Kind   profile.Kind
	Types  []profile.ValueType // per value; shared and immutable
	Values []int64
	State  string // of the thread: "" if unknown
	// Until is when the sample ends to count, in nanoseconds since Timeline.Start, at least Item.Time. It is Item.Time
	// if values are not times.
	Until int64
}

// Source is what the args of an item come from. Exactly one of Event, Span and Values is not nil. All is borrowed.
type Source struct {
	// Event is an event of the trace. Its payload and labels are the args.
	Event *ntconv.Event
	// Span is a span, or an interval of the runtime, with its attributes. Its Events are those that only its payload
	// holds; they are Instants, too. IDs of intervals and of slices of Chrome's format are numbers without a meaning.
	Span *span.Span
	// Values are other args: of a loss, or the attributes of an event that only the payload of a span holds.
	Values []Value
}

// A Value is an arg with a name. One of Text, Int and Float counts, by Kind.
type Value struct {
	Name  string
	Kind  ValueKind
	Text  string
	Int   int64
	Float float64
}

// A ValueKind is the type of a Value.
type ValueKind uint8

const (
	TextValue ValueKind = iota
	IntValue
	FloatValue
)

// A TrackKind says what a track shows.
type TrackKind uint8

const (
	// ProcessTrack is the process itself. Nothing is on it but what concerns the process as a whole and has no track of
	// its own.
	ProcessTrack TrackKind = iota
	// ThreadTrack shows slices, instants and samples of a thread.
	ThreadTrack
	// GCTrack shows the pauses for garbage collections of a process, CollectionTrack its collections.
	GCTrack
	CollectionTrack
	// LossTrack shows where events of a process are missing.
	LossTrack
	// LaneTrack shows slices of a process that do not nest on a thread, such as asynchronous operations. Those of one
	// lane nest. A lane is used again when it is empty.
	LaneTrack
	// CounterTrack shows a counter of a process. Name is that of the counter, with its tags; Unit its unit, "" if
	// unknown.
	CounterTrack
)

// A Track is a row of a timeline, or what belongs together below one. Tracks are compared by pointer and may be kept.
// Names of processes and threads are complete once Timeline.Finish has returned.
type Track struct {
	ID      uint32 // unique in the timeline, not 0
	Kind    TrackKind
	Process *Process
	TID     uint32 // ThreadTrack: unique among the threads of the process, not 0. Other kinds: a number that no thread of the process has
	Thread  *ntconv.Thread
	Name    string
	Unit    string
	// Lane numbers the lanes of a process from 1.
	Lane uint32
}

// A Process is a process of a timeline.
type Process struct {
	PID     uint32 // unique in the timeline, not 0
	Process *ntconv.Process
	Name    string
	Command string // command line, "" if unknown
	Track   *Track // its ProcessTrack
}

// A Node is an element of the tree of stacks: a frame, and the node of its caller. Equal stacks are equal nodes.
type Node uint32

// NoStack is no node. The root of the tree has the same number and no frame.
const NoStack Node = 0
