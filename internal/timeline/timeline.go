// Package timeline arranges the events of a trace for timeline viewers: tracks of threads and processes with slices,
// instants, counters, samples and arrows, in time order.
//
//	events ─→ Watch, Write ─→ spool (records by time) ─→ Finish: names, tracks, stacks complete ─→ Each: layout ─→ items
//
// Write adds records to a spool, because a slice is known only when it ends, and names only at the end of the trace.
// Each reads the records sorted by begin and determines what depends on other slices: which slices nest on a thread,
// which need a lane, and which arrows connect them.
//
// # How events are converted
//
// An event is converted by the first of these rules that applies:
//
//   - Options.Raw encodes it.
//   - It is a Sample if it is a sample of a profiler.
//   - It is one Counter per value if it contains values of counters. A counter of a machine-wide recorder with a stack
//     is also an Instant. Page faults are no counter: each event is one fault. The rate of an instrument that may shrink is
//     omitted: its total shows the same.
//   - It begins or ends a slice of a selected source. A Stop without a Start shows no slice and is an Instant.
//   - It is omitted if it only describes methods, modules, mappings or a process, unless Options.Rundown is set.
//   - It is an event of a log record, which is one Instant with the first line of the message as name.
//   - It is an Instant. An exception has the name of its type, an allocation the number of bytes that it represents.
//
// Lost events are instants. Events that are only in the payload of a span are instants on the track of the span.
//
// # Where slices are
//
// Garbage collections, and the pauses for them, have their own tracks. A slice that begins and ends on one thread is on
// the track of the thread if it nests in the open slices there. All other slices are on lanes: on the lane of the
// parent if the slice nests there, or else on the first lane of the process without open slices.
//
// Arrows lead from the parent of a span, and from the spans to which it has links, if these are open when the span
// begins and are on another track. Imported slices of Chrome's format have only the arrows in the trace.
//
// # Times
//
// Times are exact. Programs choose the times of a span freely, and one such span could make the times of all others
// inexact in viewers. A span that is more than a minute outside the recording is therefore moved to its start or end,
// and a span that extends more than 52 days beyond the recording is shortened. Counts.Moved counts both.
package timeline

import (
	"cmp"
	"errors"
	"math"
	"time"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/data/bin"
	"github.com/ntconv/ntconv/internal/events/operation"
	"github.com/ntconv/ntconv/internal/events/recording"
	"github.com/ntconv/ntconv/internal/files/spool"
	"github.com/ntconv/ntconv/internal/span"
	"github.com/ntconv/ntconv/internal/span/tracker"
	"github.com/ntconv/ntconv/track"
)

// Options configures a Timeline. A nil pointer or the zero value selects the defaults.
type Options struct {
	track.Options
	// Without is what the output format cannot show: it is omitted even if Tracks contains it.
	Without track.Set
	// NoSamples omits samples, which do not become instants. Events with values of omitted counters do.
	NoSamples bool
	// Args, if not nil, appends the args of an instant or a slice to dst in the output format, and returns the extended
	// slice. Write and Finish call it. It borrows s.
	Args func(dst []byte, s *Source) []byte
	// Raw, if not nil, appends the encoding of a whole event of Chrome's format to dst. If it returns false, the event is
	// converted as usual. It borrows the event.
	Raw func(dst []byte, e *ntconv.Event) (encoded []byte, ok bool)
}

// A Timeline collects the events of a trace and returns them as items. Its memory is proportional to the number of
// distinct names, types, stacks, threads, counters and open slices. It is not safe for concurrent use.
//
// Watch and Write fill the spool and the tables. Finish completes the tables, which Each then only reads, except for
// lanes.
type Timeline struct {
	opts   Options
	tracks track.Set // what is shown
	clock  ntconv.Clock
	base   int64 // nanoseconds since 1970 at clock.Tick
	spool  *spool.Spool
	counts track.Counts
	err    error // first error of the spool

	roles       roles
	titles      titleTable
	owners      ownerTable
	stacks      stackTable
	samples     *sampleReader // nil if samples are omitted
	counters    *counterReader
	chrome      *chromeReader
	logs        *logReader       // nil if events are omitted
	tracker     *tracker.Tracker // nil after Finish
	begun       begunStacks
	inner       uint32 // latest number of a slice with events in its payload
	parts       parts
	allocations allocations
	spelled     map[string]string // names of types, by the recorded ones

	recorded *recording.Range
	// start and end are the range of items in nanoseconds since clock.Tick.
	start, end int64
	finished   bool

	rec    []byte // current record
	source Source // lent to Options.Args
	text   []byte
	kept   []span.Attribute // attributes of the current slice that are args
}

// parts counts events that are not items, so that tests can account for all events.
type parts struct {
	bounds   int64 // events that begin or end slices
	counters int64 // events with values of counters
	samples  int64
	omitted  int64 // events omitted by options
	inner    int64 // Instants that are not events of the trace
	joined   int64 // events of log records, minus the Instants of these records
}

// New returns an empty Timeline for a trace. namer may be nil; otherwise it must observe the events too. Close the
// Timeline after use.
func New(info *ntconv.Info, namer ntconv.Namer, o *Options) *Timeline {
	t := &Timeline{
		clock: info.Clock, recorded: recording.NewRange(info), start: math.MaxInt64, end: math.MinInt64,
		spelled: map[string]string{},
	}
	if o != nil {
		t.opts = *o
	}
	t.tracks = cmp.Or(t.opts.Tracks, track.All) &^ t.opts.Without
	if namer == nil {
		namer = new(ntconv.NoNames)
	}
	if !t.clock.Wall.IsZero() {
		t.base = t.clock.Wall.UnixNano()
	}
	t.spool = spool.New(&spool.Options{Dir: t.opts.TempDir, Max: t.opts.MaxTemp})
	t.titles = newTitleTable()
	t.owners = newOwnerTable(namer)
	t.stacks = newStackTable(namer)
	t.begun = begunStacks{}
	if !t.opts.NoSamples {
		t.samples = newSampleReader(t, info)
	}
	t.counters = newCounterReader(t)
	t.chrome = newChromeReader(t)
	if t.shows(track.Events) {
		t.logs = newLogReader(t, info)
	}
	t.roles = newRoles(&t.titles, t.counters.reader)
	t.tracker = tracker.New(info, t.addSpan, &tracker.Options{
		Sources: sources(t.tracks), Unfinished: tracker.CloseUnfinished, NoEvents: true, SerialIDs: true,
		SpanIDReversed: t.opts.SpanIDReversed, Report: t.opts.Report,
	})
	return t
}

// sources returns the sources of slices. Exceptions are instants, because most exceptions have no end in the trace.
func sources(s track.Set) operation.Sources {
	const none operation.Sources = 1 << 15 // 0 would mean the default
	return cmp.Or(operation.Sources(s)&^operation.Exceptions, none)
}

// shows reports whether the timeline has any of the tracks.
func (t *Timeline) shows(s track.Set) bool { return t.tracks&s != 0 }

// Finish ends all open slices and resolves names and stacks. Call it after the last Write. It returns the first error
// of the temporary file.
func (t *Timeline) Finish() error {
	if t.finished {
		return t.err
	}
	t.finished = true
	t.tracker.Finish()
	if t.logs != nil {
		t.logs.reader.Finish()
	}
	if t.samples != nil {
		t.samples.stream.Finish()
	}
	t.tracker = nil
	if t.start > t.end { // there are no items
		t.start, _ = t.span()
		t.end = t.start
	}
	t.owners.finish()
	t.counts.Renumbered = t.owners.renumbered
	t.stacks.finish()
	return t.err
}

// span returns the begin and the end of the recording so far in nanoseconds since clock.Tick; both are 0 if it has no
// events.
func (t *Timeline) span() (begin, end int64) {
	first, last, ok := t.recorded.Span()
	if !ok {
		return 0, 0
	}
	return t.clock.Nanos(first), t.clock.Nanos(last)
}

// Close removes the temporary file. Call it at any time, also more than once; the Timeline must not be used afterwards.
func (t *Timeline) Close() error { return t.spool.Close() }

// Start returns the wall clock time of the earliest item in UTC, from which items count. It is the zero Time if the
// trace does not state the wall clock time or nothing was written. Call it after Finish.
func (t *Timeline) Start() time.Time {
	if t.clock.Wall.IsZero() || t.counts.Events+t.counts.Losses == 0 {
		return time.Time{}
	}
	return t.clock.Wall.Add(time.Duration(t.start))
}

// Since returns the time from the earliest item to at in nanoseconds, also for a trace without wall-clock time. Call it
// after Finish.
func (t *Timeline) Since(at ntconv.Ticks) int64 { return bin.SubClamped(t.clock.Nanos(at), t.start) }

// End returns the time of the last item or of the end of the last slice, in nanoseconds since Start. Call it after
// Finish.
func (t *Timeline) End() int64 { return bin.SubClamped(t.end, t.start) }

// Processes returns the processes. Tracks returns all tracks except lanes, grouped by process: the process, its own
// tracks, its threads, its counters. Lanes first appear in Each. Call both after Finish.
func (t *Timeline) Processes() []*Process { return t.owners.list() }
func (t *Timeline) Tracks() []*Track      { return t.owners.sorted() }

// Nodes returns the number of nodes, including the root. Parents have smaller numbers than their children. Call it
// after Finish.
func (t *Timeline) Nodes() int { return len(t.stacks.tree) }

// Node returns the caller of a node, and its frame as an argument for Frame. The root is its own caller; its frame is
// meaningless.
func (t *Timeline) Node(n Node) (parent Node, frame uint32) {
	e := &t.stacks.tree[n]
	return e.parent, e.frame
}

// Frames returns the number of distinct frames, and Frame one of them. Frames are distinct by Func, Mapping and Line;
// all other members are those of one of the equal frames. Call both after Finish.
func (t *Timeline) Frames() int                     { return len(t.stacks.frames.list) }
func (t *Timeline) Frame(frame uint32) ntconv.Frame { return t.stacks.frames.list[frame] }

// Counts returns the counts so far. Each sets Lanes and Flows.
func (t *Timeline) Counts() track.Counts { return t.counts }

// add adds the record in t.rec to the spool. rank orders records with the same time.
func (t *Timeline) add(at, rank int64) {
	t.start, t.end = min(t.start, at), max(t.end, at)
	t.put(at, rank)
}

// put is add for a record that does not affect the start and the end of the timeline.
func (t *Timeline) put(at, rank int64) {
	if err := t.spool.Add(spool.Key{Time: at, Rank: rank}, t.rec); err != nil && t.err == nil {
		t.err = err
	}
}

var (
	errFinished    = errors.New("timeline: event written after Finish")
	errNotFinished = errors.New("timeline: items requested before Finish")
)
