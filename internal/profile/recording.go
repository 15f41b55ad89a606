package profile

import (
	"math"
	"strings"

	"github.com/ntconv/ntconv"
)

// A Recording determines the time range of a trace: from the start of the session, or else from the first event, to the
// last event. Rundown events and events that state weights do not count, because they are written afterwards. It is not
// safe for concurrent use.
type Recording struct {
	session     ntconv.Ticks
	hasSession  bool
	any         bool
	first, last ntconv.Ticks
	ends        map[*ntconv.Process]*ntconv.Ticks // time of the latest event of each process

	lastType    *ntconv.Type
	after       bool // lastType is a rundown event or states weights
	lastProcess *ntconv.Process
	end         *ntconv.Ticks // the element of ends of lastProcess; nil at first
}

// NewRecording returns a Recording of a trace without events so far. If info is nil, the start of the session is
// unknown.
func NewRecording(info *ntconv.Info) *Recording {
	r := &Recording{ends: map[*ntconv.Process]*ntconv.Ticks{}}
	if info != nil && isRecorded(info) {
		r.session, r.hasSession = info.Clock.Tick, true
	}
	return r
}

// isRecorded reports whether the clock of a trace starts with the session. The headers of nettrace and netperf contain
// the tick of the start; the clocks of other formats start at any time.
func isRecorded(info *ntconv.Info) bool {
	return strings.HasPrefix(info.Format, "nettrace") || strings.HasPrefix(info.Format, "netperf")
}

// Observe extends the range to e. It borrows e, and allocates only for new processes.
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
	var p *ntconv.Process
	if e.Thread != nil {
		p = e.Thread.Process
	}
	if p != r.lastProcess || r.end == nil {
		r.process(p, e.Time)
	}
	if e.Time > *r.end {
		*r.end = e.Time
	}
}

// process makes p the process of the latest event.
func (r *Recording) process(p *ntconv.Process, at ntconv.Ticks) {
	end := r.ends[p]
	if end == nil {
		end = &at
		r.ends[p] = end
	}
	r.lastProcess, r.end = p, end
}

// Span returns the start and the end of the range; ok is false if there was no event. The range starts with the first
// event if the start of the session is unknown or later.
func (r *Recording) Span() (first, last ntconv.Ticks, ok bool) {
	first = r.first
	if r.hasSession {
		first = min(first, r.session)
	}
	return first, r.last, r.any
}

// End returns the time of the latest event of p so far, or the smallest time if there was none.
func (r *Recording) End(p *ntconv.Process) ntconv.Ticks {
	if end := r.ends[p]; end != nil {
		return *end
	}
	return math.MinInt64
}

// after returns the time n ticks after t, or the latest time if that overflows.
func after(t ntconv.Ticks, n uint64) ntconv.Ticks {
	if n > uint64(math.MaxInt64)-uint64(t) { // the distance, modulo 2^64
		return math.MaxInt64
	}
	return t + ntconv.Ticks(n)
}
