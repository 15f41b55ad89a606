// Package subset decides which events of a trace go into a smaller trace: those that a selection keeps, and those that
// the smaller trace needs so that its stacks can be symbolized.
package subset

import (
	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/clr"
	"github.com/ntconv/ntconv/internal/profile"
)

// A Filter makes a subset of one trace. It is not safe for concurrent use.
type Filter struct {
	symbols   bool
	processes *keptProcesses
	types     map[*ntconv.Type]bool   // whether events of the type give symbols
	used      map[*ntconv.Thread]bool // capture threads in the subset
	last      *ntconv.Thread          // the latest of used
	counts    Counts
}

// Counts are the numbers of events that a Filter has seen.
type Counts struct {
	Selected int64 // selected events
	Symbols  int64 // events that are kept for symbols only
	Opaque   int64 // omitted blocks of unknown kind
}

// Options control a Filter.
type Options struct {
	// Symbols keeps the method, module and symbol events of all processes with a selected event.
	Symbols bool
}

// New returns a filter. If NeedsLearn is true, call Learn before Keep.
func New(o Options) *Filter {
	return &Filter{
		symbols: o.Symbols,
		types:   make(map[*ntconv.Type]bool),
		used:    make(map[*ntconv.Thread]bool),
	}
}

// NeedsLearn reports whether the filter must read the trace once before it can decide. Without Learn it keeps the
// symbols and losses of all processes.
func (f *Filter) NeedsLearn() bool { return f.symbols }

// Learn reads a trace to its end to find the processes of selected events. It returns the error that src ends with,
// after which the filter knows the processes of the events before it.
func (f *Filter) Learn(src ntconv.Source, selected func(*ntconv.Event) bool) error {
	f.processes = newKeptProcesses()
	defer f.processes.finish()
	for e, err := range ntconv.Events(src) {
		if err != nil {
			return err
		}
		if e.Kind == ntconv.KindEvent && !profile.IsWeight(e.Type) {
			f.processes.observe(e, selected(e))
		}
	}
	return nil
}

// Keep reports whether an event goes into the subset. The caller says whether it is selected.
func (f *Filter) Keep(e *ntconv.Event, selected bool) bool {
	switch e.Kind {
	case ntconv.KindEvent:
		switch {
		case selected:
			f.counts.Selected++
		case f.symbols && f.givesSymbols(e.Type) && f.processes.needs(e):
			f.counts.Symbols++
		default:
			return false
		}
	case ntconv.KindLost:
		return selected && f.processes.contain(e.Capture)
	case ntconv.KindDefine:
		return false // in a subset, definitions follow use
	case ntconv.KindOpaque:
		if !selected {
			f.counts.Opaque++
		}
		return selected
	}
	return true
}

// KeepsProcess reports whether the subset has selected events of the process of a thread. Before Learn it is true for
// all processes.
func (f *Filter) KeepsProcess(t *ntconv.Thread) bool { return f.processes.contain(t) }

// Counts returns what Keep has counted so far.
func (f *Filter) Counts() Counts { return f.counts }

// Source returns the subset of a trace. src yields the events that Keep accepted, and others that the caller adds.
// Marks of the returned source mention only threads that have events in the subset.
func (f *Filter) Source(src ntconv.Source) ntconv.Source { return &source{Source: src, filter: f} }

type source struct {
	ntconv.Source
	filter *Filter
	mark   ntconv.Event
}

// Next implements ntconv.Source.
func (s *source) Next() (*ntconv.Event, error) {
	for {
		e, err := s.Source.Next()
		if err != nil {
			return e, err
		}
		switch e.Kind {
		case ntconv.KindEvent, ntconv.KindLost:
			s.filter.use(e.Capture)
		case ntconv.KindMark:
			if e.Mark == nil {
				return e, nil
			}
			m := s.filter.trim(e.Mark)
			if m.Kind == ntconv.MarkThreadsRemoved && len(m.Threads) == 0 {
				continue
			}
			s.mark = *e
			s.mark.Mark = m
			return &s.mark, nil
		}
		return e, nil
	}
}

func (f *Filter) use(t *ntconv.Thread) {
	if t != f.last {
		f.used[t] = true
		f.last = t
	}
}

// trim returns a mark that mentions only capture threads of the subset.
func (f *Filter) trim(m *ntconv.Mark) *ntconv.Mark {
	kept := &ntconv.Mark{Kind: m.Kind, Flags: m.Flags}
	for _, t := range m.Threads {
		if f.used[t.Thread] {
			kept.Threads = append(kept.Threads, t)
		}
	}
	f.last = nil
	switch {
	case m.Kind == ntconv.MarkThreadsRemoved:
		for _, t := range m.Threads {
			delete(f.used, t.Thread)
		}
	case m.Flags&ntconv.MarkFlushThreads != 0:
		clear(f.used) // the writer counts from 1 again
	}
	return kept
}

func (f *Filter) givesSymbols(t *ntconv.Type) bool {
	yes, known := f.types[t]
	if !known {
		yes = givesSymbols(t)
		f.types[t] = yes
	}
	return yes
}

// givesSymbols reports whether events of a type name an address, a module or a process. Events of the provider ntconv
// hold names that symbol.Synthesize could not express otherwise.
func givesSymbols(t *ntconv.Type) bool {
	switch t.Provider {
	case clr.Rundown, clr.UniversalSystem:
		return true
	case "ntconv":
		return !profile.IsWeight(t)
	}
	switch clr.ClassOf(t) {
	case clr.ClassNone, clr.ClassSample, clr.ClassUniversalCPU, clr.ClassUniversalCSwitch, clr.ClassUniversalOther:
		return false
	}
	return true
}
