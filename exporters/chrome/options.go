package chrome

import "github.com/ntconv/ntconv"

// Tracks selects what is shown, as a bit set. Samples have an option of their own, and losses are always shown.
type Tracks uint16

const (
	// Spans are events with labels of spans, Activities, pairs of Start and Stop, and imported spans, as slices.
	Spans Tracks = 1 << iota
	// GC are garbage collections and the pauses for them.
	GC
	// JIT are compilations of methods.
	JIT
	// Contention are waits for locks, Waits those for wait handles.
	Contention
	Waits
	// Requests are work items in the queue of the thread pool, and requests that the runtime reports.
	Requests
	// Events are all other events, as instants; exceptions, too.
	Events
	// Exceptions are exceptions, as instants.
	Exceptions
	// Counters are values of counters.
	Counters
	// Flows are arrows from the slice of a parent to that of its child.
	Flows
)

// Samples selects the form in which samples of stacks are written.
type Samples uint8

const (
	// V8 writes the CPU profile of V8 in chunks (events Profile and ProfileChunk), one profile per thread and kind of
	// samples. All viewers read it.
	V8 Samples = iota
	// StackFrames writes the members samples and stackFrames of the object form.
	StackFrames
	// Slices writes slices for what equal frames of consecutive samples have in common, on a track next to the thread.
	Slices
	// NoSamples omits samples.
	NoSamples
)

// Options configure a Sink. The zero value selects the defaults.
type Options struct {
	// Tracks selects what is shown; 0 means everything.
	Tracks  Tracks
	Samples Samples
	// Array writes the array form: an array of events and nothing else, which viewers can read although its end is
	// missing. It has no place for metadata, for Stacks and for the samples of StackFrames.
	Array bool
	// NoArgs omits the args of instants and slices: payloads, labels, attributes.
	NoArgs bool
	// Stacks adds the stacks of events (members sf and stackFrames). Only chrome://tracing shows them.
	Stacks bool
	// Rundown includes the events that only describe methods and modules.
	Rundown bool
	// MinDuration omits slices that are shorter, in nanoseconds.
	MinDuration int64
	// SpanIDReversed means that the label SpanId is a little-endian number: the W3C text form shows its bytes from last
	// to first.
	SpanIDReversed bool
	// Source is the name of the input and Version that of the program, for the member metadata.
	Source, Version string
	// TempDir is the directory of temporary files; "" means os.TempDir().
	TempDir string
	// MaxTemp is the maximum size of each temporary file in bytes; 0 means no limit. Exceeding it is an error that
	// wraps ntconv.ErrLimit.
	MaxTemp int64
	// Report receives what could not be written as it is; it may be nil.
	Report *ntconv.Report
}

// Counts is what the trace holds as a timeline. Not every format has a place for all of it.
type Counts struct {
	Events                              int64 // written
	Slices, Instants, Counters, Samples int64
	Flows                               int64 // arrows
	Lanes                               int64 // of Slices: on lanes, which show operations that do not nest on a thread
	Spans                               int64 // of Slices: spans, as opposed to intervals of the runtime
	Short                               int64 // slices that are shorter than the minimum, omitted
	Rundown                             int64 // events that only describe methods and modules, omitted
	Unfinished                          int64 // slices that end with the trace, because it does not show their end
	Renumbered                          int64 // threads and processes whose number is not the recorded one
	Losses                              int64 // instants that state how many events are missing; they are not among Instants
	Raw                                 int64 // events that a format writes as it once was read
	Moved                               int64 // slices with times far outside of the recording, which were moved to its start or end
}

// Summary is what a Sink has written.
type Summary struct {
	Counts
	// Invalid is the number of strings that are not Unicode. They have U+FFFD where they are not.
	Invalid int64
	// NotNumbers is the number of values of counters that are infinite or not a number, which JSON does not have. They
	// are omitted.
	NotNumbers int64
	// LostFlows is the number of arrows for which the format has no place. They are omitted.
	LostFlows int64
	// Parts is the number of files.
	Parts int
}
