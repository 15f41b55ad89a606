package otlpclient

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/exporters/otlp"
	"github.com/ntconv/ntconv/internal/data/message"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
)

// maxRequest disables the size limit of the OpenTelemetry clients, in bytes: the receiver decides what is too large.
const maxRequest = 1 << 30

// Delays between attempts. They double with each attempt; a random part of up to one half is subtracted.
const (
	firstDelay = 200 * time.Millisecond
	maxDelay   = 5 * time.Second
)

// A sending is the state of one call of UploadTraces. attempt changes attempts, open and doubled; once set, the latter
// two stay set.
type sending struct {
	client   *Client
	batch    []*tracepb.ResourceSpans
	begin    time.Time
	attempts int
	open     bool // the receiver may have the batch from an attempt without a response
	doubled  bool // open, and the batch was sent again
}

// attempt sends the batch once and returns the outcome.
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
	if late && o.verdict == uncertain { // a gRPC server also ends a call at its deadline; not a response
		o.verdict = unknown
	}
	switch {
	case o.verdict != unknown:
		c.answered.Store(true)
	case late:
		o.err = fmt.Errorf("no response within %s", message.Duration(c.config.Timeout))
	case ctx.Err() != nil:
		o.err = ctx.Err()
	}
	return o
}

// expired reports whether the deadline of ctx has passed. ctx itself may notice it slightly later.
func expired(ctx context.Context) bool {
	deadline, ok := ctx.Deadline()
	return ok && !deadline.After(time.Now())
}

// result returns the result of UploadTraces if the outcome is final.
func (s *sending) result(o *outcomeFields) (err error, final bool) {
	switch o.verdict {
	case accepted:
		s.client.accepted.Store(true)
		if o.rejected == 0 && o.message == "" {
			return nil, true
		}
		return &otlp.PartialSuccessError{Rejected: o.rejected, Message: o.message}, true
	case unclear:
		return fmt.Errorf("%w: %w", otlp.ErrUnconfirmed, o.err), true
	case tooLarge:
		return fmt.Errorf("%w: %w", otlp.ErrTooLarge, o.err), true
	case refused:
		// A receiver that has accepted other batches refuses this one because of its content, and may accept the next.
		if s.client.accepted.Load() {
			return &otlp.PartialSuccessError{Rejected: spansOf(s.batch), Message: o.err.Error()}, true
		}
		return s.failure(o.err, o.advice), true
	case denied:
		return s.failure(o.err, o.advice), true
	}
	return nil, false
}

// pause returns the delay before the next attempt, or the error if there is none. It sets the advice.
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
			"check that a receiver listens there and accepts %s (the usual port is 4317 for gRPC, 4318 for HTTP)",
			s.client.Protocol(),
		)
	case o.advice == "":
		o.advice = "raise --retry-for to retry for longer"
	}
	if left <= 0 {
		return 0, o.err
	}
	if o.wait > left {
		return 0, fmt.Errorf("%w (retry after %s requested)", o.err, message.Duration(o.wait))
	}
	return min(max(o.wait, delay(s.attempts)), left), nil
}

// delay returns the random delay after a number of attempts.
func delay(attempts int) time.Duration {
	d := firstDelay << min(attempts-1, 10)
	d = min(d, maxDelay)
	return d - rand.N(d/2)
}

// failure returns the error of a batch that was given up: an *Error, wrapped with the advice if there is one.
func (s *sending) failure(err error, advice string) error {
	e := &Error{
		Endpoint: s.client.Endpoint(), Protocol: s.client.Protocol(), Attempts: s.attempts, Took: time.Since(s.begin), Open: s.open, Err: err,
	}
	if advice == "" {
		return e
	}
	return &ntconv.AdviceError{Err: e, Advice: advice}
}

// sleep waits for d, or until ctx is done; it then returns the error of ctx.
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

// An Error reports a batch that was given up. It wraps otlp.ErrNotReceived unless the receiver may have the batch.
type Error struct {
	Endpoint string
	Protocol Protocol
	Attempts int
	Took     time.Duration // duration of all attempts
	Open     bool          // the receiver may have the batch
	Err      error         // error of the last attempt
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
