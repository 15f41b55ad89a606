package perfetto

import (
	"errors"
	"io"
	"time"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/timeline"
)

// Tracks says what the output shows, a bit set. 0 means everything. Losses are always shown, and samples have an option
// of their own.
type Tracks uint16

const (
	Spans      Tracks = 1 << iota // labels, Activities, pairs of events and imported spans as slices
	GC                            // garbage collections and the pauses for them
	JIT                           // compilations
	Contention                    // waits for locks
	Waits                         // waits for wait handles
	Requests                      // time in the queue of the thread pool, and requests that the runtime reports
	Events                        // everything that is nothing else, as instants; exceptions, too
	Exceptions                    // exceptions, as instants
	Counters
	Flows // arrows from an operation to those that it started elsewhere

	AllTracks = Spans | GC | JIT | Contention | Waits | Requests | Events | Exceptions | Counters | Flows
)

// Samples is the form of stack samples.
type Samples uint8

const (
	// StreamingSamples writes a StreamingProfilePacket per run of samples of a thread, which all versions of Perfetto
	// read. Times are rounded down to microseconds, and a sample has no weight. Samples of a second profile kind become
	// StackSamples.
	StreamingSamples Samples = iota
	// StackSamples writes a StackSample per sample, with its exact time and its weights. Perfetto reads them since
	// version 58 (2026-08).
	StackSamples
	// NoSamples omits samples.
	NoSamples
)

// Options may be nil.
type Options struct {
	Tracks  Tracks
	Samples Samples
	// MinDuration omits slices that are shorter, in nanoseconds. 0 means no limit.
	MinDuration int64
	// Rundown includes the events that only describe methods and modules.
	Rundown bool
	// NoArgs omits payloads, labels and attributes.
	NoArgs bool
	// NoStacks omits the stacks of slices and instants, which recent versions of Perfetto show; older ones ignore them.
	NoStacks bool
	// Plain writes packets without compression. Otherwise most packets are in packets with the field
	// compressed_packets, which Perfetto reads and protoc --decode shows as bytes.
	Plain bool
	// SpanIDReversed states that the bytes of the label SpanId are in the reverse of the order of the W3C text form.
	SpanIDReversed bool
	// Report counts payloads that cannot be decoded. It may be nil.
	Report *ntconv.Report
	// TempDir is the directory of temporary files; "" means os.TempDir().
	TempDir string
	// MaxTemp is the maximum size of each temporary file in bytes; 0 means no limit. Exceeding it is an error that
	// wraps ntconv.ErrLimit.
	MaxTemp int64
}

// Counts is what the trace holds as a timeline. Not every format has a place for all of it.
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

// Summary says what a Sink has written. It is complete after Close.
type Summary struct {
	Counts
	// Start is the time of the first item, Duration the time from there to the end of the last one.
	Start    time.Time
	Duration time.Duration
	// FlowInstants is the number of instants at which a flow begins or ends in the middle of a slice. They are not part
	// of Counts.
	FlowInstants int64
	// StackSamples is the number of Samples that are StackSamples.
	StackSamples int64
}

// A Sink writes the events of one trace in the format of Perfetto. It implements [ntconv.Watcher]. Output begins with
// Close, because names come last; until then what is needed is in memory of a bounded size and a temporary file. It is
// not safe for concurrent use.
type Sink struct {
	w        io.Writer
	options  Options
	timeline *timeline.Timeline
	args     *argEncoder
	done     Summary
	ended    bool
}

// New returns a Sink that writes to w. namer and o may be nil. The caller calls Close or Abort.
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

// Watch implements [ntconv.Watcher].
func (s *Sink) Watch(e *ntconv.Event) { s.timeline.Watch(e) }

// Write takes an event, which it borrows. It fails if temporary files cannot be written.
func (s *Sink) Write(e *ntconv.Event) error { return s.timeline.Write(e) }

// Close writes the trace and removes temporary files. It does not close the writer. After Close and Abort it does
// nothing.
func (s *Sink) Close() error {
	if s.ended {
		return nil
	}
	s.ended = true
	return errors.Join(s.write(), s.timeline.Close())
}

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

// Abort removes temporary files, in place of Close. Nothing has been written. After Close and Abort it does nothing.
func (s *Sink) Abort() error {
	if s.ended {
		return nil
	}
	s.ended = true
	return s.timeline.Close()
}

// Summary says what was written. It is complete after Close.
func (s *Sink) Summary() Summary { return s.done }
