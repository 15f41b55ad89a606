package active

import (
	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/span"
	"github.com/ntconv/ntconv/internal/span/tracker"
)

// Options configure an Index. They may be nil.
type Options struct {
	// Pick, if not nil, selects the spans that During is about. It borrows the span.
	Pick func(*span.Span) bool
	// Tracker says which spans there are. Intervals of the runtime are not among them: they are never active.
	// MaxEvents, Active and Report have no effect. Nil means the defaults, and that spans without an end last until the
	// end of the trace.
	Tracker *tracker.Options
	// Omit, if not nil, reports whether a span is left out. It borrows the span.
	Omit func(*span.Span) bool
}

// An Index holds which span was active on which thread at which time. It needs about 90 bytes per span, and 200 until
// Finish returns. It is not safe for concurrent use.
type Index struct {
	clock   ntconv.Clock
	tracker *tracker.Tracker
	pick    func(*span.Span) bool
	omit    func(*span.Span) bool
	context tracker.Sources // of spans that are left out unless the trace holds their IDs
	reverse bool
	evicted int64         // spans, after Finish
	event   *ntconv.Event // that Add hands to the tracker, nil in Finish

	spans     []entry
	names     []string
	nameIDs   map[string]uint32
	counts    []int64 // spans by name
	picked    int
	processes map[processKey]uint32

	build *build // nil after Finish

	byID       []int32 // spans by process, span ID and trace ID
	activities []activityTime
	timelines  map[threadKey]*timeline

	// Threads and processes are compared by content, because each reading has its own. The following remember what was
	// found.
	threads     map[*ntconv.Thread]*timeline
	lastThread  *ntconv.Thread
	last        *timeline
	processIDs  map[*ntconv.Process]uint32
	lastProcess *ntconv.Process
	lastID      uint32
}

// An entry is a span of an Index.
type entry struct {
	span.Context
	name    uint32 // of Index.names
	process uint32
	parent  int32 // of Index.spans, noSpan if it is not in the index
	depth   uint8 // number of ancestors, at most maxAncestors
	made    bool  // Span.MadeID
	weak    bool  // other spans take precedence: its ID is known to the trace alone
	picked  bool  // by Options.Pick, or a descendant of a span that is
}

const noSpan = int32(-1)

// A processKey is what identifies a process in every reading of a trace.
type processKey struct {
	host, name string
	pid        uint64
	known      bool
}

// noProcess is the number of a process of which the index has no span.
const noProcess = ^uint32(0)

// A threadKey is what identifies a thread in every reading of a trace. Threads that have the same ID one after the
// other are distinguished by the time.
type threadKey struct {
	process uint32
	tid     uint64
}

// New returns an Index that Add fills.
func New(info *ntconv.Info, o *Options) *Index {
	if o == nil {
		o = new(Options)
	}
	x := &Index{
		clock: info.Clock, pick: o.Pick, omit: o.Omit,
		nameIDs: map[string]uint32{}, processes: map[processKey]uint32{}, timelines: map[threadKey]*timeline{},
		build: new(build), threads: map[*ntconv.Thread]*timeline{}, processIDs: map[*ntconv.Process]uint32{},
	}
	track := tracker.Options{Unfinished: tracker.CloseUnfinished}
	if o.Tracker != nil {
		track = *o.Tracker
	}
	x.context, x.reverse = track.Context, track.SpanIDReversed
	if track.Sources == 0 {
		track.Sources = tracker.Default
	}
	track.Sources = track.Sources&^intervals | track.Context | tracker.Imported // 0 would mean the default
	track.Context, track.MaxEvents, track.Active, track.Report = 0, 1, nil, nil
	x.tracker = tracker.New(info, x.add, &track)
	return x
}

// intervals are sources of nothing but intervals of the runtime.
const intervals = tracker.GC | tracker.JIT | tracker.Contention | tracker.Waits | tracker.Exceptions

// Add takes in an event of the trace. It borrows the event. Events must come in time order.
func (x *Index) Add(e *ntconv.Event) {
	x.event = e
	x.tracker.Add(e)
	x.event = nil
}

// Finish makes the index ready for questions. Call it after the last Add.
func (x *Index) Finish() {
	x.tracker.Finish()
	x.evicted = x.tracker.Counts().Evicted
	x.resolve()
	x.tracker, x.build, x.nameIDs = nil, nil, nil
}

// Len returns the number of spans.
func (x *Index) Len() int { return len(x.spans) }

// Picked returns the number of spans that Options.Pick has selected.
func (x *Index) Picked() int { return x.picked }

// Evicted returns how many spans ended early because too many were open. Call it after Finish.
func (x *Index) Evicted() int64 { return x.evicted }

// Names returns the names of the spans and how many spans have each, in the order of their first end.
func (x *Index) Names() (names []string, spans []int64) { return x.names, x.counts }

// add takes in a span from the tracker.
func (x *Index) add(s *span.Span) {
	if len(x.spans) == maxSpans || s.Evidence == span.FromRuntime || x.omit != nil && x.omit(s) ||
		(s.MadeID || s.NotRecorded) && x.context&tracker.SourcesOf(s.Evidence) != 0 {
		return
	}
	e := entry{
		Context: s.Context, name: x.nameID(s.Name), process: x.processID(s.Process), parent: noSpan,
		made: s.MadeID, weak: s.MadeID || s.NotRecorded,
	}
	if x.pick != nil && x.pick(s) {
		e.picked = true
		x.picked++
	}
	x.spans = append(x.spans, e)
	x.build.add(x, s)
}

// maxSpans bounds the numbers of spans.
const maxSpans = 1<<31 - 1

func (x *Index) nameID(name string) uint32 {
	id, ok := x.nameIDs[name]
	if !ok {
		id = uint32(len(x.names))
		x.nameIDs[name] = id
		x.names, x.counts = append(x.names, name), append(x.counts, 0)
	}
	x.counts[id]++
	return id
}

// processID returns the number of a process, a new one if there is none.
func (x *Index) processID(p *ntconv.Process) uint32 {
	key := keyOf(p)
	id, ok := x.processes[key]
	if !ok {
		id = uint32(len(x.processes))
		x.processes[key] = id
	}
	return id
}

func keyOf(p *ntconv.Process) processKey {
	if p == nil {
		return processKey{}
	}
	return processKey{p.Host, p.Name, p.PID, true}
}

// processOf returns the number of the process of a thread, a new one if there is none and spans are still added.
func (x *Index) processOf(t *ntconv.Thread) uint32 {
	var p *ntconv.Process
	if t != nil {
		p = t.Process
	}
	if x.build != nil {
		return x.processID(p)
	}
	if p != nil && p == x.lastProcess {
		return x.lastID
	}
	id, ok := x.processIDs[p]
	if !ok {
		if id, ok = x.processes[keyOf(p)]; !ok {
			id = noProcess
		}
		x.processIDs[p] = id
	}
	x.lastProcess, x.lastID = p, id
	return id
}
