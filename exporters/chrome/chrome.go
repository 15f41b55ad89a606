// Package chrome writes a trace in Chrome's trace event format, the JSON that Perfetto, chrome://tracing, DevTools,
// speedscope and the Firefox Profiler open. docs/chrome.md specifies what is written.
//
// The sink collects the trace in temporary files and writes it in Close in time order, because a slice is known when it
// ends and names come last. Memory depends on the number of threads, of distinct stacks and of slices that are open at
// a time, and not on the number of events. Equal events give equal output.
package chrome

import (
	"errors"
	"io"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/timeline"
)

// A Sink writes a trace in Chrome's format. It is not safe for concurrent use. Close or Abort must be called, also
// after an error: they remove the temporary files.
type Sink struct {
	o        Options
	lines    *timeline.Timeline
	clock    ntconv.Clock
	args     argEncoder
	imported *importedEvents
	out      output
	done     Summary
	ended    bool
}

var _ ntconv.Watcher = (*Sink)(nil)

// New returns a sink that writes to w when it is closed. It does not close w. A nil namer knows only the names that
// stacks carry themselves. o may be nil.
func New(w io.Writer, info *ntconv.Info, namer ntconv.Namer, o *Options) *Sink {
	create := func(int) (io.WriteCloser, error) { return nopCloser{w}, nil }
	return newSink(create, 0, info, namer, o)
}

// NewSplit returns a sink that writes parts of about size bytes, which viewers can open one by one. create is called
// with the number of each part, from 1, in Close; the sink closes the parts. A slice that lasts beyond the end of a
// part appears in the next part again, with the arg continued.
func NewSplit(
	create func(part int) (io.WriteCloser, error),
	size int64,
	info *ntconv.Info,
	namer ntconv.Namer,
	o *Options,
) *Sink {
	return newSink(create, max(size, 1), info, namer, o)
}

func newSink(
	create func(part int) (io.WriteCloser, error),
	limit int64,
	info *ntconv.Info,
	namer ntconv.Namer,
	o *Options,
) *Sink {
	s := &Sink{out: output{create: create, limit: limit}, clock: info.Clock}
	if o != nil {
		s.o = *o
	}
	if namer == nil {
		namer = ntconv.NoNames()
	}
	t := &timeline.Options{
		Report: s.o.Report, Dir: s.o.TempDir, MaxTemp: s.o.MaxTemp, SpanIDReversed: s.o.SpanIDReversed, NoSamples: s.o.Samples == NoSamples, Rundown: s.o.Rundown,
		MinDuration: s.o.MinDuration,
	}
	s.imported = newImportedEvents(s.o.Report)
	if s.o.Tracks == 0 && s.o.MinDuration == 0 &&
		!s.o.NoArgs { // they select among what a timeline shows, which events as they were are not
		t.Raw = s.imported.append
	}
	t.Show(timeline.Tracks(s.o.Tracks))
	if !s.o.NoArgs {
		t.Args = s.args.append
	}
	s.lines = timeline.New(info, namer, t)
	return s
}

// Write adds an event, which it borrows. It fails if temporary files cannot be written.
func (s *Sink) Write(e *ntconv.Event) error { return s.lines.Write(e) }

// Watch notes an event that a selection may omit, as the next sample of a thread. It implements ntconv.Watcher.
func (s *Sink) Watch(e *ntconv.Event) { s.lines.Watch(e) }

// errForm is the error of options that need the object form.
var errForm = errors.New("chrome: the array form has no place for stacks of events and for the samples of StackFrames")

// errSplit is the error of options that need a single file.
var errSplit = errors.New("chrome: the samples of StackFrames cannot be split")

// Close writes everything and removes the temporary files. After Close and Abort it does nothing.
func (s *Sink) Close() error {
	if s.ended {
		return nil
	}
	s.ended = true
	return errors.Join(s.write(), s.out.abort(), s.lines.Close())
}

func (s *Sink) write() error {
	if s.o.Array && (s.o.Stacks || s.o.Samples == StackFrames) {
		return errForm
	}
	if s.out.limit > 0 && s.o.Samples == StackFrames {
		return errSplit
	}
	if err := s.lines.Finish(); err != nil {
		return err
	}
	e := newEncoder(&s.o, s.lines, &s.out)
	e.imported, e.hasSamples = s.imported, s.lines.Counts().Samples > 0 && s.o.Samples == V8
	if e.whole = s.imported.isWhole(s.lines.Counts()); e.whole {
		e.shift = s.imported.shift(&s.clock, s.lines.Start())
	}
	err := e.write()
	s.done = Summary{
		Counts: Counts(
			s.lines.Counts(),
		), Invalid: s.args.invalid + e.invalid, NotNumbers: e.notNumbers, LostFlows: e.lostFlows, Parts: s.out.parts,
	}
	return err
}

// Abort gives up in place of Close: it closes the part that is open, and removes the temporary files. After Close it
// does nothing.
func (s *Sink) Abort() error {
	if s.ended {
		return nil
	}
	s.ended = true
	return errors.Join(s.out.abort(), s.lines.Close())
}

// Summary returns what was written. It is valid after Close.
func (s *Sink) Summary() Summary { return s.done }
