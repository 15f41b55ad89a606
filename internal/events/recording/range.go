package recording

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ntconv/ntconv"
)

// A Range determines the time range of the recording that a trace holds. Every output that shows it, or a share or a rate
// of it, takes it from here:
//
//	begin     that of the part (AttrBegin), or else the start of the session, or the first fact if it is earlier or the
//	          trace states no start. A part may have earlier facts: the begins of intervals that end in it.
//	end       the last fact
//	duration  the time from begin to end
//
// Facts (IsFact) of the rundown do not count, because they are written after the recording. It is not safe for concurrent
// use.
type Range struct {
	begin       ntconv.Ticks
	hasBegin    bool // begin is known
	isPart      bool // AttrBegin states begin
	any         bool
	first, last ntconv.Ticks
	ends        map[*ntconv.Process]*ntconv.Ticks // time of the latest event of each process

	lastType    *ntconv.Type
	after       bool // lastType is of the rundown, or states something about a part
	replicas    Replicas
	lastProcess *ntconv.Process
	end         *ntconv.Ticks // the element of ends of lastProcess; nil at first
}

// NewRange returns a Range of a trace without events so far.
func NewRange(info *ntconv.Info) *Range {
	r := &Range{ends: map[*ntconv.Process]*ntconv.Ticks{}}
	r.begin, r.hasBegin = begin(info)
	_, r.isPart = info.Attrs.Get(AttrBegin)
	return r
}

// AttrBegin is the attribute of a trace with the begin of the part of a recording that it holds, in nanoseconds after
// the start of the session. The header of a part still states the start of the session, from which its times count.
const AttrBegin = "ntconv.begin"

// begin returns the time when the recording begins. ok is false if the trace does not state it.
func begin(info *ntconv.Info) (at ntconv.Ticks, ok bool) {
	if text, found := info.Attrs.Get(AttrBegin); found {
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			return info.Clock.TicksAt(time.Duration(n)), true
		}
	}
	return info.Clock.Tick, isRecorded(info)
}

// Since returns info with the statement that the recording begins at the given time. It returns info itself if the
// recording does not begin earlier.
func Since(info *ntconv.Info, at ntconv.Ticks) *ntconv.Info {
	if from, ok := begin(info); ok && at <= from {
		return info
	}
	part := *info
	part.Attrs = slices.DeleteFunc(slices.Clone(info.Attrs), func(a ntconv.Attr) bool { return a.Key == AttrBegin })
	part.Attrs = append(part.Attrs, ntconv.Attr{Key: AttrBegin, Value: strconv.FormatInt(info.Clock.Nanos(at), 10)})
	return &part
}

// isRecorded reports whether the clock of a trace starts with the session. The headers of nettrace and netperf contain
// the tick of the start; the clocks of other formats start at any time.
func isRecorded(info *ntconv.Info) bool {
	return strings.HasPrefix(info.Format, "nettrace") || strings.HasPrefix(info.Format, "netperf")
}

// Observe extends the range to e. It borrows e, and allocates only for new processes.
func (r *Range) Observe(e *ntconv.Event) {
	if e.Kind != ntconv.KindEvent {
		return
	}
	if e.Type != r.lastType {
		r.lastType, r.after = e.Type, IsAfter(e.Type)
	}
	if !r.after && !r.replicas.Has(e) {
		r.Extend(e)
	}
}

// Extend is Observe for a fact whose type is not IsAfter, for callers that know both by type and label list.
func (r *Range) Extend(e *ntconv.Event) {
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
func (r *Range) process(p *ntconv.Process, at ntconv.Ticks) {
	end := r.ends[p]
	if end == nil {
		end = &at
		r.ends[p] = end
	}
	r.lastProcess, r.end = p, end
}

// Span returns the begin and the end of the recording; ok is false if there was no fact.
func (r *Range) Span() (first, last ntconv.Ticks, ok bool) {
	switch {
	case r.isPart && r.hasBegin:
		first = r.begin
	case r.hasBegin:
		first = min(r.first, r.begin)
	default:
		first = r.first
	}
	return first, max(first, r.last), r.any
}

// End returns the time of the latest fact of p so far, or the smallest time if there was none.
func (r *Range) End(p *ntconv.Process) ntconv.Ticks {
	if end := r.ends[p]; end != nil {
		return *end
	}
	return math.MinInt64
}
