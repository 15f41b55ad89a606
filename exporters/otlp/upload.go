package otlp

import (
	"context"
	"errors"
	"fmt"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
)

// An Uploader sends a batch of spans to a receiver. The clients of
// go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracegrpc and otlptracehttp are Uploaders; call their Start
// before the first batch and their Stop after Sink.Close.
//
// UploadTraces borrows the spans until it returns. Calls are concurrent if Options.Concurrency is more than 1. An
// Uploader that sends a request again does so within the call and reports it as a StatsReporter. The error says what is
// known about the batch:
//
//   - nil: the receiver has all spans;
//   - a *PartialSuccessError: the receiver has all spans but the rejected ones, and the sink continues;
//   - an error that wraps ErrTooLarge: the receiver took nothing because the request is too large. The sink sends each half of the
//     batch, and so on down to one span, which it counts as rejected. It stops after 64 such spans if the receiver has taken none;
//   - an error that wraps ErrNotReceived: the receiver certainly took nothing, because there was no connection or because it
//     refused. The sink stops, and the spans count as Summary.Unsent;
//   - any other error: the receiver may have all spans, some, or none, because there was no answer, or because the Uploader cannot
//     say. The sink stops, and the spans count as Summary.Unconfirmed.
//
// The sink never sends a batch again after the last two, so it never delivers a span twice.
//
// The errors of the clients of OpenTelemetry wrap none of these, so every failure leaves its batch unconfirmed, and an
// answer of partial success also ends the upload. Wrap the client in an Uploader that converts its errors to change
// that.
type Uploader interface {
	UploadTraces(ctx context.Context, spans []*tracepb.ResourceSpans) error
}

// ErrTooLarge marks an error of an Uploader: the receiver accepts smaller requests only, such as HTTP status 413 or the
// gRPC status ResourceExhausted without RetryInfo.
var ErrTooLarge = errors.New("request too large")

// ErrNotReceived marks an error of an Uploader: the receiver took no span of the batch.
var ErrNotReceived = errors.New("spans were not received")

// A PartialSuccessError is an Uploader's answer to a batch that the receiver took in part (ExportTracePartialSuccess of
// trace_service.proto). It is not fatal: the sink counts the rejected spans and continues.
type PartialSuccessError struct {
	// Rejected is the number of spans that the receiver rejected. Numbers above the size of the batch mean all of it. 0
	// is a warning: the receiver has all spans.
	Rejected int64
	Message  string // the receiver's explanation; may be empty
}

func (e *PartialSuccessError) Error() string {
	if e.Message == "" {
		return fmt.Sprintf("receiver rejected %d spans", e.Rejected)
	}
	return fmt.Sprintf("receiver rejected %d spans: %s", e.Rejected, e.Message)
}

// A StatsReporter is an Uploader that counts what it sent more than once. The sink calls Stats at any time, also during
// an upload.
type StatsReporter interface {
	Uploader
	Stats() UploadStats
}

// UploadStats is what an Uploader did in addition to one request per batch.
type UploadStats struct {
	Retries int64 // requests that were sent again
	// Doubled is the number of spans in requests that were sent again although the receiver may have taken them: there
	// was no answer to the first one.
	Doubled int64
}

// An UploadError reports that sending, or writing a file, ended early. It wraps the error of the Uploader or of the
// io.Writer.
type UploadError struct {
	Sent        int64 // spans that were received or written
	Rejected    int64 // spans that the receiver rejected before
	Unsent      int64 // spans that were certainly not received
	Unconfirmed int64 // spans that may or may not have been received
	Err         error
}

func (e *UploadError) Error() string {
	s := fmt.Sprintf("otlp: %d spans delivered, %d not delivered", e.Sent, e.Unsent)
	if e.Unconfirmed > 0 {
		s += fmt.Sprintf(", %d without an answer", e.Unconfirmed)
	}
	if e.Rejected > 0 {
		s += fmt.Sprintf(", %d rejected", e.Rejected)
	}
	return s + ": " + e.Err.Error()
}

// Unwrap returns the error of the Uploader or of the io.Writer.
func (e *UploadError) Unwrap() error { return e.Err }
