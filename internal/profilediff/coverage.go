package profilediff

import (
	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/clr"
	"github.com/ntconv/ntconv/internal/profile"
	"github.com/ntconv/ntconv/internal/split"
	"github.com/ntconv/ntconv/kind"
)

// A coverage is the time that the events of a trace cover. It is needed for a trace that is a selection of another one,
// whose header still has the start of the whole session.
type coverage struct {
	events  *profile.Recording // selected events, without those that split has added
	samples *profile.Recording // of these, samples at intervals: a filtered trace has symbol events of any time
	part    bool               // split wrote the trace
	partial bool               // events state that the trace is a selection

	first, last ntconv.Ticks // of the recording; set by Observed.End
	known       bool         // first and last are known
}

func newCoverage(info *ntconv.Info) coverage {
	p, err := split.PartOf(info)
	return coverage{events: profile.NewRecording(nil), samples: profile.NewRecording(nil), part: p != nil && err == nil}
}

// watch notes an event that the selection may omit.
func (c *coverage) watch(e *ntconv.Event) {
	c.partial = c.partial || e.Kind == ntconv.KindEvent && profile.IsWeight(e.Type)
}

// add notes a selected event.
func (c *coverage) add(e *ntconv.Event) {
	c.watch(e)
	if e.Kind != ntconv.KindEvent || split.IsReplica(e) || split.IsMark(e.Type) {
		return
	}
	c.events.Observe(e)
	if p := e.Type.Provider; p == clr.SampleProfiler || p == clr.UniversalEvents {
		c.samples.Observe(e)
	}
}

// Covered returns the seconds that the events of a part, or the samples of a filtered trace, cover. It returns 0 for
// other traces, whose duration is that of the recording. Call it after End, when Kind is set.
func (o *Observed) Covered() float64 {
	c := &o.coverage
	of := c.samples
	if c.part {
		of = c.events
	}
	begin, end, ok := of.Span()
	if !ok || !c.part && (!c.known || !c.partial && !o.beginsLate(begin)) {
		return 0
	}
	return o.info.Clock.Since(begin, end).Seconds()
}

// beginsLate reports whether a trace has no samples in the first tenth of its time, although its recorder took samples
// all the time: it holds later events only, and the header still has the start of the session.
func (o *Observed) beginsLate(begin ntconv.Ticks) bool {
	c := &o.coverage
	return !o.filtered && (o.Kind == kind.Wall.String() || o.Kind == kind.CPU.String()) && begin-c.first > (c.last-c.first)/10
}
