package otlpclient

import (
	"context"
	"errors"
	"sync"
	"time"
)

// A verdict is what the sender must do after an attempt.
type verdict uint8

const (
	unknown   verdict = iota // there was no answer
	accepted                 // the receiver has the spans that it did not reject
	again                    // the receiver refused the request for now
	uncertain                // something on the way answered, and the receiver may have the spans; ask again
	tooLarge                 // the receiver takes smaller requests only
	refused                  // the receiver does not accept this request
	denied                   // the receiver will not accept any request that is sent in the same way
)

// An outcome is what is known of one attempt to send a request. The layer below the client of OpenTelemetry fills it,
// and this client may still run when the caller has stopped waiting for it.
type outcome struct {
	mu sync.Mutex
	outcomeFields
}

type outcomeFields struct {
	verdict verdict
	begun   bool          // the client has made a request
	sent    bool          // bytes of the request may have reached the receiver
	ended   bool          // of gRPC: the receiver has ended the call
	err     error         // why the request was not accepted
	wait    time.Duration // what the receiver asked to wait for, at least
	advice  string

	rejected int64 // spans of an accepted request
	message  string
}

type outcomeKey struct{}

// withOutcome returns a context in which an attempt finds its outcome.
func withOutcome(ctx context.Context, o *outcome) context.Context {
	return context.WithValue(ctx, outcomeKey{}, o)
}

// outcomeOf returns the outcome of the attempt that a context belongs to. It is never nil.
func outcomeOf(ctx context.Context) *outcome {
	if o, ok := ctx.Value(outcomeKey{}).(*outcome); ok {
		return o
	}
	return new(outcome)
}

// change changes the outcome.
func (o *outcome) change(f func(*outcomeFields)) {
	o.mu.Lock()
	defer o.mu.Unlock()
	f(&o.outcomeFields)
}

// fields returns a copy of what is known so far. err is what the client of OpenTelemetry returned: it is all there is
// if that client made no request.
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
		f.err = errors.New("no answer")
	}
	return f
}

// mayHaveArrived reports whether the receiver may have the spans although nothing says so.
func (f *outcomeFields) mayHaveArrived() bool {
	return f.verdict == uncertain || f.verdict == unknown && f.sent
}
