package otlp

import (
	"context"
	"errors"
	"fmt"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/data/bin"
)

// An Uploader sends a batch of items of one signal to a receiver.
//
// request is the request message of the signal, such as ExportTraceServiceRequest of trace_service.proto, which has the
// same encoding as TracesData of trace.proto: the body of an OTLP/HTTP request with the content type
// application/x-protobuf, or the message of an OTLP/gRPC request. AppendJSON converts it to JSON. It is immutable, and
// the Uploader may keep it. items is the number of its items (Signal.Item). Calls are concurrent if
// Options.Concurrency is more than 1.
//
// An Uploader that retries a request does so within the call and reports the retry as a StatsReporter. The error states
// what is known about the batch:
//
//   - nil: the receiver has all items.
//   - a *PartialSuccessError: the receiver has all items except the rejected ones. The sink continues.
//   - an error that wraps ErrTooLarge: the receiver accepted nothing because the request is too large. The sink sends
//     each half of the batch, down to single items, and counts a single item as rejected. It stops after 64 such
//     items if the receiver has accepted none.
//   - an error that wraps ErrUnconfirmed: the receiver has answered, but its answer does not state what it accepted. The
//     sink counts the items as Counts.Unconfirmed and continues.
//   - an error that wraps ErrUnsupportedSignal: the receiver takes no batch of this signal. The sink goes on with other
//     signals. When it is closed, it counts all items of this one as rejected, or fails if nothing else was received. It
//     stops at once if the signal is Traces, or the only one to be sent.
//   - an error that wraps ErrNotReceived: the receiver certainly accepted nothing, because there was no connection or
//     because it refused. The sink stops, and the items count as Counts.Unsent.
//   - any other error: the receiver may have all items, some or none, because it did not answer or because the Uploader
//     does not know. The sink stops, and the items count as Counts.Unconfirmed.
//
// The sink never sends a batch again after the last three errors, so it never delivers an item twice. It takes a panic of
// the Uploader for the last error, and a nil Uploader for one that no receiver can be reached by.
type Uploader interface {
	Upload(ctx context.Context, signal Signal, request []byte, items int) error
}

// ParseResponse parses the body of a successful OTLP/HTTP response, or the message of an OTLP/gRPC response: the
// response message of any signal in protobuf, such as ExportTraceServiceResponse. It returns a *PartialSuccessError if
// the receiver rejected items or sent a warning. It returns an error that wraps ntconv.ErrCorrupt and ErrUnconfirmed if
// the body is not such a message: the receiver has accepted the request, but the number of accepted items is unknown.
func ParseResponse(body []byte) error {
	const partialSuccess, rejectedItems, errorMessage = 1, 1, 2
	var partial PartialSuccessError
	corrupt := false
	for len(body) > 0 {
		number, _, inner, rest := bin.CutField(body)
		corrupt = corrupt || number == 0
		for number == partialSuccess && len(inner) > 0 {
			member, n, text, rest := bin.CutField(inner)
			switch {
			case member == 0:
				corrupt = true
			case member == rejectedItems && text == nil:
				partial.Rejected = int64(n)
			case member == errorMessage && text != nil:
				partial.Message = string(text)
			}
			inner = rest
		}
		body = rest
	}
	if corrupt {
		return fmt.Errorf("otlp: response: %w: %w", ErrUnconfirmed, ntconv.ErrCorrupt)
	}
	if partial != (PartialSuccessError{}) {
		return &partial
	}
	return nil
}

// ErrTooLarge marks an error of an Uploader: the receiver accepts only smaller requests. Examples are HTTP status 413
// and the gRPC status ResourceExhausted without RetryInfo.
var ErrTooLarge = errors.New("request too large")

// ErrUnconfirmed marks an error of an Uploader: the receiver has answered that the request succeeded, but how many items
// it accepted is unknown, for example because its answer is truncated.
var ErrUnconfirmed = errors.New("the receiver does not state what it accepted")

// ErrNotReceived marks an error of an Uploader: the receiver did not accept any item of the batch.
var ErrNotReceived = errors.New("the batch was not received")

// ErrUnsupportedSignal marks an error of an Uploader: the receiver does not accept the signal at all. Examples are HTTP
// status 404 and the gRPC status Unimplemented.
var ErrUnsupportedSignal = errors.New("the receiver does not support the signal")

// A PartialSuccessError is an Uploader's result for a batch that the receiver accepted in part
// (ExportTracePartialSuccess of trace_service.proto and its counterparts). It is not fatal: the sink counts the
// rejected items and continues.
type PartialSuccessError struct {
	// Rejected is the number of items that the receiver rejected, at most the size of the batch. 0 means a warning: the
	// receiver has all items. A negative number counts as ErrUnconfirmed.
	Rejected int64
	Message  string // the receiver's explanation; may be empty
}

func (e *PartialSuccessError) Error() string {
	if e.Message == "" {
		return fmt.Sprintf("receiver rejected %d items", e.Rejected)
	}
	return fmt.Sprintf("receiver rejected %d items: %s", e.Rejected, e.Message)
}

// A StatsReporter is an Uploader that counts retries. The sink may call Stats at any time, even during an upload.
type StatsReporter interface {
	Uploader
	Stats() UploadStats
}

// UploadStats counts what an Uploader sent in addition to one request per batch.
type UploadStats struct {
	Retries int64 // requests that were sent again
	// Doubled is the number of items in requests that were sent again although the receiver may have accepted the first
	// request, because it did not answer.
	Doubled int64
}

// An UploadError reports that sending, or writing a file, ended early. It wraps the error of the Uploader or
// io.Writer.
type UploadError struct {
	Signal Signal // of the batch that failed
	Counts        // of all signals
	Err    error  // error of the Uploader or io.Writer
}

func (e *UploadError) Error() string {
	s := fmt.Sprintf("otlp: %d %ss delivered, %d not delivered", e.Sent, e.Signal.Item(), e.Unsent)
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
