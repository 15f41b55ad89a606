package timeline

import (
	"github.com/ntconv/ntconv/internal/events/operation"
)

// Tracks is a bit set of what a timeline shows. The options of exporters have the same set with equal values. Samples
// have their own option, and losses are always shown.
type Tracks uint16

const (
	Spans      Tracks = 1 << iota // labels, Activities, pairs of events and imported spans as slices
	GC                            // garbage collections and the pauses for them
	JIT                           // compilations
	Contention                    // waits for locks
	Waits                         // waits for wait handles
	Requests                      // time in the queue of the thread pool, and requests that the runtime reports
	Events                        // all other events as instants, including exceptions
	Exceptions                    // exceptions, as instants
	Counters
	Flows       // arrows
	Suspensions // of the runtime, for other reasons than a collection

	// AllTracks does not contain Suspensions, because the sample profiler suspends the runtime for every sample.
	AllTracks = Spans | GC | JIT | Contention | Waits | Requests | Events | Exceptions | Counters | Flows
)

// NoSpans is a source that yields no spans. Options.Spans needs it because 0 means all.
const NoSpans operation.Sources = 1 << 15

// Show sets the options according to t. 0 means AllTracks.
func (o *Options) Show(t Tracks) {
	if t == 0 {
		t = AllTracks
	}
	o.Spans = NoSpans
	for _, s := range []struct {
		track   Tracks
		sources operation.Sources
	}{{Spans, operation.Default}, {GC, operation.GC}, {JIT, operation.JIT}, {Contention, operation.Contention}, {Waits, operation.Waits}, {Requests, operation.Requests}, {Suspensions, operation.Suspensions}} {
		if t&s.track != 0 {
			o.Spans |= s.sources
		}
	}
	o.Exceptions = t&Exceptions != 0
	o.NoInstants, o.NoCounters, o.NoFlows = t&Events == 0, t&Counters == 0, t&Flows == 0
}
