// Package inventory counts the contents of a trace: its events by type, thread and process, and what can be extracted from them.
package inventory

import (
	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/schema"
)

// A Sink counts events. It holds one entry per type and one per thread, and never an event. It is not safe for concurrent use.
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

type typeCount struct {
	typ     *ntconv.Type
	name    string
	version uint8
	Tally
	labeled int64 // events with the ID of a span
}

type threadCount struct {
	thread *ntconv.Thread
	events int64
	lost   uint64
}

// New returns a sink that has counted nothing.
func New() *Sink {
	return &Sink{types: make(map[*ntconv.Type]*typeCount), threads: make(map[*ntconv.Thread]*threadCount)}
}

// Write counts an event, which it borrows until it returns. It allocates only for new types and threads and never fails.
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
		if e.Labels != nil && v.hasSpan(e.Labels) {
			t.labeled++
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

// Close implements ntconv.Sink. The counts remain available.
func (v *Sink) Close() error { return nil }

func (v *Sink) typeOf(e *ntconv.Event) *typeCount {
	if v.lastType != nil && v.lastType.typ == e.Type {
		return v.lastType
	}
	t := v.types[e.Type]
	if t == nil {
		t = &typeCount{typ: e.Type, name: v.schemas.Of(e).Name, version: e.Version()}
		v.types[e.Type] = t
	}
	v.lastType = t
	return t
}

// hasSpan reports whether labels have the ID of a span.
func (v *Sink) hasSpan(l *ntconv.Labels) bool {
	if l != v.lastLabels {
		v.lastLabels, v.inSpan = l, l.Find(ntconv.LabelSpanID) != nil
	}
	return v.inSpan
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
