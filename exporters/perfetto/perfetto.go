package perfetto

import (
	"errors"
	"io"
	"time"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/timeline"
	"github.com/ntconv/ntconv/kind"
)

// Tracks is a bit set that selects what a Sink writes; 0 means everything. Losses are always written, and samples have
// an option of their own.
type Tracks uint16

const (
	Spans       Tracks = 1 << iota // slices of span labels, Activities, pairs of events and imported spans
	GC                             // garbage collections and their pauses
	JIT                            // compilations of methods
	Contention                     // waits for locks
	Waits                          // waits for wait handles
	Requests                       // time in the queue of the thread pool, and requests that the runtime reports
	Events                         // all other events, including exceptions, as instants
	Exceptions                     // exceptions only, as instants
	Counters                       // counter values
	Flows                          // arrows from an operation to operations that it started elsewhere
	Suspensions                    // suspensions of the runtime for other reasons than a collection

	AllTracks = Spans | GC | JIT | Contention | Waits | Requests | Events | Exceptions | Counters | Flows
)

// Samples is the form in which a Sink writes stack samples.
type Samples uint8

const (
	// StreamingSamples writes a StreamingProfilePacket per run of samples of a thread, which all versions of Perfetto
	// read. Times are rounded down to microseconds, and samples have no weight. Samples of a second profile kind are
	// written as StackSamples.
	StreamingSamples Samples = iota
	// StackSamples writes a StackSample per sample, with its exact time and its weights. Perfetto reads them since
	// version 58 (2026-08).
	StackSamples
	// NoSamples omits samples.
	NoSamples
)

// Options configure a Sink. The zero value selects the defaults.
type Options struct {
	Tracks  Tracks
	Samples Samples
	// MinDuration omits slices that are shorter, in nanoseconds; 0 omits none.
	MinDuration int64
	// Rundown includes the events that only describe methods and modules.
	Rundown bool
	// NoArgs omits payloads, labels and attributes.
	NoArgs bool
	// NoStacks omits the stacks of slices and instants. Recent versions of Perfetto show them, older versions ignore
	// them.
	NoStacks bool
	// Plain writes uncompressed packets. Otherwise most packets are inside packets with the field compressed_packets,
	// which Perfetto reads and protoc --decode shows as bytes.
	Plain bool
	// SpanIDReversed treats the label SpanId as a little-endian number: its W3C text form shows the bytes from last to
	// first.
	SpanIDReversed bool
	// Kinds are the kinds of samples; nil means kind.Wall, kind.CPU and kind.Imported. KindOptions configure those that are
	// computed from events; such events also become slices or instants. Window, if not nil, reports whether a time is
	// selected: an interval, such as a wait, that is not completely in the selected time is in no sample.
	Kinds       []kind.Kind
	KindOptions kind.Options
	Window      func(ntconv.Ticks) bool
	// Report receives the conditions that the conversion counts; nil discards them.
	Report *ntconv.Report
	// TempDir is the directory of temporary files; "" means os.TempDir().
	TempDir string
	// MaxTemp is the maximum size of each temporary file in bytes; 0 means no limit. Exceeding it is an error that
	// wraps ntconv.ErrLimit.
	MaxTemp int64
}

// Counts describes the trace as a timeline. An output format need not be able to represent all of it.
type Counts struct {
	Events                              int64 // events written
	Slices, Instants, Counters, Samples int64
	Flows                               int64 // arrows
	Lanes                               int64 // slices on lanes, which show operations that do not nest on a thread; included in Slices
	Spans                               int64 // slices of spans, not of intervals of the runtime; included in Slices
	Short                               int64 // slices shorter than MinDuration, omitted
	Rundown                             int64 // events that only describe methods and modules, omitted
	Unfinished                          int64 // slices that end with the trace, because it does not contain their end
	Renumbered                          int64 // threads and processes whose number differs from the recorded one
	Losses                              int64 // instants that state how many events are missing; not included in Instants
	Raw                                 int64 // imported events that are written with their original members
	Moved                               int64 // slices with times far outside the recording, moved to its start or end
}

// Summary counts what a Sink has written. It is the zero value before Close.
type Summary struct {
	Counts
	// Start is the time of the first item, Duration the time from there to the end of the last item.
	Start    time.Time
	Duration time.Duration
	// FlowInstants is the number of instants for flows that begin or end in the middle of a slice. Counts does not
	// include them.
	FlowInstants int64
	// StackSamples is the number of Samples that were written as StackSamples.
	StackSamples int64
}

// A Sink writes the events of one trace in the format of Perfetto. It implements [ntconv.Watcher]. It collects the
// trace in memory of bounded size and in temporary files, and writes the output in Close, because symbols come last. It
// is not safe for concurrent use. Call Close or Abort even after an error, because they remove the temporary files.
type Sink struct {
	w        io.Writer
	options  Options
	timeline *timeline.Timeline
	args     *argEncoder
	done     Summary
	ended    bool
}

// New returns a Sink that writes to w in Close. The Sink does not close w. info must not be nil. A nil namer resolves
// only stacks that carry their frames. A nil o selects the defaults.
func New(w io.Writer, info *ntconv.Info, namer ntconv.Namer, o *Options) *Sink {
	s := &Sink{w: w}
	if o != nil {
		s.options = *o
	}
	if namer == nil {
		namer = ntconv.NoNames()
	}
	s.args = newArgEncoder(s.options.Report)
	to := &timeline.Options{
		Kinds: s.options.Kinds, KindOptions: s.options.KindOptions, Window: s.options.Window,
		Report: s.options.Report, Dir: s.options.TempDir, MaxTemp: s.options.MaxTemp, SpanIDReversed: s.options.SpanIDReversed, NoSamples: s.options.Samples == NoSamples,
		Rundown: s.options.Rundown, MinDuration: s.options.MinDuration,
	}
	if !s.options.NoArgs {
		to.Args = s.args.append
	}
	to.Show(timeline.Tracks(s.options.Tracks))
	s.timeline = timeline.New(info, namer, to)
	return s
}

// Watch observes an event that a selection may omit. It does not keep e. It implements [ntconv.Watcher].
func (s *Sink) Watch(e *ntconv.Event) { s.timeline.Watch(e) }

// Write adds an event. The Sink does not keep e or its payload. Write returns an error if a temporary file cannot be
// written, and one that wraps ntconv.ErrLimit if the file exceeds Options.MaxTemp.
func (s *Sink) Write(e *ntconv.Event) error { return s.timeline.Write(e) }

// Close writes the trace and removes the temporary files. It returns an error if a temporary file or the output fails.
// It does nothing after Close or Abort.
func (s *Sink) Close() error {
	if s.ended {
		return nil
	}
	s.ended = true
	return errors.Join(s.write(), s.timeline.Close())
}

// write writes the output. The summary is set even if that fails.
func (s *Sink) write() error {
	t := s.timeline
	if err := t.Finish(); err != nil {
		return err
	}
	e := newEncoder(s.w, t, uint64(max(t.Start().UnixNano(), 0)), &s.options)
	err := e.begin(t.Tracks(), s.args)
	if err == nil {
		err = t.Each(e.item)
	}
	if err == nil {
		err = e.finish()
	}
	s.done = Summary{
		Counts: Counts(
			t.Counts(),
		), Start: t.Start(), Duration: time.Duration(t.End()), FlowInstants: e.counts.arrows, StackSamples: e.counts.stackSamples,
	}
	return err
}

// Abort removes the temporary files and writes nothing, in place of Close. It does nothing after Close or Abort.
func (s *Sink) Abort() error {
	if s.ended {
		return nil
	}
	s.ended = true
	return s.timeline.Close()
}

// Summary returns counts of what Close wrote.
func (s *Sink) Summary() Summary { return s.done }
