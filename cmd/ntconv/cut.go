package main

import (
	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/clr"
	"github.com/ntconv/ntconv/internal/input"
	"github.com/ntconv/ntconv/internal/pass"
)

// A cut decides what of a trace goes into a part of it.
type cut struct {
	all     bool // everything is selected
	symbols bool // events that give names are kept
	left    *survivors
	types   map[*ntconv.Type]bool   // that give names
	used    map[*ntconv.Thread]bool // threads whose events' numbers are in the part
	last    *ntconv.Thread          // of used

	selected int64 // events
	named    int64 // events that were kept for names alone
	opaque   int64 // blocks that were left out
}

// newCut makes a cut by the selection of the command line. If names are to be kept, it reads the input once to learn what the
// selection leaves.
func (a *app) newCut(in *input.Input, plan *pass.Plan, symbols bool) (*cut, error) {
	c := &cut{all: plan.Selection.Empty(), symbols: symbols, types: make(map[*ntconv.Type]bool), used: make(map[*ntconv.Thread]bool)}
	if !symbols || c.all {
		return c, nil
	}
	c.left = newSurvivors()
	first := &pass.Plan{Read: plan.Read, Selection: plan.Selection}
	first.Progress = func(in *input.Input, _ string) func() { return a.progress(in, "looking ahead") }
	first.Keep = func(e *ntconv.Event, selected bool) bool {
		c.left.observe(e, selected)
		return false
	}
	err := a.follow(first, in, func(p *pass.Pass) error {
		_, _ = p.Source.Next() // nothing is kept, so it reads to the end; the pass that follows reports errors
		return nil
	})
	if err != nil {
		return nil, err
	}
	c.left.finish()
	return c, nil
}

// keep reports whether an event goes into the part.
func (c *cut) keep(e *ntconv.Event, selected bool) bool {
	switch e.Kind {
	case ntconv.KindEvent:
		switch {
		case selected:
			c.selected++
		case c.symbols && c.givesNames(e.Type) && c.left.has(e):
			c.named++
		default:
			return false
		}
		c.use(e.Capture)
	case ntconv.KindLost:
		if !selected || !c.all && !c.left.hasProcess(e.Capture) {
			return false
		}
		c.use(e.Capture)
	case ntconv.KindDefine:
		return c.all // else, definitions follow use
	case ntconv.KindOpaque:
		if !selected {
			c.opaque++
		}
		return selected
	}
	return true
}

func (c *cut) use(t *ntconv.Thread) {
	if t != c.last {
		c.used[t] = true
		c.last = t
	}
}

// trim returns a mark that speaks only of threads in the part.
func (c *cut) trim(m *ntconv.Mark) *ntconv.Mark {
	kept := &ntconv.Mark{Kind: m.Kind, Flags: m.Flags}
	for _, t := range m.Threads {
		if c.used[t.Thread] {
			kept.Threads = append(kept.Threads, t)
		}
	}
	c.last = nil
	switch {
	case m.Kind == ntconv.MarkThreadsRemoved:
		for _, t := range m.Threads {
			delete(c.used, t.Thread)
		}
	case m.Flags&ntconv.MarkFlushThreads != 0:
		clear(c.used) // the writer counts from 1 again
	}
	return kept
}

func (c *cut) givesNames(t *ntconv.Type) bool {
	yes, known := c.types[t]
	if !known {
		yes = givesNames(t)
		c.types[t] = yes
	}
	return yes
}

// givesNames reports whether events of a type say what an address, a module or a process is called. ntconv's own provider
// holds what symbol.Synthesize could not say otherwise.
func givesNames(t *ntconv.Type) bool {
	switch t.Provider {
	case clr.Rundown, clr.UniversalSystem, "ntconv":
		return true
	}
	switch clr.ClassOf(t) {
	case clr.ClassNone, clr.ClassSample, clr.ClassUniversalCPU, clr.ClassUniversalCSwitch, clr.ClassUniversalOther:
		return false
	}
	return true
}

// survivors are the processes of which a selection leaves something, and what belongs to them in events of other processes:
// recorders describe a file that several processes have mapped only once.
type survivors struct {
	processes map[thingID]bool // by pid
	mapped    map[thingID][]thing
	things    map[thing]bool
}

// thingID is an id on a machine.
type thingID struct {
	host string
	id   uint64
}

// thing is a mapping or the metadata of one.
type thing struct {
	class clr.Class
	thingID
}

func newSurvivors() *survivors {
	return &survivors{processes: make(map[thingID]bool), mapped: make(map[thingID][]thing), things: make(map[thing]bool)}
}

func idOf(t *ntconv.Thread) thingID {
	if t == nil || t.Process == nil {
		return thingID{id: ^uint64(0)}
	}
	return thingID{t.Process.Host, t.Process.PID}
}

// observe learns from an event of the whole trace.
func (s *survivors) observe(e *ntconv.Event, selected bool) {
	if e.Kind != ntconv.KindEvent {
		return
	}
	id := idOf(e.Thread)
	if selected {
		s.processes[id] = true
	}
	var m clr.Mapping
	if clr.ClassOf(e.Type) == clr.ClassUniversalMapping && clr.ParseMapping(e, &m) {
		s.mapped[id] = append(s.mapped[id],
			thing{clr.ClassUniversalSymbol, thingID{id.host, m.ID}},
			thing{clr.ClassUniversalMappingMetadata, thingID{id.host, m.MetadataID}})
	}
}

// finish is called after the last event.
func (s *survivors) finish() {
	for p := range s.processes {
		for _, t := range s.mapped[p] {
			s.things[t] = true
		}
	}
	s.mapped = nil
}

// hasProcess reports whether something of a thread's process is left. Without knowledge, of all are.
func (s *survivors) hasProcess(t *ntconv.Thread) bool { return s == nil || s.processes[idOf(t)] }

// has reports whether an event that gives names is about what is left.
func (s *survivors) has(e *ntconv.Event) bool {
	if s.hasProcess(e.Thread) {
		return true
	}
	class, host := clr.ClassOf(e.Type), idOf(e.Thread).host
	var symbol clr.Symbol
	var meta clr.MappingMetadata
	switch {
	case class == clr.ClassUniversalSymbol && clr.ParseSymbol(e, &symbol):
		return s.things[thing{class, thingID{host, symbol.MappingID}}]
	case class == clr.ClassUniversalMappingMetadata && clr.ParseMappingMetadata(e, &meta):
		return s.things[thing{class, thingID{host, meta.ID}}]
	}
	return false
}
