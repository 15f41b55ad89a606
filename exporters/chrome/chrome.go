// Package chrome writes a trace in Chrome's trace event format, the JSON that Perfetto, chrome://tracing, DevTools,
// speedscope and the Firefox Profiler open. docs/chrome.md specifies the output.
//
// The sink collects the trace in temporary files and writes the output in Close, in time order: the duration of a slice
// is known only at its end, and .NET traces write symbols last. Its memory grows with the number of threads, distinct
// stacks and concurrently open slices, not with the number of events. Equal events give equal output.
package chrome

import (
	"errors"
	"io"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/timeline"
)

// A Sink writes a trace in Chrome's format. It is not safe for concurrent use. Call Close or Abort even after an error,
// because they remove the temporary files.
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

// New returns a sink that writes one file to w in Close. The sink does not close w. info is read during the call and
// must not be nil. A nil namer resolves only stacks that carry their frames. A nil o selects the defaults.
func New(w io.Writer, info *ntconv.Info, namer ntconv.Namer, o *Options) *Sink {
	create := func(int) (io.WriteCloser, error) { return nopCloser{w}, nil }
	return newSink(create, 0, info, namer, o)
}

// NewSplit returns a sink that writes several files of about size bytes each, which viewers can open one by one. Close
// calls create once per part, with 1 for the first part, and closes each writer before it calls create again. A slice
// that continues past the end of a part appears again in the next part, with the arg "continued". The other parameters
// are those of New.
func NewSplit(
	create func(part int) (io.WriteCloser, error),
	size int64,
	info *ntconv.Info,
	namer ntconv.Namer,
	o *Options,
) *Sink {
	return newSink(create, max(size, 1), info, namer, o)
}

// newSink returns a sink whose parts have about limit bytes; 0 means one file.
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
		Kinds: s.o.Kinds, KindOptions: s.o.KindOptions, Window: s.o.Window,
		Report: s.o.Report, Dir: s.o.TempDir, MaxTemp: s.o.MaxTemp, SpanIDReversed: s.o.SpanIDReversed, NoSamples: s.o.Samples == NoSamples, Rundown: s.o.Rundown,
		MinDuration: s.o.MinDuration,
	}
	s.imported = newImportedEvents(s.o.Report)
	if s.o.Tracks == 0 && s.o.MinDuration == 0 && !s.o.NoArgs {
		// These options select parts of a timeline. Imported events with their original members are not parts of it.
		t.Raw = s.imported.append
	}
	t.Show(timeline.Tracks(s.o.Tracks))
	if !s.o.NoArgs {
		t.Args = s.args.append
	}
	s.lines = timeline.New(info, namer, t)
	return s
}

// Write adds an event. The sink does not keep e or its payload. Write returns an error if a temporary file cannot be
// written, and one that wraps ntconv.ErrLimit if the file exceeds Options.MaxTemp. Do not call Write after Close or
// Abort.
func (s *Sink) Write(e *ntconv.Event) error { return s.lines.Write(e) }

// Watch observes an event that a selection may omit: the duration of a sample ends at the next sample of its thread,
// selected or not. It implements ntconv.Watcher.
func (s *Sink) Watch(e *ntconv.Event) { s.lines.Watch(e) }

// errForm means that the options need the object form, but Options.Array is set.
var errForm = errors.New("chrome: the array form cannot represent stacks of events or the samples of StackFrames")

// errSplit means that the options need a single file, but the sink was made by NewSplit.
var errSplit = errors.New("chrome: the samples of StackFrames cannot be split")

// Close writes the output and removes the temporary files. It returns an error if the options contradict each
// other, or if a temporary file or the output fails. After Close or Abort it does
// nothing and returns nil.
func (s *Sink) Close() error {
	if s.ended {
		return nil
	}
	s.ended = true
	return errors.Join(s.write(), s.out.abort(), s.lines.Close())
}

// write writes all parts. It validates the options first, so that invalid options create no file.
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

// Abort discards the trace: it closes the open part, if any, and removes the temporary files. It does nothing after
// Close.
func (s *Sink) Abort() error {
	if s.ended {
		return nil
	}
	s.ended = true
	return errors.Join(s.out.abort(), s.lines.Close())
}

// Summary returns counts of what Close wrote. It is the zero value before Close.
func (s *Sink) Summary() Summary { return s.done }
