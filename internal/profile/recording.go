package profile

import (
	"math"
	"strings"

	"github.com/ntconv/ntconv"
)

// A Recording learns from when to when a trace was recorded: from its first to its last event, but for those of rundown
// and those that state weights, which are written afterwards. The zero value has seen nothing.
type Recording struct {
	any         bool
	first, last ntconv.Ticks

	lastType *ntconv.Type
	after    bool // lastType is of rundown, or of events that state weights
}

// Observe takes an event into account. It borrows the event, and does not allocate.
func (r *Recording) Observe(e *ntconv.Event) {
	if e.Kind != ntconv.KindEvent {
		return
	}
	if e.Type != r.lastType {
		r.lastType, r.after = e.Type, strings.HasSuffix(e.Type.Provider, "Rundown") || IsWeight(e.Type)
	}
	if r.after {
		return
	}
	if !r.any {
		r.any, r.first, r.last = true, e.Time, e.Time
	}
	r.first, r.last = min(r.first, e.Time), max(r.last, e.Time)
}

// Span returns the times of the first and the last event, and false if there was none.
func (r *Recording) Span() (first, last ntconv.Ticks, ok bool) { return r.first, r.last, r.any }

// after returns the time n ticks behind t, or the latest time.
func after(t ntconv.Ticks, n uint64) ntconv.Ticks {
	if n > uint64(math.MaxInt64)-uint64(t) { // the distance, modulo 2^64
		return math.MaxInt64
	}
	return t + ntconv.Ticks(n)
}
