package interval

import (
	"time"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/clr"
	"github.com/ntconv/ntconv/schema"
)

// An Interval is the time between two events that delimit it.
type Interval struct {
	Pair *schema.Pair
	// Begin and End are the events. They have no stack. The function that receives an Interval borrows them.
	Begin, End *ntconv.Event
	// Paused is how long a garbage collection suspended the runtime; 0 for other intervals.
	Paused time.Duration
	// Collection is the event that begins the garbage collection for which a suspension of the runtime was made. It is
	// nil if that is unknown, and for other intervals.
	Collection *ntconv.Event

	matcher *Matcher
}

// Names of the pairs of garbage collections.
const (
	PairCollection = "GC"
	PairSuspension = "Suspension"
)

func isCollection(p *schema.Pair) bool { return p.Provider == clr.Runtime && p.Name == PairCollection }
func isSuspension(p *schema.Pair) bool { return p.Provider == clr.Runtime && p.Name == PairSuspension }

// IsPause reports whether the interval is a suspension of the runtime for a garbage collection.
func (v *Interval) IsPause() bool {
	if !isSuspension(v.Pair) {
		return false
	}
	reason := v.matcher.field(v.Begin, "Reason")
	return reason.Kind() == ntconv.ValueUint && clr.SuspendsForGC(reason.Uint())
}

// Duration returns the time between the two events.
func (v *Interval) Duration() time.Duration { return v.matcher.clock.Since(v.Begin.Time, v.End.Time) }

// Start returns the time of the begin in nanoseconds since 1970, or since the start of a trace without a wall clock.
func (v *Interval) Start() int64 {
	clock := &v.matcher.clock
	if clock.Wall.IsZero() {
		return clock.Nanos(v.Begin.Time)
	}
	return clock.Time(v.Begin.Time).UnixNano()
}

// Field returns a field of the event that begins the interval, or else of the event that ends it, as EventField does.
func (v *Interval) Field(name string) ntconv.Value {
	if f := v.matcher.field(v.Begin, name); f.Kind() != ntconv.ValueNull {
		return f
	}
	return v.matcher.field(v.End, name)
}

// ValueName returns the name of the value of a field in the runtime's manifest, or "" if there is none.
func (v *Interval) ValueName(name string) string {
	for _, e := range [...]*ntconv.Event{v.Begin, v.End} {
		s := v.matcher.schemas.Of(e)
		if f := v.matcher.field(e, name); f.Kind() == ntconv.ValueUint && s.HasValueNames(name) {
			return s.ValueName(name, f.Uint())
		}
	}
	return ""
}

// EventField returns a field of an event, such as Interval.Collection, or ValueNull if the event has no such field. The
// value is valid as long as the event is.
func (v *Interval) EventField(e *ntconv.Event, name string) ntconv.Value {
	return v.matcher.field(e, name)
}

// coversProcess reports whether the interval covers all threads of its process, by the rules in the package comment.
func (v *Interval) coversProcess() bool {
	return ofProcess(v.Pair) || v.Begin.Thread != v.End.Thread
}

// ofProcess reports whether all intervals of a pair cover their process.
func ofProcess(p *schema.Pair) bool {
	if p.Key == schema.KeyProcess {
		return true
	}
	switch p.Name {
	case PairCollection, "GenAware", "ThreadPoolQueue", "ThreadPoolIOQueue", "ThreadCreation", "TaskQueue",
		"ThreadPoolWork", "ThreadTransfer":
		return true
	}
	return false
}
