// Package timeline arranges the events of a trace as viewers of timelines show them: tracks of threads and processes with slices,
// instants, counters, samples and arrows between them, in the order of time.
//
//	events ─→ New, Watch, Write ─→ spool (records by time) ─→ Finish: names, tracks, stacks are complete ─→ Each: layout ─→ items
//
// Write makes records of what it sees and puts them into a spool, because a slice is known when it ends, and names at the end of the
// trace. Each reads them in the order of their beginnings and decides what needs the neighbours: which slices nest on a thread and which
// need a lane, and which arrows connect them.
package timeline

import (
	"errors"
	"time"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/span/tracker"
)

// Options may be nil.
type Options struct {
	Report *ntconv.Report
	Dir    string // of temporary files, "" for os.TempDir()
	// Spans are the sources of spans and intervals, 0 means all.
	Spans tracker.Sources
	// SpanIDReversed is that of tracker.Options.
	SpanIDReversed bool
	// NoSamples, NoCounters, NoFlows omit items of these kinds. Samples that are omitted are not instants either.
	NoSamples, NoCounters, NoFlows bool
	// NoInstants omits events that are nothing else.
	NoInstants bool
	// Rundown includes events of rundown, which describe methods and modules, as instants.
	Rundown bool
	// MinDuration omits slices that are shorter, in nanoseconds. They are counted.
	MinDuration int64
	// Args appends what the format makes of the args of an instant or a slice to dst. It is called while events are written.
	Args func(dst []byte, s *Source) []byte
	// Raw appends what the format makes of an event as a whole to dst. If it returns false, the event is treated like others. Nil: none.
	Raw func(dst []byte, e *ntconv.Event) (encoded []byte, ok bool)
}

// Counts is what a timeline holds.
type Counts struct {
	Events                              int64 // written
	Slices, Instants, Counters, Samples int64
	Flows                               int64 // arrows
	Lanes                               int64 // of Slices: on lanes
	Spans                               int64 // of Slices: spans, as opposed to intervals of the runtime
	Short                               int64 // slices that MinDuration omitted
	Rundown                             int64 // events of rundown that were omitted
	Unfinished                          int64
	Renumbered                          int64 // threads and processes whose number is not the recorded one
	Losses                              int64
}

// A Timeline collects a trace and returns it as items. It is not safe for concurrent use.
type Timeline struct{}

var errNotBuilt = errors.New("timeline: not built yet")

// New returns an empty Timeline of a trace.
func New(info *ntconv.Info, names ntconv.Namer, o *Options) *Timeline { return &Timeline{} }

// Watch takes every event of the trace before the selection, see ntconv.Watcher.
func (t *Timeline) Watch(e *ntconv.Event) {}

// Write takes a selected event, which it borrows. It fails if temporary files cannot be written.
func (t *Timeline) Write(e *ntconv.Event) error { return errNotBuilt }

// Finish ends the writing: what is open ends, and the Namer is asked for names.
func (t *Timeline) Finish() error { return errNotBuilt }

// Each passes the items to emit in the order of Time. At one time, slices end before others begin, and longer slices begin first. It can be
// called again after it has returned. It ends with the first error of emit.
func (t *Timeline) Each(emit func(*Item) error) error { return errNotBuilt }

// Close removes temporary files. It can be called at any time, and more than once.
func (t *Timeline) Close() error { return nil }

// Start returns the time that items count from, in nanoseconds since 1970-01-01 UTC: that of the earliest item.
func (t *Timeline) Start() time.Time { return time.Time{} }

// End returns the time of the last item, or the end of the last slice, in nanoseconds since Start. It is known after Finish.
func (t *Timeline) End() int64 { return 0 }

// Processes returns the processes after Finish, Tracks all tracks but lanes in the order: process, its own tracks, its threads, its
// counters. Lanes appear while Each runs.
func (t *Timeline) Processes() []*Process { return nil }
func (t *Timeline) Tracks() []*Track      { return nil }

// Nodes returns the number of nodes after Finish, with the root. Parents have smaller numbers than their children.
func (t *Timeline) Nodes() int { return 0 }

// Node returns the caller of a node and its own frame, a number below Frames.
func (t *Timeline) Node(n Node) (parent Node, frame uint32) { return 0, 0 }

// Frames returns the number of distinct frames after Finish, Frame one of them. Frames are distinct by Func, Mapping and Line.
func (t *Timeline) Frames() int                     { return 0 }
func (t *Timeline) Frame(frame uint32) ntconv.Frame { return ntconv.Frame{} }

// Counts returns what the timeline holds. Lanes and Flows are counted by Each.
func (t *Timeline) Counts() Counts { return Counts{} }
