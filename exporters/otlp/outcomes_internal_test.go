package otlp

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/testing/corpus"
	"github.com/ntconv/ntconv/reader"
	"github.com/ntconv/ntconv/symbol"
)

// A flakyReceiver answers the requests of a signal from a list, and accepts them after its end.
type flakyReceiver struct {
	mu       sync.Mutex
	answers  []error
	requests int
	accepted int64 // items
	delay    time.Duration
}

func (r *flakyReceiver) Upload(ctx context.Context, signal Signal, _ []byte, items int) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.requests++
	if r.delay > 0 {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(r.delay):
		}
	}
	var err error
	if len(r.answers) > 0 {
		err, r.answers = r.answers[0], r.answers[1:]
	}
	var partial *PartialSuccessError
	switch {
	case err == nil:
		r.accepted += int64(items)
	case errors.As(err, &partial):
		r.accepted += int64(items) - partial.Rejected
	}
	return err
}

// TestOutcomes sends each signal to receivers that fail in every way. Each item has one outcome, the receiver has as many
// items as the counts say, and the messages are those of the receiver.
func TestOutcomes(t *testing.T) {
	gone := fmt.Errorf("%w: connection refused", ErrNotReceived)
	lost := errors.New("no answer")
	large := fmt.Errorf("%w: 413", ErrTooLarge)
	for signal, name := range map[Signal]string{Traces: "otel-cpu", Logs: "own/logging", Metrics: "own/metrics", Profiles: "cpu-v6"} {
		for _, tt := range []struct {
			what    string
			answers []error
			fails   bool
			check   func(c *Counts) bool
		}{
			{"accepted", nil, false, func(c *Counts) bool { return c.Sent == c.Items && c.Message == "" }},
			{"partial", []error{nil, &PartialSuccessError{Rejected: 1, Message: "odd"}}, false, func(c *Counts) bool { return c.Rejected == 1 && c.Message == "odd" }},
			{"warning", []error{&PartialSuccessError{Message: "slow down"}}, false, func(c *Counts) bool { return c.Warnings == 1 && c.Sent == c.Items && c.Message == "slow down" }},
			{"too large", []error{large, nil}, false, func(c *Counts) bool { return c.Halved == 1 && c.Sent == c.Items }},
			{"unclear", []error{fmt.Errorf("%w: html", ErrUnconfirmed)}, false, func(c *Counts) bool { return c.Unconfirmed > 0 && c.Sent == c.Items-c.Unconfirmed }},
			{"refused at first", []error{gone}, true, func(c *Counts) bool { return c.Unsent == c.Items }},
			{"refused later", []error{nil, gone}, true, func(c *Counts) bool { return c.Unsent > 0 && c.Sent == c.Items-c.Unsent }},
			{"killed", []error{nil, lost}, true, func(c *Counts) bool { return c.Unconfirmed > 0 && c.Sent > 0 }},
			{"always refuses", []error{fmt.Errorf("%w: %w", ErrUnsupportedSignal, ErrNotReceived)}, true, func(c *Counts) bool { return c.Unsent == c.Items }},
		} {
			t.Run(fmt.Sprint(signal, "/", tt.what), func(t *testing.T) {
				r := &flakyReceiver{answers: tt.answers}
				sum, err := sendSignal(t, t.Context(), r, signal, name)
				c := &sum.Signals[signal]
				if (err != nil) != tt.fails || c.Items < 2 || !tt.check(c) {
					t.Errorf("%+v: %v", *c, err)
				}
				if c.Items != c.Sent+c.Rejected+c.Unsent+c.Unconfirmed || c.Sent != r.accepted {
					t.Errorf("%d accepted, %+v", r.accepted, *c)
				}
				var failed *UploadError
				if tt.fails && (!errors.As(err, &failed) || failed.Signal != signal || failed.Counts.Unsent != c.Unsent) {
					t.Errorf("error %v", err)
				}
			})
		}
		t.Run(fmt.Sprint(signal, "/slow"), func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			r := &flakyReceiver{delay: time.Hour}
			time.AfterFunc(10*time.Millisecond, func() { cancel(errors.New("stopped")) })
			sum, err := sendSignal(t, ctx, r, signal, name)
			c := &sum.Signals[signal]
			if err == nil || c.Sent != 0 || c.Items != c.Unsent+c.Unconfirmed {
				t.Errorf("%+v: %v", *c, err)
			}
		})
	}
}

// sendSignal sends the items of a signal of a recording in small batches.
func sendSignal(t *testing.T, ctx context.Context, r Uploader, signal Signal, name string) (Summary, error) {
	t.Helper()
	f := corpus.File{}
	if signal == Logs || signal == Metrics {
		f = corpus.SharedTrace(t, name)
	} else {
		f = corpus.Trace(t, name)
	}
	src, err := reader.NewBytes(f.Data, &reader.Options{Order: reader.ByTime})
	if err != nil {
		t.Fatal(err)
	}
	names := symbol.New(nil)
	o := &Options{Signals: SignalSet(signal), BatchItems: 4, NameWait: -1}
	if signal == Profiles {
		o.BatchBytes = 4000
	}
	sink := New(ctx, r, src.Info(), names, o)
	for e, err := range ntconv.Events(symbol.Watch(src, names)) {
		if err != nil {
			t.Fatal(err)
		}
		if err := sink.Write(e); err != nil && !errors.As(err, new(*UploadError)) {
			t.Fatal(err)
		}
	}
	err = sink.Close()
	return sink.Summary(), err
}
