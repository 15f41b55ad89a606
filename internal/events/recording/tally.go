package recording

import (
	"cmp"

	"github.com/ntconv/ntconv"
)

// A Tally collects what a trace states about its processes and counts their events. The zero value is ready to use. A
// Tally is not safe for concurrent use.
type Tally struct {
	reader    ProcessReader
	all       map[*ntconv.Process]*counted
	order     []*counted   // in order of their first events
	last      *counted     // process of the latest event
	kind      *ntconv.Type // type of the latest event; describes is Describes(kind)
	describes bool
}

// counted is a process and the number of its events.
type counted struct {
	of     *ntconv.Process
	info   Process
	events int64
}

// Observe counts an event, which it borrows. It ignores events without a process, and all kinds but KindEvent.
func (t *Tally) Observe(e *ntconv.Event) {
	if e.Kind != ntconv.KindEvent || e.Thread == nil || e.Thread.Process == nil {
		return
	}
	c := t.last
	if c == nil || c.of != e.Thread.Process {
		c = t.find(e.Thread.Process)
	}
	c.events++
	if e.Type != t.kind {
		t.kind, t.describes = e.Type, Describes(e.Type)
	}
	if t.describes {
		t.reader.Learn(&c.info, e)
	}
}

func (t *Tally) find(p *ntconv.Process) *counted {
	c := t.all[p]
	if c == nil {
		if t.all == nil {
			t.all = make(map[*ntconv.Process]*counted)
		}
		c = &counted{of: p, info: Process{Name: p.Name}}
		t.all[p] = c
		t.order = append(t.order, c)
	}
	t.last = c
	return c
}

// Main returns the process with the most events and what the trace states about it. If there are several, it
// returns the one that was seen first. It returns nil if no event has a process. namer, if not nil, adds what it knows.
func (t *Tally) Main(namer ntconv.Namer) (*ntconv.Process, Process) {
	var main *counted
	for _, c := range t.order {
		if main == nil || c.events > main.events {
			main = c
		}
	}
	if main == nil {
		return nil, Process{}
	}
	info := main.info
	if namer != nil {
		known := namer.Process(main.of)
		info.Command, info.Name = cmp.Or(info.Command, known.CommandLine), cmp.Or(known.Name, info.Name)
	}
	return main.of, info
}

// Of returns what the trace states about a process.
func (t *Tally) Of(p *ntconv.Process) Process {
	if c := t.all[p]; c != nil {
		return c.info
	}
	return Process{Name: p.Name}
}
