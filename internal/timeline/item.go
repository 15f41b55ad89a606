package timeline

import (
	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/sample"
)

// A Kind is the kind of an Item.
type Kind uint8

const (
	// SliceBegin begins a slice, an operation with a duration, which is known. The slices on a track nest; slices that
	// would not nest are on lanes.
	SliceBegin Kind = iota
	// SliceEnd ends the slice with the same ID. Its Time is the Time of the SliceBegin plus Duration. Only Kind, Time,
	// Track, ID, Name and Category are set.
	SliceEnd
	// Instant is an event at one time.
	Instant
	// Counter is a value of a counter; Track is the track of the counter.
	Counter
	// Sample is a sample of a stack with its weight.
	Sample
	// FlowBegin and FlowEnd are the ends of an arrow with the same ID. Each belongs to the innermost slice on its track
	// at its Time. A FlowBegin precedes its FlowEnd, and directly unless it is Later.
	FlowBegin
	FlowEnd
	// Raw is an event that Options.Raw has encoded, in Encoded.
	Raw
)

// Categories of items that are not events. The category of an event is the name of its provider.
const (
	CategorySpan       = "span"
	CategoryGC         = "gc"
	CategoryJIT        = "jit"
	CategoryContention = "contention"
	CategoryWait       = "wait"
	CategoryRequest    = "request"
	CategoryException  = "exception"
	CategoryLog        = "log"
	CategoryCounter    = "counter"
	CategoryLoss       = "loss"
	CategoryFlow       = "flow"
)

// An Item is an element of a timeline. It is borrowed until emit returns; Track, Name and all other strings may be
// retained.
type Item struct {
	Kind     Kind
	Time     int64  // nanoseconds since Timeline.Start, never negative
	Duration int64  // SliceBegin: nanoseconds, never negative
	ID       uint64 // of a slice or flow: not 0, unique among slices and flows
	Track    *Track
	Name     string
	Category string

	Unfinished bool // SliceBegin: the end is not in the trace, and the slice ends with the trace
	// Later means that the FlowEnd of a FlowBegin is at another time: an arrow of an imported trace. If ToLane is not set
	// either, it is on the track of a thread. It may be missing, or outside of all slices.
	Later, ToLane bool
	// EndThread is the track of the thread on which a slice ended. It is nil if that is unknown or equal to Thread.
	EndThread *Track
	// Thread is the track of the thread on which a slice began, an instant occurred or a sample was taken; nil if
	// unknown. It differs from Track if Track is a lane or belongs to the process.
	Thread *Track
	// Encoded is the result of Options.Args or Options.Raw for the item; nil if it is empty.
	Encoded []byte
	// Stack is the stack of an Instant, a Sample or a Raw, or of the event that begins a slice. NoStack means none.
	Stack Node
	// Bytes is the number of allocated bytes that an Instant represents; 0 if it is not an allocation.
	Bytes int64

	Value  float64 // Counter
	Weight *Weight // Sample
}

// A Weight is the weight of a sample. It is borrowed with the Item.
type Weight struct {
	Kind   sample.Kind
	Types  []sample.Type // one per value; shared and immutable
	Values []int64
	State  string // state of the thread; "" if unknown
	// Until is the end of the time that the sample represents, in nanoseconds since Timeline.Start. It is at least
	// Item.Time, and equal to it if no value is a time.
	Until int64
}

// A TrackKind is the kind of a Track.
type TrackKind uint8

const (
	// ProcessTrack represents a process. It shows only items that concern the whole process and have no track of their
	// own.
	ProcessTrack TrackKind = iota
	// ThreadTrack shows the slices, instants and samples of a thread.
	ThreadTrack
	// GCTrack shows the pauses for garbage collections of a process, CollectionTrack the collections.
	GCTrack
	CollectionTrack
	// LossTrack shows where events of a process were lost.
	LossTrack
	// LaneTrack shows slices of a process that do not nest on a thread, such as asynchronous operations. The slices on
	// one lane nest. An empty lane is reused.
	LaneTrack
	// CounterTrack shows a counter of a process. Name is the name of the counter with its tags, Unit its unit, "" if
	// unknown.
	CounterTrack
)

// A Track is a row of a timeline. Tracks are compared by pointer and may be retained. Names of processes and threads
// are final once Timeline.Finish has returned; a Track is immutable from then on.
type Track struct {
	ID      uint32 // unique in the timeline, not 0
	Kind    TrackKind
	Process *Process
	TID     uint32 // not 0; for ThreadTrack unique in the process, for other kinds not the TID of any thread
	Thread  *ntconv.Thread
	Name    string
	Unit    string
	// HasSlices means that slices are on the track of the thread. It is not set for other kinds.
	HasSlices bool
	// Lane is the number of a lane in its process, from 1.
	Lane uint32
}

// Renumbered reports whether the TID of a thread is not the recorded one, which is unknown, does not fit or belongs to
// another thread of the process.
func (t *Track) Renumbered() bool {
	return t.Kind == ThreadTrack && t.Thread != nil && t.Thread.TID != uint64(t.TID)
}

// A Process is a process in a timeline.
type Process struct {
	PID     uint32 // unique in the timeline, not 0
	Process *ntconv.Process
	Name    string
	Command string // command line; "" if unknown
	Track   *Track // its ProcessTrack
}

// A Node is an element of the tree of stacks: a frame and the node of its caller. Equal stacks have equal nodes.
type Node uint32

// NoStack means that there is no stack. It is also the root of the tree, which has no frame.
const NoStack Node = 0
