// Package otlp writes the spans of a trace as OTLP, the protocol of OpenTelemetry: to a receiver through an Uploader, or to a file.
//
//	sink := otlp.New(ctx, client, src.Info(), nil, nil)
//	_, err := ntconv.Copy(sink, src)
//	err = errors.Join(err, sink.Close())
//
// Spans come from Activities that a DiagnosticSource recorded, from events with the labels TraceId and SpanId, from Start and Stop
// events of event sources, and from spans that were imported from OTLP; docs/otlp.md specifies the mapping.
//
// The sink sends spans in batches as they end. Its memory depends on the size of a batch and on the number of open spans, and not on
// the length of the trace. Equal events give equal batches unless Options.FlushEvery sends batches early.
package otlp

import (
	"context"
	"io"

	"github.com/ntconv/ntconv"
)

// Form is the encoding of a file.
type Form uint8

const (
	// JSONLines is OTLP/JSON: one TracesData object per batch and line, as the file exporter of the OpenTelemetry Collector writes it.
	JSONLines Form = iota
	// Protobuf is one TracesData message. It is written as the concatenation of the batches, which protobuf defines as the merged
	// message.
	Protobuf
	// Delimited is one TracesData message per batch, each after its length in bytes as a big-endian 32-bit number. The file exporter
	// of the OpenTelemetry Collector writes it with format: proto.
	Delimited
)

// A Sink writes spans. It is not safe for concurrent use. Call Close even if Write has failed: it ends the goroutines of the sink.
type Sink struct{}

var (
	_ ntconv.Sink    = (*Sink)(nil)
	_ ntconv.Watcher = (*Sink)(nil)
	_ ntconv.Flusher = (*Sink)(nil)
)

// New returns a sink that sends spans through u. ctx is passed to u; if it is done, the sink stops sending and fails. A nil namer
// provides no command lines in addition to those that the sink finds in the events it gets. opts may be nil.
func New(ctx context.Context, u Uploader, info *ntconv.Info, namer ntconv.Namer, opts *Options) *Sink {
	return &Sink{}
}

// NewFile returns a sink that writes spans to w. It does not close w. namer and opts may be nil.
func NewFile(w io.Writer, form Form, info *ntconv.Info, namer ntconv.Namer, opts *Options) *Sink {
	return &Sink{}
}

// Write adds an event to the spans that it belongs to, and borrows it until Write returns. The error is an *UploadError if a batch
// could not be sent, which may have been an earlier one.
func (s *Sink) Write(e *ntconv.Event) error { return nil }

// Watch learns about the process of an event that a selection may omit, such as its command line. Call it for every event of the
// trace, and Write with the same event next if the event is selected. If all events are written, it need not be called. It borrows
// the event until it returns.
func (s *Sink) Watch(e *ntconv.Event) {}

// Flush sends the spans that have ended and returns when the receiver has them. Spans that are still open stay.
func (s *Sink) Flush() error { return nil }

// Close ends the open spans as Options.Unfinished says, sends everything that is left and waits for it. Call Summary afterwards. If
// the context of New is done, Close waits at most one second for the Uploader. The error is an *UploadError if not all spans were
// received, except for those that the receiver rejected individually: Summary and Options.Report count these.
func (s *Sink) Close() error { return nil }

// Summary returns what was written. It is complete after Close.
func (s *Sink) Summary() Summary { return Summary{} }
