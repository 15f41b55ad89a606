// Package timeline arranges the events of a trace as viewers of timelines show them: tracks of threads and processes
// with slices, instants, counters, samples and arrows between them, in the order of time.
//
//	events ─→ New, Watch, Write ─→ spool (records by time) ─→ Finish: names, tracks, stacks are complete ─→ Each: layout ─→ items
//
// Write makes records of what it sees and puts them into a spool, because a slice is known when it ends, and names at
// the end of the trace. Each reads them in the order of their beginnings and decides what needs the neighbors: which
// slices nest on a thread and which need a lane, and which arrows connect them.
//
// # What becomes what
//
// An event is one thing only, the first of these that applies:
//
//   - what Options.Raw makes of it
//   - a Sample, if it is a sample of a profiler
//   - one Counter per value, if it holds values of counters. A counter of a machine-wide recorder is an Instant, too, if it has a stack
//   - the begin or the end of a slice of an enabled source. A Stop without a Start shows nothing of a slice and is an Instant
//   - nothing, if it only describes methods, modules, mappings or a process, unless Options.Rundown is set
//   - an Instant. An exception has the name of its type, an allocation the bytes that it represents
//
// Lost events are instants. Events that only the payload of a span holds are instants on its track.
//
// # Where slices are
//
// Pauses for garbage collections and collections have tracks of their own. A slice that begins and ends on one thread
// is on the track of the thread if it nests in what is open there. Every other slice is on a lane: on that of its
// parent if it nests there, or else on the first lane of the process on which nothing is open.
//
// Arrows lead from the parent of a span, and from the spans that it has links to, if these are open when it begins and
// on another track. Imported slices of Chrome's format have only the arrows that are in the trace.
//
// # Times
//
// Times are exact. Programs may choose the times of a span freely: one that lies more than a minute outside of the
// recording is moved to its start or end, and one that reaches more than 52 days beyond it is cut, so that one odd span
// does not make the times of all others inexact in viewers. Both are counted (Counts.Moved).
package timeline

import (
	"cmp"
	"errors"
	"math"
	"time"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/bin"
	"github.com/ntconv/ntconv/internal/span"
	"github.com/ntconv/ntconv/internal/span/tracker"
	"github.com/ntconv/ntconv/internal/spool"
)

// Options may be nil.
type Options struct {
	Report *ntconv.Report
	Dir    string // of the temporary file, "" for os.TempDir()
	// MaxTemp is the maximum size of the temporary file in bytes, 0 means no limit.
	MaxTemp int64
	// Spans are the sources of spans and intervals, 0 means all.
	Spans tracker.Sources
	// SpanIDReversed is that of tracker.Options.
	SpanIDReversed bool
	// NoSamples, NoCounters, NoFlows omit items of these kinds. Samples that are omitted are not instants either;
	// events with values of counters are.
	NoSamples, NoCounters, NoFlows bool
	// NoInstants omits events that are nothing else, exceptions among them unless Exceptions is set. Losses stay.
	NoInstants, Exceptions bool
	// Rundown includes events of rundown, which describe methods and modules, as instants.
	Rundown bool
	// MinDuration omits slices that are shorter, in nanoseconds. They are counted.
	MinDuration int64
	// Args appends what the format makes of the args of an instant or a slice to dst. It is called while events are
	// written.
	Args func(dst []byte, s *Source) []byte
	// Raw appends what the format makes of an event as a whole to dst. If it returns false, the event is treated like
	// others. Nil: none.
	Raw func(dst []byte, e *ntconv.Event) (encoded []byte, ok bool)
}

// Counts is what a timeline holds.
type Counts struct {
	Events                              int64 // written
	Slices, Instants, Counters, Samples int64
	Flows                               int64 // arrows
	Lanes                               int64 // of Slices: on lanes, which show operations that do not nest on a thread
	Spans                               int64 // of Slices: spans, as opposed to intervals of the runtime
	Short                               int64 // slices that are shorter than the minimum, omitted
	Rundown                             int64 // events that only describe methods and modules, omitted
	Unfinished                          int64 // slices that end with the trace, because it does not show their end
	Renumbered                          int64 // threads and processes whose number is not the recorded one
	Losses                              int64 // instants that state how many events are missing; they are not among Instants
	Raw                                 int64 // events that a format writes as it once was read
	Moved                               int64 // slices with times far outside of the recording, which were moved to its start or end
}

// A Timeline collects a trace and returns it as items. Its memory follows the numbers of distinct names, types, stacks,
// threads, counters and open slices. It is not safe for concurrent use.
type Timeline struct {
	opts   Options
	clock  ntconv.Clock
	base   int64 // nanoseconds since 1970 at clock.Tick
	spool  *spool.Spool
	counts Counts
	err    error // of the spool

	roles    roles
	titles   titleTable
	owners   ownerTable
	stacks   stackTable
	samples  *sampleReader // nil if samples are omitted
	counters *counterReader
	chrome   *chromeReader
	tracker  *tracker.Tracker // nil after Finish
	begun    begunStacks
	inner    uint32 // number of the latest slice with events in it
	parts    parts

	// Times are nanoseconds from clock.Tick. first and latest are those of events, start and end those of items.
	first, latest int64
	start, end    int64
	finished      bool

	rec    []byte // the record that is being made
	source Source // passed to Options.Args
	text   []byte
	kept   []span.Attribute // that are args of the latest slice
}

// parts counts events that are not items, so that tests can account for all.
type parts struct {
	bounds   int64 // they begin or end slices
	counters int64 // they hold values of counters
	samples  int64
	omitted  int64 // on request
	inner    int64 // Instants that are not events of the trace
}

// New returns an empty Timeline of a trace. namer may be nil.
func New(info *ntconv.Info, namer ntconv.Namer, o *Options) *Timeline {
	t := &Timeline{
		clock:  info.Clock,
		first:  math.MaxInt64,
		latest: math.MinInt64,
		start:  math.MaxInt64,
		end:    math.MinInt64,
	}
	if o != nil {
		t.opts = *o
	}
	if namer == nil {
		namer = ntconv.NoNames()
	}
	if !t.clock.Wall.IsZero() {
		t.base = t.clock.Wall.UnixNano()
	}
	t.spool = spool.New(&spool.Options{Dir: t.opts.Dir, Max: t.opts.MaxTemp})
	t.titles = newTitleTable()
	t.owners = newOwnerTable(namer)
	t.stacks = newStackTable(namer)
	t.begun = begunStacks{}
	if !t.opts.NoSamples {
		t.samples = newSampleReader(t, info)
	}
	t.counters = newCounterReader(t)
	t.chrome = newChromeReader(t)
	t.roles = newRoles(&t.titles, t.counters.reader)
	t.tracker = tracker.New(info, t.addSpan, &tracker.Options{
		Sources: sources(
			t.opts.Spans,
		), Unfinished: tracker.CloseUnfinished, NoEvents: true, SerialIDs: true, SpanIDReversed: t.opts.SpanIDReversed,
		Report: t.opts.Report,
	})
	return t
}

// sources returns the sources of slices. Exceptions are instants, because the end of most is not in the trace.
func sources(s tracker.Sources) tracker.Sources {
	if s == 0 {
		s = tracker.Default | tracker.GC | tracker.JIT | tracker.Contention | tracker.Waits | tracker.Requests
	}
	return cmp.Or(s&^tracker.Exceptions, NoSpans)
}

// Finish ends the writing: what is open ends, and the Namer is asked for names. It fails if temporary files cannot be
// written.
func (t *Timeline) Finish() error {
	if t.finished {
		return t.err
	}
	t.finished = true
	t.tracker.Finish()
	if t.samples != nil {
		t.samples.stream.Finish()
	}
	t.tracker = nil
	if t.start > t.end { // nothing was added
		t.start, t.end = min(t.first, t.latest), min(t.first, t.latest)
	}
	t.owners.finish()
	t.counts.Renumbered = t.owners.renumbered
	t.stacks.finish()
	return t.err
}

// Close removes temporary files. It can be called at any time, and more than once.
func (t *Timeline) Close() error { return t.spool.Close() }

// Start returns the wall clock time that items count from, that of the earliest item, in UTC. It is the zero Time if
// the trace does not state the wall clock time, or nothing was written. It is known after Finish.
func (t *Timeline) Start() time.Time {
	if t.clock.Wall.IsZero() || t.first > t.latest {
		return time.Time{}
	}
	return t.clock.Wall.Add(time.Duration(t.start))
}

// End returns the time of the last item, or the end of the last slice, in nanoseconds since Start. It is known after
// Finish.
func (t *Timeline) End() int64 { return bin.SubClamped(t.end, t.start) }

// Processes returns the processes after Finish, Tracks all tracks but lanes in the order: process, its own tracks, its
// threads, its counters. Lanes appear while Each runs.
func (t *Timeline) Processes() []*Process { return t.owners.list() }
func (t *Timeline) Tracks() []*Track      { return t.owners.sorted() }

// Nodes returns the number of nodes after Finish, with the root. Parents have smaller numbers than their children.
func (t *Timeline) Nodes() int { return len(t.stacks.tree) }

// Node returns the caller of a node and its own frame, a number below Frames. The root is its own caller; its frame has
// no meaning.
func (t *Timeline) Node(n Node) (parent Node, frame uint32) {
	e := &t.stacks.tree[n]
	return e.parent, e.frame
}

// Frames returns the number of distinct frames after Finish, Frame one of them. Frames are distinct by Func, Mapping
// and Line; the other members of a Frame are those of one of the frames that are equal.
func (t *Timeline) Frames() int                     { return len(t.stacks.frames.list) }
func (t *Timeline) Frame(frame uint32) ntconv.Frame { return t.stacks.frames.list[frame] }

// Counts returns what the timeline holds. Lanes and Flows are counted by Each.
func (t *Timeline) Counts() Counts { return t.counts }

// add puts the record in t.rec into the spool. The rank orders records of one time.
func (t *Timeline) add(at, rank int64) {
	t.start, t.end = min(t.start, at), max(t.end, at)
	t.put(at, rank)
}

// put is add for a record that does not decide when the timeline begins and ends.
func (t *Timeline) put(at, rank int64) {
	if err := t.spool.Add(spool.Key{Time: at, Rank: rank}, t.rec); err != nil && t.err == nil {
		t.err = err
	}
}

var (
	errNoType      = errors.New("timeline: event without a type")
	errFinished    = errors.New("timeline: an event cannot be written after Finish")
	errNotFinished = errors.New("timeline: there are no items before Finish")
)
