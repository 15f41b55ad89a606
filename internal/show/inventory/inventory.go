// Package inventory counts the contents of a trace: its events by type, thread and process, and what can be extracted
// from them.
package inventory

import (
	"math"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/events/clr"
	"github.com/ntconv/ntconv/internal/events/recording"
	"github.com/ntconv/ntconv/internal/span/stored"
	"github.com/ntconv/ntconv/internal/span/tracker"
	"github.com/ntconv/ntconv/schema"
)

// A Sink counts events. They may arrive in any order that keeps the order of each thread and of sequence points; file
// order is sufficient. Memory grows with the number of types and threads. Until it has seen the end of a span, a Sink
// also holds open spans and some of the events that begin and end spans, see spanFinder. It is not safe for concurrent
// use.
type Sink struct {
	schemas schema.Table
	types   map[*ntconv.Type]*typeCount
	threads map[*ntconv.Thread]*threadCount
	all     Tally
	lost    uint64
	first   ntconv.Ticks
	last    ntconv.Ticks
	barrier ntconv.Ticks // time before which no further event is expected, from sequence points and FlagSorted
	late    Late

	lastType   *typeCount
	lastThread *threadCount
	lastLabels *ntconv.Labels
	inSpan     bool // lastLabels has the ID of a span
	stops      bool // lastLabels mark the end of an operation

	spans *spanFinder // whether the trace has a span that exporters write
}

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

// Late counts events that are earlier than a sequence point or FlagSorted allows.
type Late struct {
	Events uint64
	Offset int64 // byte offset of the first one in the decompressed input, or -1
}

func (l *Late) add(e *ntconv.Event) {
	if l.Events == 0 {
		l.Offset = e.Offset
	}
	l.Events++
}

// Late returns the late events so far. If a reader delivers events in time order, it counts late events itself.
func (v *Sink) Late() Late { return v.late }

type typeCount struct {
	typ     *ntconv.Type
	name    string
	version uint8
	Tally
	part    bool  // its events may begin or end spans
	ends    bool  // its events end spans
	labeled int64 // events with the ID of a span
	stops   int64 // events whose labels mark the end of an operation
}

type threadCount struct {
	thread *ntconv.Thread
	events int64
	lost   uint64
}

// New returns a Sink for a trace, without counts.
func New(info *ntconv.Info) *Sink {
	return &Sink{
		types:   make(map[*ntconv.Type]*typeCount),
		threads: make(map[*ntconv.Thread]*threadCount),
		spans:   newSpanFinder(info),
		barrier: math.MinInt64,
	}
}

// Write counts an event, which it borrows. It allocates only for new types and threads, and always returns nil.
func (v *Sink) Write(e *ntconv.Event) error {
	switch e.Kind {
	case ntconv.KindEvent:
		if !recording.IsFact(e) {
			return nil
		}
		if v.all.Events == 0 || e.Time < v.first {
			v.first = e.Time
		}
		if v.all.Events == 0 || e.Time > v.last {
			v.last = e.Time
		}
		if e.Time < v.barrier {
			v.late.add(e)
		} else if e.Flags&ntconv.FlagSorted != 0 {
			v.barrier = e.Time
		}
		v.all.add(e)
		t := v.typeOf(e)
		t.add(e)
		if e.Labels != nil {
			v.countLabels(t, e)
		}
		if (t.part || e.Labels != nil) && v.spans.tracker != nil {
			v.spans.add(e)
		}
		v.threadOf(e.Thread).events++
	case ntconv.KindLost:
		v.lost += uint64(e.Lost)
		if e.Capture != nil {
			v.threadOf(e.Capture).lost += uint64(e.Lost)
		}
	case ntconv.KindMark:
		if e.Mark.Kind == ntconv.MarkSequencePoint {
			v.spans.flush()
			if v.all.Events > 0 {
				v.barrier = v.last
			}
		}
	}
	return nil
}

// Close determines whether the trace has spans. The counts remain available. It returns nil.
func (v *Sink) Close() error {
	v.spans.finish()
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
		t.part = begin || end || e.Type.Provider == clr.DiagnosticSource || stored.Spans.Has(e.Type) || slice
		t.ends = end && !slice
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
