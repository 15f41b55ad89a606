// Package speedscope writes the samples and slices of a trace in the file format of speedscope
// (https://www.speedscope.app), a viewer of flame graphs. docs/speedscope.md specifies the output.
//
// Samples become profiles of type sampled: per sample type, one profile of all threads and one per thread. Threads and
// other tracks with slices (spans, garbage collections, compilations, waits) also become profiles of type evented.
//
// The sink collects the trace in temporary files and writes the output in Close, because .NET traces usually write
// symbols last. Its memory grows with the number of threads and distinct stacks, not with the number of samples.
package speedscope

import (
	"io"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/timeline"
	"github.com/ntconv/ntconv/track"
)

// Options configure a Sink. The zero value selects the defaults.
type Options struct {
	// Options are those of all exporters of timelines. The default of Version is "dev". The format shows samples and
	// slices only.
	track.Options
}

// A Summary counts what a Sink has written. It is the zero value before Close.
type Summary struct {
	track.Counts
	Profiles int // profiles in the file
	Frames   int // distinct frames of all profiles
}

// A Sink writes a trace as a speedscope file. It is not safe for concurrent use. Call Close or Abort even after an
// error, because they remove the temporary files.
type Sink struct {
	w        io.Writer
	o        Options
	sink     timeline.Sink
	measures timeline.Measures
	done     Summary
}

var _ ntconv.Watcher = (*Sink)(nil)

// New returns a sink that writes to w in Close. It does not close w. info must not be nil. A nil namer resolves only
// stacks that carry their frames. Nil opts select the defaults. Events must arrive in time order.
func New(w io.Writer, info *ntconv.Info, namer ntconv.Namer, opts *Options) *Sink {
	s := &Sink{w: w}
	if opts != nil {
		s.o = *opts
	}
	s.sink = timeline.NewSink(info, namer, &timeline.Options{
		Options: s.o.Options, Without: track.Events | track.Exceptions | track.Counters | track.Flows,
	})
	return s
}

// Watch implements [ntconv.Watcher]: an event that a selection omits may end what a selected one begins.
func (s *Sink) Watch(e *ntconv.Event) { s.sink.Watch(e) }

// Write implements [ntconv.Sink]. It fails if a temporary file cannot be written or exceeds Options.MaxTemp.
func (s *Sink) Write(e *ntconv.Event) error {
	if err := e.Check(); err != nil {
		return err
	}
	s.measures.See(e)
	return s.sink.Write(e)
}

// Close writes the file and removes the temporary files. It returns an error if a temporary file or the output fails.
// It does nothing after Close or Abort.
func (s *Sink) Close() error { return s.sink.Close(func() error { return s.write(s.sink) }) }

// Abort removes the temporary files and writes nothing. Call it in place of Close to discard the output.
func (s *Sink) Abort() error { return s.sink.Abort() }

// Summary returns counts of what Close wrote.
func (s *Sink) Summary() Summary { return s.done }
