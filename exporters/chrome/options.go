package chrome

import (
	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/kind"
)

// Tracks is a bit set that selects what a Sink writes. Samples have an option of their own, and losses are always
// written.
type Tracks uint16

const (
	// Spans are events with span labels, Activities, pairs of Start and Stop events, and imported spans, as slices.
	Spans Tracks = 1 << iota
	// GC means garbage collections and their pauses.
	GC
	// JIT means compilations of methods.
	JIT
	// Contention means waits for locks, Waits means waits for wait handles.
	Contention
	Waits
	// Requests means work items in the queue of the thread pool, and requests that the runtime reports.
	Requests
	// Events means all other events, including exceptions, as instants.
	Events
	// Exceptions means exceptions only, as instants.
	Exceptions
	// Counters means counter values.
	Counters
	// Flows means arrows from the slice of a parent to the slice of its child.
	Flows
	// Suspensions means suspensions of the runtime for other reasons than a collection. They are not part of everything.
	Suspensions
)

// Samples is the form in which a Sink writes samples of stacks.
type Samples uint8

const (
	// V8 writes CPU profiles of V8 in chunks (events Profile and ProfileChunk), one profile per thread and sample kind.
	// All viewers read them.
	V8 Samples = iota
	// StackFrames writes the members samples and stackFrames of the object form. It excludes Options.Array and
	// NewSplit.
	StackFrames
	// Slices writes a slice for each run of consecutive samples with the same frame at the same depth, on a track next
	// to the thread.
	Slices
	// NoSamples omits samples.
	NoSamples
)

// Options configure a Sink. The zero value selects the defaults.
type Options struct {
	// Tracks selects what is written; 0 means everything.
	Tracks  Tracks
	Samples Samples
	// Array writes the array form, an array of events without metadata, which viewers can read even if its end is
	// missing. Close fails if Stacks or the samples of StackFrames are requested, too.
	Array bool
	// NoArgs omits the args of instants and slices: payloads, labels and attributes.
	NoArgs bool
	// Stacks adds the stacks of events (members sf and stackFrames). Only chrome://tracing shows them.
	Stacks bool
	// Rundown includes the events that only describe methods and modules.
	Rundown bool
	// MinDuration omits slices that are shorter, in nanoseconds; 0 omits none.
	MinDuration int64
	// SpanIDReversed treats the label SpanId as a little-endian number: its W3C text form shows the bytes from last to
	// first.
	SpanIDReversed bool
	// Kinds are the kinds of samples; nil means kind.Wall, kind.CPU and kind.Imported. KindOptions configure those that are
	// computed from events; such events also become slices or instants. Window, if not nil, reports whether a time is
	// selected: an interval, such as a wait, that is not completely in the selected time is in no sample.
	Kinds       []kind.Kind
	KindOptions kind.Options
	Window      func(ntconv.Ticks) bool
	// Source is the name of the input and Version that of the program, both for the member metadata; "" omits them.
	Source, Version string
	// TempDir is the directory of temporary files; "" means os.TempDir().
	TempDir string
	// MaxTemp is the maximum size of each temporary file in bytes; 0 means no limit. Exceeding it is an error that
	// wraps ntconv.ErrLimit.
	MaxTemp int64
	// Report receives the conditions that the conversion counts; nil discards them.
	Report *ntconv.Report
}

// Counts describes the trace as a timeline. An output format need not be able to represent all of it.
type Counts struct {
	Events                              int64 // events written
	Slices, Instants, Counters, Samples int64
	Flows                               int64 // arrows
	Lanes                               int64 // slices on lanes, which show operations that do not nest on a thread; included in Slices
	Spans                               int64 // slices of spans, not of intervals of the runtime; included in Slices
	Short                               int64 // slices shorter than MinDuration, omitted
	Rundown                             int64 // events that only describe methods and modules, omitted
	Unfinished                          int64 // slices that end with the trace, because it does not contain their end
	Renumbered                          int64 // threads and processes whose number differs from the recorded one
	Losses                              int64 // instants that state how many events are missing; not included in Instants
	Raw                                 int64 // imported events that are written with their original members
	Moved                               int64 // slices with times far outside the recording, moved to its start or end
}

// Summary counts what a Sink has written.
type Summary struct {
	Counts
	// Invalid is the number of strings that were not valid Unicode; their invalid parts were replaced by U+FFFD.
	Invalid int64
	// NotNumbers is the number of counter values that were omitted because they are infinite or not a number: JSON
	// cannot represent them.
	NotNumbers int64
	// LostFlows is the number of arrows that were omitted because the format cannot represent them.
	LostFlows int64
	// Parts is the number of files written.
	Parts int
}
