// Package firefox writes a trace as a processed profile of the Firefox Profiler (https://profiler.firefox.com):
// samples, markers, counters and allocations per thread. The file has version 57 of the format, which the Firefox
// Profiler upgrades and Perfetto also reads. docs/firefox.md specifies the output.
//
// The sink collects the trace in temporary files and writes the output in Close, because .NET traces usually write
// symbols last. Its memory grows with the number of threads, distinct names and distinct stacks per thread, not with
// the number of events.
package firefox

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/profile"
	"github.com/ntconv/ntconv/internal/timeline"
	"github.com/ntconv/ntconv/kind"
)

// Tracks is a bit set that selects what a Sink writes in addition to samples and losses.
type Tracks uint16

const (
	// Spans are events with span labels (TraceId, SpanId), Activities, pairs of events, and imported spans.
	Spans Tracks = 1 << iota
	// GC means garbage collections and their pauses.
	GC
	// JIT means compilations of methods.
	JIT
	// Contention means waits for locks, Waits means waits for wait handles.
	Contention
	Waits
	// Requests means work items of the thread pool, and requests that the runtime reports.
	Requests
	// Events means all other events, including exceptions.
	Events
	// Exceptions means thrown exceptions only.
	Exceptions
	// Counters means counter values.
	Counters
	// Flows has no effect, because the format cannot represent arrows.
	Flows
	// Suspensions means suspensions of the runtime for other reasons than a collection.
	Suspensions

	// AllTracks is what the zero value of Options.Tracks selects.
	AllTracks = Spans | GC | JIT | Contention | Waits | Requests | Events | Exceptions | Counters | Flows
)

// Options configure a Sink. The zero value selects the defaults.
type Options struct {
	// Name is the name of the recording that the Firefox Profiler shows; "" means ".NET".
	Name string
	// Version is the version of the program that writes the file; "" omits it.
	Version string
	Tracks  Tracks // 0 means AllTracks
	// MinDuration omits slices that are shorter; 0 omits none.
	MinDuration time.Duration
	// Rundown includes the events that only describe methods and modules.
	Rundown bool
	// SpanIDReversed treats the label SpanId as a little-endian number: its W3C text form shows the bytes from last to
	// first.
	SpanIDReversed bool
	// Kinds are the kinds of samples; nil means kind.Wall, kind.CPU and kind.Imported. KindOptions configure those that are
	// computed from events; such events also become markers. Window, if not nil, reports whether a time is
	// selected: an interval, such as a wait, that is not completely in the selected time is in no sample.
	Kinds       []kind.Kind
	KindOptions kind.Options
	Window      func(ntconv.Ticks) bool
	// Dir is the directory of temporary files; "" means os.TempDir().
	Dir string
	// MaxTemp is the maximum size of each temporary file in bytes; 0 means no limit. Exceeding it is an error that
	// wraps ntconv.ErrLimit.
	MaxTemp int64
	// Report receives the conditions that the conversion counts; nil discards them.
	Report *ntconv.Report
}

// A Sink writes a trace as a profile of the Firefox Profiler. It is not safe for concurrent use. Call Close or Abort
// even after an error, because they remove the temporary files.
type Sink struct {
	w         io.Writer
	o         Options
	info      *ntconv.Info
	timeline  *timeline.Timeline
	args      *argEncoder
	mainTypes profile.MainTypes
	done      Summary
}

var _ ntconv.Watcher = (*Sink)(nil)

// New returns a sink that writes to w in Close. It does not close w. The sink keeps info, which must not be nil. A nil
// namer resolves only stacks that carry their frames. Nil opts select the defaults. Events must arrive in time order.
func New(w io.Writer, info *ntconv.Info, namer ntconv.Namer, opts *Options) *Sink {
	s := &Sink{w: w, info: info, args: newArgEncoder()}
	if opts != nil {
		s.o = *opts
	}
	if namer == nil {
		namer = ntconv.NoNames()
	}
	o := &timeline.Options{
		Kinds: s.o.Kinds, KindOptions: s.o.KindOptions, Window: s.o.Window,
		Report: s.o.Report, Dir: s.o.Dir, MaxTemp: s.o.MaxTemp, SpanIDReversed: s.o.SpanIDReversed, MinDuration: int64(s.o.MinDuration), Rundown: s.o.Rundown,
		Args: s.args.encode,
	}
	o.Show(timeline.Tracks(s.o.Tracks))
	o.NoFlows = true
	s.timeline = timeline.New(info, namer, o)
	return s
}

// Watch observes an event that a selection may omit: it may end what a selected event begins. Call it for every event
// of the trace, before Write if the event is selected. You can omit the calls if all events are written. The sink does
// not keep e.
func (s *Sink) Watch(e *ntconv.Event) { s.timeline.Watch(e) }

// Write adds an event. The sink does not keep e or its payload. Write returns an error if a temporary file cannot be
// written, and one that wraps ntconv.ErrLimit if the file exceeds Options.MaxTemp.
func (s *Sink) Write(e *ntconv.Event) error {
	s.mainTypes.See(e)
	if err := s.timeline.Write(e); err != nil {
		return fmt.Errorf("firefox: %w", err)
	}
	return nil
}

// Close writes the file and removes the temporary files. It returns an error if a temporary file or the output fails.
func (s *Sink) Close() error {
	err := s.timeline.Finish()
	if err == nil {
		err = s.write(s.timeline)
	}
	if err = errors.Join(err, s.timeline.Close()); err != nil {
		return fmt.Errorf("firefox: %w", err)
	}
	return nil
}

// Abort removes the temporary files and writes nothing. Call it in place of Close to discard the output.
func (s *Sink) Abort() error { return s.timeline.Close() }
