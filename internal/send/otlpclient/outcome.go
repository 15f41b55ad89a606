package otlpclient

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	coltracepb "go.opentelemetry.io/proto/otlp/collector/trace/v1"
)

// A verdict states how the sender must proceed after an attempt.
type verdict uint8

const (
	unknown   verdict = iota // no response: send again
	accepted                 // the receiver has the spans that it did not reject
	again                    // temporarily refused: send again
	uncertain                // a proxy responded, and the receiver may have the spans: send again
	unclear                  // the receiver has answered, but not in a way that states what it accepted: do not send again
	tooLarge                 // the receiver accepts only smaller requests
	refused                  // the receiver does not accept this request
	denied                   // the receiver will not accept any request sent in the same way
)

// An outcome is what is known about one attempt to send a request. The hooks below the client of OpenTelemetry change
// it. That client may still be running after the caller has stopped waiting, so mu protects the fields.
type outcome struct {
	mu sync.Mutex
	outcomeFields
}

type outcomeFields struct {
	verdict verdict
	begun   bool          // the client of OpenTelemetry has made a request
	sent    bool          // bytes of the request may have reached the receiver
	header  bool          // for gRPC: the receiver has begun a response
	ended   bool          // for gRPC: the receiver has ended the call
	err     error         // reason why the request was not accepted
	wait    time.Duration // minimum delay requested by the receiver
	advice  string        // next step for the user

	rejected int64  // rejected spans of an accepted request
	message  string // reason, or a warning
}

type outcomeKey struct{}

// withOutcome returns a context that passes o to the hooks.
func withOutcome(ctx context.Context, o *outcome) context.Context {
	return context.WithValue(ctx, outcomeKey{}, o)
}

// outcomeOf returns the outcome in a context. It is never nil.
func outcomeOf(ctx context.Context) *outcome {
	if o, ok := ctx.Value(outcomeKey{}).(*outcome); ok {
		return o
	}
	return new(outcome)
}

// change calls f with the fields while it holds the lock.
func (o *outcome) change(f func(*outcomeFields)) {
	o.mu.Lock()
	defer o.mu.Unlock()
	f(&o.outcomeFields)
}

// fields returns a copy of the current fields. err is the error of the OpenTelemetry client; it decides only if that
// client made no request.
func (o *outcome) fields(err error) outcomeFields {
	o.mu.Lock()
	defer o.mu.Unlock()
	f := o.outcomeFields
	switch {
	case f.verdict == accepted:
		return f
	case !f.begun && err != nil:
		f.verdict, f.err = refused, err
	case f.err == nil:
		f.err = errors.New("no response")
	}
	return f
}

// answer records a response to a request that succeeded, or the error of reading and decoding it.
func (f *outcomeFields) answer(r *coltracepb.ExportTraceServiceResponse, err error) {
	f.verdict, f.rejected = accepted, r.GetPartialSuccess().GetRejectedSpans()
	f.message = shorten(r.GetPartialSuccess().GetErrorMessage())
	if err == nil && f.rejected < 0 {
		err = fmt.Errorf("%d rejected spans", f.rejected)
	}
	if err != nil {
		f.verdict, f.err = unclear, fmt.Errorf("its response cannot be decoded: %s", shorten(err.Error()))
	}
}

// mayHaveArrived reports whether the receiver may have the spans although it did not confirm them.
func (f *outcomeFields) mayHaveArrived() bool {
	return f.verdict == uncertain || f.verdict == unknown && f.sent
}
