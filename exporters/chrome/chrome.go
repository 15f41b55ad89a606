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
	sink     timeline.Sink
	clock    ntconv.Clock
	args     argEncoder
	imported *importedEvents
	out      output
	done     Summary
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
func NewSplit(create func(part int) (io.WriteCloser, error), size int64, info *ntconv.Info, namer ntconv.Namer, o *Options) *Sink {
	return newSink(create, max(size, 1), info, namer, o)
}

// newSink returns a sink whose parts have about limit bytes; 0 means one file.
func newSink(create func(part int) (io.WriteCloser, error), limit int64, info *ntconv.Info, namer ntconv.Namer, o *Options) *Sink {
	s := &Sink{out: output{create: create, limit: limit}, clock: info.Clock}
	if o != nil {
		s.o = *o
	}
	t := &timeline.Options{Options: s.o.Options, NoSamples: s.o.Samples == NoSamples}
	s.imported = newImportedEvents(s.o.Report)
	if s.o.Tracks == 0 && s.o.MinDuration == 0 && !s.o.NoArgs {
		// These options select parts of a timeline. Imported events with their original members are not parts of it.
		t.Raw = s.imported.append
	}
	if !s.o.NoArgs {
		t.Args = s.args.append
	}
	s.sink = timeline.NewSink(info, namer, t)
	return s
}

// Watch implements [ntconv.Watcher]: an event that a selection omits may end what a selected one begins.
func (s *Sink) Watch(e *ntconv.Event) { s.sink.Watch(e) }

// Write implements [ntconv.Sink]. It fails if a temporary file cannot be written or exceeds Options.MaxTemp.
func (s *Sink) Write(e *ntconv.Event) error { return s.sink.Write(e) }

// Close writes the output and removes the temporary files. It returns an error if the options contradict each other, or
// if a temporary file or the output fails. After Close or Abort it does nothing and returns nil.
func (s *Sink) Close() error { return s.sink.Close(s.write) }

// Abort discards the trace and removes the temporary files. It does nothing after Close.
func (s *Sink) Abort() error { return s.sink.Abort() }

// Summary returns counts of what Close wrote.
func (s *Sink) Summary() Summary { return s.done }

// errForm means that the options need the object form, but Options.Array is set.
var errForm = errors.New("chrome: the array form cannot represent stacks of events or the samples of StackFrames")

// errSplit means that the options need a single file, but the sink was made by NewSplit.
var errSplit = errors.New("chrome: the samples of StackFrames cannot be split")

// write writes all parts. It validates the options first, so that invalid options create no file.
func (s *Sink) write() error {
	if s.o.Array && (s.o.Stacks || s.o.Samples == StackFrames) {
		return errForm
	}
	if s.out.limit > 0 && s.o.Samples == StackFrames {
		return errSplit
	}
	e := newEncoder(&s.o, s.sink, &s.out)
	e.imported, e.hasSamples = s.imported, s.sink.Counts().Samples > 0 && s.o.Samples == V8
	if e.whole = s.imported.isWhole(s.sink.Counts()); e.whole {
		e.shift = s.imported.shift(&s.clock, s.sink.Timeline)
	}
	err := e.write()
	s.done = Summary{
		Counts: s.sink.Counts(), Invalid: s.args.invalid + e.invalid, NotNumbers: e.notNumbers, LostFlows: e.lostFlows,
		Parts: s.out.parts,
	}
	s.done.Flows -= e.lostFlows
	return errors.Join(err, s.out.abort())
}
