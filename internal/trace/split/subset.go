package split

import (
	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/events/clr"
	"github.com/ntconv/ntconv/internal/events/recording"
	"github.com/ntconv/ntconv/internal/profile"
	"github.com/ntconv/ntconv/sample"
)

// A Filter selects a subset of one trace. It is not safe for concurrent use.
type Filter struct {
	symbols   bool
	processes *keptProcesses
	types     map[*ntconv.Type]bool   // whether events of the type define symbols
	used      map[*ntconv.Thread]bool // capture threads with an event in the subset
	last      *ntconv.Thread          // latest element of used
	replica   bool                    // the latest event that Keep accepted is kept only for symbols
	labeler   recording.Labeler
	division  *profile.Division // into omitted events, 0, and selected ones, 1
	counts    FilterCounts
}

// FilterCounts are the numbers of events that a Filter has seen.
type FilterCounts struct {
	Selected int64 // selected events
	Symbols  int64 // events kept only for symbols
	Opaque   int64 // omitted blocks of unknown kind
}

// FilterOptions configure a Filter. The zero value keeps only selected events.
type FilterOptions struct {
	// Symbols keeps the method, module and symbol events of all processes with a selected event.
	Symbols bool
}

// NewFilter returns a Filter. If NeedsLearn returns true, call Learn before Keep.
func NewFilter(o FilterOptions) *Filter {
	return &Filter{
		symbols: o.Symbols,
		types:   make(map[*ntconv.Type]bool),
		used:    make(map[*ntconv.Thread]bool),
	}
}

// NeedsLearn reports whether the filter needs a reading of the trace before Keep. Without Learn, it keeps the symbols
// and losses of all processes.
func (f *Filter) NeedsLearn() bool { return f.symbols }

// Learn reads a trace to its end to find the processes with selected events. It returns the error of src; the filter
// then knows the processes of the events before the error.
func (f *Filter) Learn(src ntconv.Source, selected func(*ntconv.Event) bool) error {
	f.processes = newKeptProcesses()
	defer f.processes.finish()
	for e, err := range ntconv.Events(src) {
		if err != nil {
			return err
		}
		if e.Kind == ntconv.KindEvent && !recording.IsWeight(e.Type) {
			f.processes.observe(e, selected(e) && !recording.IsReplica(e))
		}
	}
	return nil
}

// Keep reports whether an event belongs to the subset. selected is the decision of the selection.
func (f *Filter) Keep(e *ntconv.Event, selected bool) bool {
	if f.division != nil {
		part := 0
		if selected {
			part = 1
		}
		f.division.Add(e, part)
	}
	switch e.Kind {
	case ntconv.KindEvent:
		f.replica = false
		switch {
		case selected && !(f.symbols && recording.IsReplica(e)):
			f.counts.Selected++
		case f.symbols && f.givesSymbols(e.Type) && f.processes.needs(e):
			f.replica = true
			f.counts.Symbols++
		default:
			return false
		}
	case ntconv.KindLost:
		return selected && f.processes.contain(e.Capture)
	case ntconv.KindDefine:
		return false // definitions in the subset are written with their first use
	case ntconv.KindOpaque:
		if !selected {
			f.counts.Opaque++
		}
		return selected
	}
	return true
}

// KeepsProcess reports whether the subset has selected events of the process of t. Before Learn it returns true for all
// processes.
func (f *Filter) KeepsProcess(t *ntconv.Thread) bool { return f.processes.contain(t) }

// FilterCounts returns the counts of the calls of Keep so far.
func (f *Filter) Counts() FilterCounts { return f.counts }

// Source returns the subset of a trace. src returns the events that Keep accepted, and events that the caller adds to
// state weights. The marks of the returned source contain only threads with events in the subset, and the events that are
// kept only for symbols are labeled as replicas.
func (f *Filter) Source(src ntconv.Source) ntconv.Source {
	f.division = profile.NewDivision(src.Info())
	return &source{Source: src, filter: f}
}

// Cut returns the number of intervals by kind with only one end in the subset, among the events that the source returned
// by Source has read.
func (f *Filter) Cut() (cut [sample.Count]uint64) {
	if f.division != nil {
		cut = f.division.Cut()
	}
	return cut
}

type source struct {
	ntconv.Source
	filter *Filter
	item   ntconv.Event // a mark or a replica
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
			if s.filter.replica && e.Kind == ntconv.KindEvent && !recording.IsWeight(e.Type) && !recording.IsReplica(e) {
				s.item = *e
				s.item.Labels = s.filter.labeler.Labels(e.Labels, recording.Kept)
				return &s.item, nil
			}
		case ntconv.KindMark:
			if e.Mark == nil {
				return e, nil
			}
			m := s.filter.trim(e.Mark)
			if m.Kind == ntconv.MarkThreadsRemoved && len(m.Threads) == 0 {
				continue
			}
			s.item = *e
			s.item.Mark = m
			return &s.item, nil
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

// trim returns a mark with only the capture threads of the subset. It also removes the threads that the mark ends or
// flushes from the subset.
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
		clear(f.used) // the writer restarts its numbering at 1
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

// givesSymbols reports whether events of a type describe an address, a module or a process. Events of the provider
// ntconv contain what symbol.Synthesize could not express otherwise.
func givesSymbols(t *ntconv.Type) bool {
	switch t.Provider {
	case clr.Rundown, clr.UniversalSystem:
		return true
	case "ntconv":
		return !recording.IsWeight(t)
	}
	switch clr.ClassOf(t) {
	case clr.ClassNone, clr.ClassSample, clr.ClassUniversalCPU, clr.ClassUniversalCSwitch, clr.ClassUniversalOther:
		return false
	}
	return true
}
