package interval

import (
	"time"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/events/operation"
	"github.com/ntconv/ntconv/schema"
)

// An Interval is the time between two events that delimit it.
type Interval struct {
	Of   *operation.Operation
	Pair *schema.Pair
	// Begin and End are the events. They have no stack. The function that receives an Interval borrows them.
	Begin, End *ntconv.Event
	// Paused is how long a garbage collection suspended the runtime; 0 for other intervals.
	Paused time.Duration
	// Collection is the event that begins the garbage collection to which a pause belonged at its end. It is nil if that
	// is unknown, and for other intervals.
	Collection *ntconv.Event

	begin  ntconv.Event // with a payload of its own
	count  *Count
	finder *Finder
}

// Duration returns the time between the two events.
func (v *Interval) Duration() time.Duration {
	return time.Duration(Nanos(v.finder.clock, v.Begin.Time, v.End.Time))
}

// Start returns the time of the begin in nanoseconds since 1970, or since the start of a trace without a wall clock.
func (v *Interval) Start() int64 {
	clock := &v.finder.clock
	if clock.Wall.IsZero() {
		return clock.Nanos(v.Begin.Time)
	}
	return clock.Time(v.Begin.Time).UnixNano()
}

// Field returns a field of the event that begins the interval, or else of the event that ends it, as EventField does.
func (v *Interval) Field(name string) ntconv.Value {
	if f := v.finder.field(v.Begin, name); f.Kind() != ntconv.ValueNull {
		return f
	}
	return v.finder.field(v.End, name)
}

// ValueName returns the name of the value of a field in the runtime's manifest, or "" if there is none.
func (v *Interval) ValueName(name string) string {
	for _, e := range [...]*ntconv.Event{v.Begin, v.End} {
		s := v.finder.schemas.Of(e)
		if f := v.finder.field(e, name); f.Kind() == ntconv.ValueUint && s.HasValueNames(name) {
			return s.ValueName(name, f.Uint())
		}
	}
	return ""
}

// EventField returns a field of an event, such as Interval.Collection, or ValueNull if the event has no such field. The
// value is valid as long as the event is.
func (v *Interval) EventField(e *ntconv.Event, name string) ntconv.Value {
	return v.finder.field(e, name)
}

// coversProcess reports whether the interval covers all threads of its process, by the rules in the package comment.
func (v *Interval) coversProcess() bool { return v.Of.Covers() || v.Begin.Thread != v.End.Thread }
