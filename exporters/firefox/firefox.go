// Package firefox writes a trace as a processed profile of the Firefox Profiler (https://profiler.firefox.com):
// samples, markers, counters and allocations per thread. The file has the shape of version 57 of the format, which the
// Firefox Profiler upgrades and Perfetto reads, too.
//
// docs/firefox.md states what is written. The sink writes in Close, because .NET traces usually write symbols last.
// Memory depends on the number of threads, distinct names and distinct stacks per thread, not on the number of events:
// those wait in temporary files.
package firefox

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/profile"
	"github.com/ntconv/ntconv/internal/timeline"
)

// Tracks selects what is written in addition to samples and losses, as a bit set.
type Tracks uint16

const (
	// Spans are labels TraceId and SpanId, Activities, pairs of events and imported spans.
	Spans Tracks = 1 << iota
	// GC are garbage collections and the pauses for them.
	GC
	// JIT are compilations of methods.
	JIT
	// Contention are waits for locks, Waits those for wait handles.
	Contention
	Waits
	// Requests are work items of the thread pool, and requests that the runtime reports.
	Requests
	// Events are all events that are nothing else, exceptions included.
	Events
	// Exceptions are thrown exceptions.
	Exceptions
	// Counters are the values of counters.
	Counters
	// Flows are accepted and ignored: the format has no arrows.
	Flows

	// AllTracks are selected by the zero value of Options.
	AllTracks = Spans | GC | JIT | Contention | Waits | Requests | Events | Exceptions | Counters | Flows
)

// Options configure a Sink. The zero value selects the defaults.
type Options struct {
	// Name is the name of the recording that the Firefox Profiler shows.
	Name string
	// Version is the version of the program that writes the file.
	Version string
	Tracks  Tracks // 0 means all
	// MinDuration omits slices that are shorter.
	MinDuration time.Duration
	// Rundown includes events that only describe methods and modules.
	Rundown bool
	// SpanIDReversed means that the label SpanId is a little-endian number: the W3C text form shows its bytes from last
	// to first.
	SpanIDReversed bool
	// Dir is the directory of temporary files. Empty selects os.TempDir().
	Dir string
	// MaxTemp is the maximum size of each temporary file in bytes; 0 means no limit. Exceeding it is an error that
	// wraps ntconv.ErrLimit.
	MaxTemp int64
	// Report receives what could not be written as it is; it may be nil.
	Report *ntconv.Report
}

// A Sink writes a trace as a profile of the Firefox Profiler. It is not safe for concurrent use.
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

// New returns a sink that writes to w when it is closed. It does not close w. A nil namer knows only the frames that
// stacks carry themselves. opts may be nil. Events must come in time order.
func New(w io.Writer, info *ntconv.Info, namer ntconv.Namer, opts *Options) *Sink {
	s := &Sink{w: w, info: info, args: newArgEncoder()}
	if opts != nil {
		s.o = *opts
	}
	if namer == nil {
		namer = ntconv.NoNames()
	}
	o := &timeline.Options{
		Report: s.o.Report, Dir: s.o.Dir, MaxTemp: s.o.MaxTemp, SpanIDReversed: s.o.SpanIDReversed, MinDuration: int64(s.o.MinDuration), Rundown: s.o.Rundown,
		Args: s.args.encode,
	}
	o.Show(timeline.Tracks(s.o.Tracks))
	o.NoFlows = true
	s.timeline = timeline.New(info, namer, o)
	return s
}

// Watch notes an event that a selection may omit: it may end what a selected event begins. Call it for every event of
// the trace, and Write with the same event next if the event is selected. If all events are written, it need not be
// called. It borrows the event until it returns.
func (s *Sink) Watch(e *ntconv.Event) { s.timeline.Watch(e) }

// Write adds an event, which it borrows. It fails if a temporary file cannot be written.
func (s *Sink) Write(e *ntconv.Event) error {
	s.mainTypes.See(e)
	if err := s.timeline.Write(e); err != nil {
		return fmt.Errorf("firefox: %w", err)
	}
	return nil
}

// Close writes the file and removes the temporary files.
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

// Abort removes the temporary files. Call it in place of Close if the output is not kept.
func (s *Sink) Abort() error { return s.timeline.Close() }
