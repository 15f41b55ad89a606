// Package perfetto writes a trace in the protobuf format of Perfetto (https://perfetto.dev), for ui.perfetto.dev and
// trace_processor. docs/perfetto.md specifies the output.
//
// A file is a Trace message, which is a sequence of TracePackets; the sink writes a packet as soon as it is complete.
// Each packet belongs to a numbered sequence. It refers to strings, stacks and defaults that earlier packets of the
// same sequence have defined:
//
//	sequence 2 to 4          stack samples of one profile kind (StackSample): wall, cpu, imported
//	sequence 2^31 + kind     the same, for the other kinds
//	sequence 16 + track ID   stack samples of one thread (StreamingProfilePacket)
//
//	item ─→ encoder ─→ packet ─┬─ interned data that the packet is the first to refer to
//	                           ├─ time since the previous packet of the sequence
//	                           └─ track event, or samples
//
// The constants in proto.go use the message names and field numbers of protos/perfetto/trace in Perfetto's repository.
package perfetto

import (
	"io"
	"time"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/timeline"
	"github.com/ntconv/ntconv/track"
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
	// Options are those of all exporters of timelines. The format states neither Name nor Version.
	track.Options
	Samples Samples
	// NoArgs omits payloads, labels and attributes.
	NoArgs bool
	// NoStacks omits the stacks of slices and instants. Recent versions of Perfetto show them, older versions ignore
	// them.
	NoStacks bool
	// Plain writes uncompressed packets. Otherwise most packets are inside packets with the field compressed_packets,
	// which Perfetto reads and protoc --decode shows as bytes.
	Plain bool
}

// A Summary counts what a Sink has written. It is the zero value before Close.
type Summary struct {
	track.Counts
	// Start is the time of the first item, Duration the time from there to the end of the last item.
	Start    time.Time
	Duration time.Duration
	// FlowInstants is the number of instants for flows that begin or end in the middle of a slice. Counts does not
	// include them.
	FlowInstants int64
	// StackSamples is the number of Samples that were written as StackSamples.
	StackSamples int64
}

// A Sink writes a trace in the format of Perfetto. It is not safe for concurrent use. Call Close or Abort even after an
// error, because they remove the temporary files.
type Sink struct {
	w    io.Writer
	o    Options
	sink timeline.Sink
	args *argEncoder
	done Summary
}

var _ ntconv.Watcher = (*Sink)(nil)

// New returns a Sink that writes to w in Close. The Sink does not close w. info must not be nil. A nil namer resolves
// only stacks that carry their frames. A nil o selects the defaults.
func New(w io.Writer, info *ntconv.Info, namer ntconv.Namer, o *Options) *Sink {
	s := &Sink{w: w}
	if o != nil {
		s.o = *o
	}
	s.args = newArgEncoder(s.o.Report)
	t := &timeline.Options{Options: s.o.Options, NoSamples: s.o.Samples == NoSamples}
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

// Close writes the trace and removes the temporary files. It returns an error if a temporary file or the output fails.
// It does nothing after Close or Abort.
func (s *Sink) Close() error { return s.sink.Close(s.write) }

// Abort removes the temporary files and writes nothing, in place of Close. It does nothing after Close or Abort.
func (s *Sink) Abort() error { return s.sink.Abort() }

// Summary returns counts of what Close wrote.
func (s *Sink) Summary() Summary { return s.done }

// write writes the output. The summary is set even if that fails.
func (s *Sink) write() error {
	e := newEncoder(s.w, s.sink, uint64(max(s.sink.Start().UnixNano(), 0)), &s.o)
	err := e.write(s.args)
	s.done = Summary{
		Counts: s.sink.Counts(), Start: s.sink.Start(), Duration: time.Duration(s.sink.End()),
		FlowInstants: e.counts.arrows, StackSamples: e.counts.stackSamples,
	}
	return err
}
