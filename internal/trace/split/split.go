package split

import (
	"errors"
	"math"
	"slices"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/events/clr"
	"github.com/ntconv/ntconv/internal/events/recording"
)

// A Split is a sink that distributes the events of a trace among one sink per process. A part contains what a selection
// of the process with its symbols contains: all events of its threads, the symbols of its mappings that events of other
// processes describe, and marks with only its threads. It omits definitions and blocks of unknown kind, because they
// belong to no process.
//
// Call Learn for all events before the first Write. A Split is not safe for concurrent use.
//
// Events may precede the part that they belong to:
//
//	state   set by                                    cleared by
//	users, refs  Learn                               -
//	shared  share, for processes without a part       - (other processes may need the events later)
//	early   loss, for a process without a part        part, which writes them
//	lost    loss, in parallel to early                part
type ProcessSplit struct {
	create func(*ntconv.Process) (ntconv.Sink, error)
	users  map[mappingRef][]hostID        // processes that refer to a mapping or its metadata
	refs   map[hostID]map[mappingRef]bool // the mappings and metadata of each process
	shared map[mappingRef][]shared        // events for processes without a part
	number int                            // number of events in shared so far
	parts  map[hostID]*processPart
	order  []*processPart
	lost   map[*ntconv.Thread]*ntconv.Event // by capture thread without a part: one event with their total
	early  map[hostID][]*ntconv.Event       // the events of lost, by process, in order
	only   func(*ntconv.Thread) bool        // nil allows all threads
	omit   int64                            // omitted blocks of unknown kind

	labeler recording.Labeler
	copied  ntconv.Event // a replica for other parts
}

// A shared event describes a mapping, or its metadata, of a process without a part.
type shared struct {
	number int // position in the trace
	event  *ntconv.Event
}

// A part is the sink of one process.
type processPart struct {
	sink   ntconv.Sink
	filter *Filter      // trims marks
	mark   ntconv.Event // latest mark, trimmed
}

// NewProcessSplit returns a Split that calls create for each process with events, in the order of their first events. The
// process is nil for threads without a process. An error of create ends Write with this error.
func NewProcessSplit(create func(*ntconv.Process) (ntconv.Sink, error)) *ProcessSplit {
	return &ProcessSplit{
		create: create, users: make(map[mappingRef][]hostID), refs: make(map[hostID]map[mappingRef]bool),
		shared: make(map[mappingRef][]shared), parts: make(map[hostID]*processPart),
		lost: make(map[*ntconv.Thread]*ntconv.Event), early: make(map[hostID][]*ntconv.Event),
	}
}

// Only limits the parts to processes for which has returns true, given one of their threads: a selection may contain
// events of other processes that only describe mappings. nil removes the limit. Call it before the first Write.
func (s *ProcessSplit) Only(has func(*ntconv.Thread) bool) { s.only = has }

// Learn processes an event of the whole trace, in a reading before the one that is written. It is necessary because a
// recorder describes a file once, possibly before other processes map it. It borrows e.
func (s *ProcessSplit) Learn(e *ntconv.Event) {
	var m clr.Mapping
	if e.Kind != ntconv.KindEvent || clr.ClassOf(e.Type) != clr.ClassUniversalMapping || !clr.ParseMapping(e, &m) {
		return
	}
	id := filterProcess(e.Thread)
	for _, ref := range []mappingRef{
		{clr.ClassUniversalSymbol, hostID{id.host, m.ID}},
		{clr.ClassUniversalMappingMetadata, hostID{id.host, m.MetadataID}},
	} {
		if s.refs[id] == nil {
			s.refs[id] = make(map[mappingRef]bool)
		}
		if !s.refs[id][ref] {
			s.refs[id][ref] = true
			s.users[ref] = append(s.users[ref], id)
		}
	}
}

// Write implements ntconv.Sink. It borrows e and returns the errors of create and of the parts.
func (s *ProcessSplit) Write(e *ntconv.Event) error {
	switch e.Kind {
	case ntconv.KindEvent:
		return s.event(e)
	case ntconv.KindLost:
		return s.loss(e)
	case ntconv.KindMark:
		for _, p := range s.order {
			if err := p.writeMark(e); err != nil {
				return err
			}
		}
	case ntconv.KindOpaque:
		s.omit++
	}
	return nil
}

func (s *ProcessSplit) event(e *ntconv.Event) error {
	own := filterProcess(e.Thread)
	if s.only == nil || s.only(e.Thread) {
		p, err := s.part(own, e.Thread.Process)
		if err != nil {
			return err
		}
		if err := p.write(e); err != nil {
			return err
		}
	}
	return s.share(e, own)
}

// share writes an event that describes a mapping to the parts of the other processes that refer to it.
func (s *ProcessSplit) share(e *ntconv.Event, own hostID) error {
	ref, ok := filterRef(e)
	if !ok {
		return nil
	}
	copied := e
	if len(s.users[ref]) > 0 && !recording.IsReplica(e) {
		s.copied = *e
		s.copied.Labels = s.labeler.Labels(e.Labels, recording.Kept)
		copied = &s.copied
	}
	waited := false
	for _, id := range s.users[ref] {
		switch p := s.parts[id]; {
		case id == own:
		case p == nil:
			waited = true
		default:
			if err := p.write(copied); err != nil {
				return err
			}
		}
	}
	if waited {
		s.number++
		s.shared[ref] = append(s.shared[ref], shared{s.number, copied.Clone()})
	}
	return nil
}

// loss writes a loss to the part of its process. A loss precedes the event that revealed it, so the part may not exist
// yet.
func (s *ProcessSplit) loss(e *ntconv.Event) error {
	id := filterProcess(e.Capture)
	if p := s.parts[id]; p != nil {
		return p.write(e)
	}
	if known := s.lost[e.Capture]; known != nil {
		known.Time = e.Time
		known.Lost += min(e.Lost, math.MaxUint32-known.Lost)
		return nil
	}
	own := e.Clone()
	s.lost[e.Capture] = own
	s.early[id] = append(s.early[id], own)
	return nil
}

// processPart returns the part of a process. For the first event of the process, it creates the part and writes the earlier
// losses and the earlier descriptions of its mappings.
func (s *ProcessSplit) part(id hostID, process *ntconv.Process) (*processPart, error) {
	if p := s.parts[id]; p != nil {
		return p, nil
	}
	sink, err := s.create(process)
	if err != nil {
		return nil, err
	}
	p := &processPart{sink: sink, filter: NewFilter(FilterOptions{})}
	s.parts[id] = p
	s.order = append(s.order, p)
	for _, e := range s.early[id] {
		delete(s.lost, e.Capture)
		if err := p.write(e); err != nil {
			return nil, err
		}
	}
	delete(s.early, id)
	var list []shared
	for ref := range s.refs[id] {
		list = append(list, s.shared[ref]...)
	}
	slices.SortFunc(list, func(a, b shared) int { return a.number - b.number })
	for _, e := range list {
		if err := p.write(e.event); err != nil {
			return nil, err
		}
	}
	return p, nil
}

func (p *processPart) write(e *ntconv.Event) error {
	p.filter.use(e.Capture)
	return p.sink.Write(e)
}

func (p *processPart) writeMark(e *ntconv.Event) error {
	if e.Mark == nil {
		return p.sink.Write(e)
	}
	m := p.filter.trim(e.Mark)
	if m.Kind == ntconv.MarkThreadsRemoved && len(m.Threads) == 0 {
		return nil
	}
	p.mark = *e
	p.mark.Mark = m
	return p.sink.Write(&p.mark)
}

// Close closes the sinks of all parts and joins their errors.
func (s *ProcessSplit) Close() error {
	var errs []error
	for _, p := range s.order {
		errs = append(errs, p.sink.Close())
	}
	return errors.Join(errs...)
}

// Opaque returns the number of omitted blocks of unknown kind.
func (s *ProcessSplit) Opaque() int64 { return s.omit }
