package otlpclient

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/exporters/otlp"
	"github.com/ntconv/ntconv/internal/message"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
)

// maxRequest is the size in bytes up to which the clients send a request. The receiver says what is too large.
const maxRequest = 1 << 30

// Delays between attempts. They double, and a random part of up to a half is subtracted.
const (
	firstDelay = 200 * time.Millisecond
	maxDelay   = 5 * time.Second
)

// A sending is a batch on its way.
type sending struct {
	client   *Client
	batch    []*tracepb.ResourceSpans
	begin    time.Time
	attempts int
	open     bool // the receiver may have the batch from an attempt that it did not answer
	doubled  bool // and it was sent again
}

// attempt sends the batch once.
func (s *sending) attempt(ctx context.Context) outcomeFields {
	c := s.client
	ctx, cancel := context.WithTimeout(ctx, c.config.Timeout)
	defer cancel()
	out := new(outcome)
	err := c.client.UploadTraces(withOutcome(ctx, out), s.batch)
	o := out.fields(err)
	s.attempts++
	if s.open && o.sent && !s.doubled {
		s.doubled = true
		c.doubled.Add(spansOf(s.batch))
	}
	s.open = s.open || o.mayHaveArrived()
	late := expired(ctx)
	if late && o.verdict == uncertain { // a gRPC server ends a call at its deadline, too, which is no answer
		o.verdict = unknown
	}
	switch {
	case o.verdict != unknown:
		c.answered.Store(true)
	case late:
		o.err = fmt.Errorf("no answer within %s", message.Duration(c.config.Timeout))
	case ctx.Err() != nil:
		o.err = ctx.Err()
	}
	return o
}

// expired reports whether the deadline of a context has passed. The context itself notices it a little later.
func expired(ctx context.Context) bool {
	deadline, ok := ctx.Deadline()
	return ok && !deadline.After(time.Now())
}

// result returns what UploadTraces returns if the outcome is final.
func (s *sending) result(o *outcomeFields) (err error, final bool) {
	switch o.verdict {
	case accepted:
		s.client.accepted.Store(true)
		if o.rejected <= 0 && o.message == "" {
			return nil, true
		}
		return &otlp.PartialSuccessError{Rejected: max(0, o.rejected), Message: o.message}, true
	case tooLarge:
		return fmt.Errorf("%w: %w", otlp.ErrTooLarge, o.err), true
	case refused:
		// A receiver that has accepted other batches refuses this one for its content, and may accept the next.
		if s.client.accepted.Load() {
			return &otlp.PartialSuccessError{Rejected: spansOf(s.batch), Message: o.err.Error()}, true
		}
		return s.failure(o.err, o.advice), true
	case denied:
		return s.failure(o.err, o.advice), true
	}
	return nil, false
}

// pause returns how long to wait before the next attempt, or why there is none.
func (s *sending) pause(o *outcomeFields) (time.Duration, error) {
	limit := s.client.config.RetryFor
	answered := s.client.answered.Load()
	if !answered && !s.client.config.Patient {
		limit = min(limit, firstContact)
	}
	left := limit - time.Since(s.begin)
	switch {
	case !answered && o.advice == "":
		o.advice = fmt.Sprintf(
			"check that a receiver listens there and takes %s (gRPC is usually at port 4317, HTTP at 4318)",
			s.client.Protocol(),
		)
	case o.advice == "":
		o.advice = "raise --retry-for to try for longer"
	}
	if left <= 0 {
		return 0, o.err
	}
	if o.wait > left {
		return 0, fmt.Errorf("%w (asks to wait for %s)", o.err, message.Duration(o.wait))
	}
	return min(max(o.wait, delay(s.attempts)), left), nil
}

// delay returns a random time that grows with the number of attempts.
func delay(attempts int) time.Duration {
	d := firstDelay << min(attempts-1, 10)
	d = min(d, maxDelay)
	return d - rand.N(d/2)
}

// failure returns the error of a batch that is given up.
func (s *sending) failure(err error, advice string) error {
	e := &Error{
		Endpoint: s.client.Endpoint(), Protocol: s.client.Protocol(), Attempts: s.attempts, Took: time.Since(s.begin), Open: s.open, Err: err,
	}
	if advice == "" {
		return e
	}
	return &ntconv.AdviceError{Err: e, Advice: advice}
}

// sleep waits for a time or until ctx is done.
func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// An Error is a batch that was given up. It wraps otlp.ErrNotReceived unless the receiver may have the batch.
type Error struct {
	Endpoint string
	Protocol Protocol
	Attempts int
	Took     time.Duration // for all attempts
	Open     bool          // the receiver may have the batch
	Err      error         // of the last attempt
}

func (e *Error) Error() string {
	text := fmt.Sprintf("%s (%s): %v", e.Endpoint, e.Protocol, e.Err)
	if e.Attempts > 1 {
		text += fmt.Sprintf(" (%d attempts in %s)", e.Attempts, message.Duration(e.Took))
	}
	return text
}

// Unwrap returns the cause and, unless the receiver may have the batch, otlp.ErrNotReceived.
func (e *Error) Unwrap() []error {
	if e.Open {
		return []error{e.Err}
	}
	return []error{e.Err, otlp.ErrNotReceived}
}
