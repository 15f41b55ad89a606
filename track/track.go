// Package track holds what the exporters of timelines have in common, those of Chrome's format, Perfetto, the Firefox
// Profiler and speedscope: which tracks an output shows, all other options that do not depend on its format, and what
// has been written.
package track

import (
	"time"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/events/operation"
	"github.com/ntconv/ntconv/sample"
)

// A Set is a set of what a timeline shows. Losses are always shown, and samples have an option of their own.
type Set uint32

const (
	Spans       = Set(operation.Default)     // slices of span labels, Activities, pairs of events, imported spans
	GC          = Set(operation.GC)          // garbage collections and the pauses for them
	JIT         = Set(operation.JIT)         // compilations of methods
	Contention  = Set(operation.Contention)  // waits for locks
	Waits       = Set(operation.Waits)       // waits for wait handles
	Requests    = Set(operation.Requests)    // work items in the queue of the thread pool, requests that .NET reports
	Suspensions = Set(operation.Suspensions) // suspensions of the runtime for other reasons than a collection
	Exceptions  = Set(operation.Exceptions)  // thrown exceptions, as instants

	Events   Set = 1 << 31 // all other events, including exceptions, as instants
	Counters Set = 1 << 30 // values of counters
	Flows    Set = 1 << 29 // arrows from a slice to slices that it started on other tracks

	// All does not contain Suspensions, because the sample profiler suspends the runtime for every sample.
	All = Spans | Set(operation.Runtime) | Events | Counters | Flows
)

// A Name is an element of a Set and its name.
type Name struct {
	Name string
	Set  Set
}

// Names returns the elements of a Set with their names, in the order in which a program lists them.
func Names() []Name {
	list := []Name{{"spans", Spans}}
	for _, c := range operation.Categories() {
		list = append(list, Name{c.Name, Set(c.Source)})
	}
	return append(list, Name{"events", Events}, Name{"counters", Counters}, Name{"flows", Flows})
}

// Options configure an exporter of timelines. The zero value selects the defaults.
type Options struct {
	// Tracks selects what is shown in addition to samples and losses; 0 means All. What the format cannot represent is
	// omitted.
	Tracks Set
	// MinDuration omits slices that are shorter; 0 omits none.
	MinDuration time.Duration
	// Rundown includes the events that only describe methods and modules, as instants.
	Rundown bool
	// SpanIDReversed treats the label SpanId as a little-endian number: its W3C text form shows the bytes from last to
	// first.
	SpanIDReversed bool
	// Kinds are the kinds of samples; nil means sample.Wall, sample.CPU and sample.Imported. KindOptions configure those
	// that are computed from events; such events also become slices or instants. Window, if not nil, reports whether a
	// time is selected: an interval, such as a wait, that is not completely in the selected time is in no sample.
	Kinds       []sample.Kind
	KindOptions sample.KindOptions
	Window      func(ntconv.Ticks) bool
	// Name is the name of the recording and Version that of the program that writes it, for formats that state them;
	// "" omits them or selects the default of the format.
	Name, Version string
	// TempDir is the directory of temporary files; "" means os.TempDir().
	TempDir string
	// MaxTemp is the maximum size of each temporary file in bytes; 0 means no limit. Exceeding it is an error that
	// wraps ntconv.ErrLimit.
	MaxTemp int64
	// Report receives the conditions that the conversion counts; nil discards them.
	Report *ntconv.Report
}

// Counts describes a trace as a timeline. An output format need not be able to represent all of it.
type Counts struct {
	Events                              int64 // events written
	Slices, Instants, Counters, Samples int64
	Flows                               int64 // arrows
	Lanes                               int64 // of Slices, those of operations that do not nest on a thread
	Spans                               int64 // of Slices, those of spans and not of intervals of the runtime
	Short                               int64 // slices shorter than MinDuration, omitted
	Rundown                             int64 // events that only describe methods and modules, omitted
	Unfinished                          int64 // slices that end with the trace, because it does not contain their end
	Renumbered                          int64 // threads and processes whose number differs from the recorded one
	Losses                              int64 // instants that state how many events are missing; not part of Instants
	Raw                                 int64 // imported events that are written with their original members
	Moved                               int64 // slices far outside the recording, moved to its start or end
}
