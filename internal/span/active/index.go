package active

import (
	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/events/operation"
	"github.com/ntconv/ntconv/internal/span"
	"github.com/ntconv/ntconv/internal/span/tracker"
)

// Options configures an Index. A nil pointer or the zero value selects the defaults.
type Options struct {
	// Pick, if not nil, selects the spans for During. It borrows the span.
	Pick func(*span.Span) bool
	// Tracker selects the spans. Intervals of the runtime are never part of the Index, because they are never active.
	// MaxEvents, Active and Report have no effect. Nil selects the defaults, with spans without an end lasting until
	// the end of the trace.
	Tracker *tracker.Options
	// Omit, if not nil, reports whether a span is omitted. It borrows the span.
	Omit func(*span.Span) bool
}

// An Index records which span was active on which thread at which time. It needs about 90 bytes per span, and about 200
// until Finish returns. It is not safe for concurrent use.
//
// Before Finish, Add fills spans, names, processes and build. Finish computes byID, activities and timelines from them
// and clears tracker, build and nameIDs. After that only the caches change: threads, lastThread and last, and
// processIDs, lastProcess and lastID.
type Index struct {
	clock   ntconv.Clock
	tracker *tracker.Tracker
	pick    func(*span.Span) bool
	omit    func(*span.Span) bool
	context operation.Sources // sources of spans that are omitted unless the trace contains their IDs
	reverse bool
	evicted int64         // number of evicted spans; set by Finish
	event   *ntconv.Event // the event that Add processes; nil in Finish

	spans     []entry
	names     []string
	nameIDs   map[string]uint32
	counts    []int64 // number of spans by name
	picked    int
	processes map[processKey]uint32

	build *build // nil after Finish

	byID       []int32 // indices of spans, sorted by process, span ID and trace ID
	activities []activityTime
	timelines  map[threadKey]*timeline

	// Threads and processes are compared by content, because each pass over a trace has its own pointers. These are
	// caches of the results.
	threads     map[*ntconv.Thread]*timeline
	lastThread  *ntconv.Thread
	last        *timeline
	processIDs  map[*ntconv.Process]uint32
	lastProcess *ntconv.Process
	lastID      uint32
}

// An entry is a span in an Index.
type entry struct {
	span.Context
	name    uint32 // index in Index.names
	process uint32
	parent  int32 // index in Index.spans, or noSpan
	depth   uint8 // number of ancestors, at most maxAncestors
	made    bool  // Span.MadeID
	weak    bool  // other spans take precedence, because no system but the trace knows its ID
	picked  bool  // selected by Options.Pick, or a descendant of such a span
}

const noSpan = int32(-1)

// A processKey identifies a process in every pass over a trace.
type processKey struct {
	host, name string
	pid        uint64
	known      bool
}

// noProcess is the number of all processes without a span.
const noProcess = ^uint32(0)

// A threadKey identifies a thread in every pass over a trace. Threads with a reused ID are distinguished by the time.
type threadKey struct {
	process uint32
	tid     uint64
}

// New returns an empty Index for a trace. Call Add for all events, then Finish.
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
		track.Sources = operation.Default
	}
	track.Sources = track.Sources&^intervals | track.Context | operation.Imported // never 0, the default
	track.Context, track.MaxEvents, track.Active, track.Report = 0, 1, nil, nil
	x.tracker = tracker.New(info, x.add, &track)
	return x
}

// intervals are the sources that yield only intervals of the runtime.
const intervals = (operation.Runtime | operation.Suspensions) &^ operation.Requests

// Add processes an event of the trace, which it borrows. Call it for all events in time order.
func (x *Index) Add(e *ntconv.Event) {
	x.event = e
	x.tracker.Add(e)
	x.event = nil
}

// Finish completes the index. Call it after the last Add and before Find, Context and During.
func (x *Index) Finish() {
	x.tracker.Finish()
	x.evicted = x.tracker.Counts().Evicted
	x.resolve()
	x.tracker, x.build, x.nameIDs = nil, nil, nil
}

// Len returns the number of spans.
func (x *Index) Len() int { return len(x.spans) }

// Picked returns the number of spans that Options.Pick has selected, without their descendants.
func (x *Index) Picked() int { return x.picked }

// Evicted returns the number of spans that ended early because too many were open. Call it after Finish.
func (x *Index) Evicted() int64 { return x.evicted }

// Names returns the names of the spans, and the number of spans per name, in the order of the first end. The caller
// must not change the slices.
func (x *Index) Names() (names []string, spans []int64) { return x.names, x.counts }

// add stores a span that the tracker emits.
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

// maxSpans is the maximum number of spans, because indices are of type int32.
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

// processID returns the number of a process, and assigns one if necessary.
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

// processOf returns the number of the process of a thread. Until Finish it assigns one if necessary; after that it
// returns noProcess for unknown processes.
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
