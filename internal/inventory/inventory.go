// Package inventory counts the contents of a trace: its events by type, thread and process, and what can be extracted
// from them.
package inventory

import (
	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/clr"
	"github.com/ntconv/ntconv/internal/span"
	"github.com/ntconv/ntconv/internal/span/tracker"
	"github.com/ntconv/ntconv/schema"
)

// A Sink counts events. It holds one entry per type and one per thread, and never an event. Until it has seen the end
// of a span, it also holds the spans that are open, at most maxOpen. It is not safe for concurrent use.
type Sink struct {
	schemas schema.Table
	types   map[*ntconv.Type]*typeCount
	threads map[*ntconv.Thread]*threadCount
	all     Tally
	lost    uint64
	first   ntconv.Ticks
	last    ntconv.Ticks

	lastType   *typeCount
	lastThread *threadCount
	lastLabels *ntconv.Labels
	inSpan     bool // lastLabels has the ID of a span
	stops      bool // lastLabels says that the event ends something

	spans   *tracker.Tracker // nil once the answer is known
	hasSpan bool             // the trace has a span that exporters write
}

// maxOpen limits the spans that are open before the first one ends.
const maxOpen = 10_000

// A Tally counts events.
type Tally struct {
	Events int64 `json:"events"`
	Bytes  int64 `json:"bytes"`  // of payloads
	Stacks int64 `json:"stacks"` // events with a stack
}

func (t *Tally) add(e *ntconv.Event) {
	t.Events++
	t.Bytes += int64(len(e.Payload))
	if e.Stack != nil {
		t.Stacks++
	}
}

// Add adds the counts of u.
func (t *Tally) Add(u Tally) {
	t.Events += u.Events
	t.Bytes += u.Bytes
	t.Stacks += u.Stacks
}

type typeCount struct {
	typ     *ntconv.Type
	name    string
	version uint8
	Tally
	part    bool  // its events may begin or end spans
	ends    bool  // its events end spans
	labeled int64 // events with the ID of a span
	stops   int64 // events of which the labels say that they end a span
}

type threadCount struct {
	thread *ntconv.Thread
	events int64
	lost   uint64
}

// New returns a sink that has counted nothing of a trace.
func New(info *ntconv.Info) *Sink {
	v := &Sink{types: make(map[*ntconv.Type]*typeCount), threads: make(map[*ntconv.Thread]*threadCount)}
	v.spans = tracker.New(info, func(*span.Span) { v.hasSpan = true }, &tracker.Options{MaxEvents: 1, MaxOpen: maxOpen})
	return v
}

// Write counts an event, which it borrows until it returns. It allocates only for new types and threads and never
// fails.
func (v *Sink) Write(e *ntconv.Event) error {
	switch e.Kind {
	case ntconv.KindEvent:
		if v.all.Events == 0 || e.Time < v.first {
			v.first = e.Time
		}
		if v.all.Events == 0 || e.Time > v.last {
			v.last = e.Time
		}
		v.all.add(e)
		t := v.typeOf(e)
		t.add(e)
		if e.Labels != nil {
			v.countLabels(t, e)
		}
		if v.spans != nil && (t.part || e.Labels != nil) {
			v.lookForSpan(e)
		}
		v.threadOf(e.Thread).events++
	case ntconv.KindLost:
		v.lost += uint64(e.Lost)
		if e.Capture != nil {
			v.threadOf(e.Capture).lost += uint64(e.Lost)
		}
	}
	return nil
}

// lookForSpan shows an event to the tracker of spans until a span has ended. Whether a Stop event ends a span depends
// on what came before.
func (v *Sink) lookForSpan(e *ntconv.Event) {
	if v.spans.Add(e); v.hasSpan {
		v.spans = nil
	}
}

// Close finds out whether the trace has spans. The counts remain available.
func (v *Sink) Close() error {
	if v.spans != nil {
		v.spans.Finish()
		v.spans = nil
	}
	return nil
}

func (v *Sink) typeOf(e *ntconv.Event) *typeCount {
	if v.lastType != nil && v.lastType.typ == e.Type {
		return v.lastType
	}
	t := v.types[e.Type]
	if t == nil {
		s := v.schemas.Of(e)
		t = &typeCount{typ: e.Type, name: s.Name, version: e.Version()}
		begin, end := tracker.IsPart(s)
		slice, _ := tracker.IsSlice(e.Type)
		t.part, t.ends = begin || end || e.Type.Provider == clr.DiagnosticSource || span.IsEvent(e.Type) ||
			slice, end &&
			!slice
		v.types[e.Type] = t
	}
	v.lastType = t
	return t
}

// countLabels counts an event with labels.
func (v *Sink) countLabels(t *typeCount, e *ntconv.Event) {
	if e.Labels != v.lastLabels {
		opcode := e.Labels.Find(ntconv.LabelOpcode)
		v.lastLabels, v.inSpan = e.Labels, e.Labels.Find(ntconv.LabelSpanID) != nil
		v.stops = opcode != nil && opcode.Num == clr.OpcodeStop
	}
	if v.inSpan {
		t.labeled++
	}
	if v.stops && !t.ends && tracker.HasPairs(t.typ.Provider) {
		t.stops++
	}
}

func (v *Sink) threadOf(t *ntconv.Thread) *threadCount {
	if v.lastThread != nil && v.lastThread.thread == t {
		return v.lastThread
	}
	c := v.threads[t]
	if c == nil {
		c = &threadCount{thread: t}
		v.threads[t] = c
	}
	v.lastThread = c
	return c
}
