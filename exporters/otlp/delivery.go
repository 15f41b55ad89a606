package otlp

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ntconv/ntconv"
)

// A carrier delivers spans to their destination.
type carrier interface {
	// carry delivers rows of b and returns their encoded size in bytes. Its errors are those of Uploader.UploadTraces.
	carry(ctx context.Context, b *batch, rows []row) (size int, err error)
}

// maxTooLarge is the number of single spans that may be rejected as too large before the receiver has accepted any
// span. Otherwise an upload to a receiver that rejects everything would need two requests per span.
const maxTooLarge = 64

// grace is the time that Close waits for an Uploader after the context is done.
const grace = time.Second

// A delivery hands batches to a carrier on its own goroutines (workers). The number of batches is limited, so the
// caller waits if the carrier is slow. After the first error nothing more is delivered.
//
// put queues a batch, a worker moves it to active, delivers it and moves it to free, and take reuses it. mu guards all
// fields below it; changed is signaled whenever one of them changes.
type delivery struct {
	ctx      context.Context
	to       carrier
	report   *ntconv.Report
	progress func(int64)
	stop     func() bool // ends the observation of ctx
	failed   atomic.Bool // err is set; readable without mu

	mu      sync.Mutex
	changed sync.Cond // of anything below
	queue   []*batch
	free    []*batch
	made    int // batches that exist: the caller's, queued, active and free
	workers int
	active  int   // batches that workers are delivering
	flying  int64 // spans that a carrier is delivering
	limit   int   // maximum number of workers
	closed  bool
	// abandoned means that the carrier has not returned although ctx is done. Its spans are unconfirmed, and later
	// results are not counted.
	abandoned bool
	err       error
	done      Summary

	progressMu sync.Mutex // serializes calls of progress
}

// newDelivery returns a delivery without workers; put starts them. When ctx is done, it fails with the cause, and after
// grace it abandons carriers that have not returned.
func newDelivery(ctx context.Context, to carrier, o *Options) *delivery {
	d := &delivery{ctx: ctx, to: to, report: o.Report, progress: o.Progress, limit: o.Concurrency}
	d.changed.L = &d.mu
	d.stop = context.AfterFunc(ctx, func() {
		d.fail(context.Cause(ctx))
		time.AfterFunc(grace, d.abandon)
	})
	return d
}

// take returns an empty batch. It waits until one is free and returns nil once the delivery has failed.
func (d *delivery) take() *batch {
	d.mu.Lock()
	defer d.mu.Unlock()
	for d.err == nil {
		if n := len(d.free); n > 0 {
			b := d.free[n-1]
			d.free = d.free[:n-1]
			return b
		}
		if d.made < d.limit+2 { // the caller fills one batch, one waits in the queue
			d.made++
			return new(batch)
		}
		d.changed.Wait()
	}
	return nil
}

// put queues a batch, which then belongs to the delivery. It does not wait.
func (d *delivery) put(b *batch) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.queue = append(d.queue, b)
	if d.workers < d.limit {
		d.workers++
		go d.work()
	}
	d.changed.Broadcast()
}

// work delivers batches until the delivery is closed. After a failure it only returns them to free.
func (d *delivery) work() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for {
		for len(d.queue) == 0 {
			if d.closed {
				return
			}
			d.changed.Wait()
		}
		b := d.queue[0]
		d.queue = slices.Delete(d.queue, 0, 1)
		d.active++
		failed := d.err != nil
		d.mu.Unlock()
		if !failed {
			d.deliver(b, b.rows)
		}
		b.reset()
		d.mu.Lock()
		d.active--
		d.free = append(d.free, b)
		d.changed.Broadcast()
	}
}

// deliver delivers rows of b. If the carrier rejects them as too large, it delivers each half, down to single spans.
func (d *delivery) deliver(b *batch, rows []row) {
	n := int64(len(rows))
	d.mu.Lock()
	stop := d.err != nil
	if !stop {
		d.flying += n
	}
	d.mu.Unlock()
	if stop {
		return
	}
	size, err := d.to.carry(d.ctx, b, rows)
	if d.count(n, size, err); err != nil && errors.Is(err, ErrTooLarge) && n > 1 {
		half := len(rows) / 2
		d.deliver(b, rows[:half])
		d.deliver(b, rows[half:])
	}
}

// count records the outcome of a delivery of n rows.
func (d *delivery) count(n int64, size int, err error) {
	d.mu.Lock()
	if d.abandoned {
		d.mu.Unlock()
		return
	}
	d.flying -= n
	var partial *PartialSuccessError
	switch {
	case err == nil:
		d.received(n, 0, size)
	case errors.Is(err, ErrTooLarge):
		if n > 1 {
			d.done.Halved++
			break
		}
		d.done.Rejected++
		d.explain(err.Error())
		d.report.Note(ntconv.CodeRejected, 1, -1, err.Error())
		if d.done.Sent == 0 && d.done.Rejected == maxTooLarge {
			d.failLocked(fmt.Errorf("%w: the receiver refuses every request as too large, even of one span: %w", ErrNotReceived, err))
		}
	case errors.Is(err, ErrUnconfirmed), errors.As(err, &partial) && partial.Rejected < 0:
		d.done.Unconfirmed += n
		d.explain(err.Error())
		d.report.Note(ntconv.CodeUnconfirmed, uint64(n), -1, err.Error())
	case partial != nil:
		d.received(n, min(partial.Rejected, n), size)
		d.explain(partial.Message)
		if partial.Rejected == 0 {
			d.done.Warnings++
			break
		}
		d.report.Note(ntconv.CodeRejected, uint64(min(partial.Rejected, n)), -1, partial.Message)
	default:
		if !errors.Is(err, ErrNotReceived) {
			d.done.Unconfirmed += n
		}
		d.failLocked(err)
	}
	d.mu.Unlock()
	if d.progress != nil && (err == nil || partial != nil) {
		d.showProgress()
	}
}

// showProgress calls progress with the number of spans sent. It reads the number while it holds progressMu, so that
// successive calls never see a smaller number.
func (d *delivery) showProgress() {
	d.progressMu.Lock()
	defer d.progressMu.Unlock()
	d.mu.Lock()
	sent := d.done.Sent
	d.mu.Unlock()
	d.progress(sent)
}

// explain keeps the receiver's first message.
func (d *delivery) explain(message string) {
	if d.done.Message == "" {
		d.done.Message = message
	}
}

func (d *delivery) received(n, rejected int64, size int) {
	d.done.Sent += n - rejected
	d.done.Rejected += rejected
	d.done.Batches++
	d.done.Bytes += int64(size)
}

func (d *delivery) fail(err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.failLocked(err)
}

// failLocked keeps the first error. The caller holds mu.
func (d *delivery) failLocked(err error) {
	if d.err == nil {
		d.err = err
	}
	d.failed.Store(true)
	d.changed.Broadcast()
}

// abandon stops waiting for carriers that have not returned, and counts their spans as unconfirmed.
func (d *delivery) abandon() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.flying > 0 {
		d.abandoned = true
		d.done.Unconfirmed += d.flying
		d.changed.Broadcast()
	}
}

// wait returns when no batch is queued or active, or when the delivery has been abandoned.
func (d *delivery) wait() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for len(d.queue)+d.active > 0 && !d.abandoned {
		d.changed.Wait()
	}
}

// close ends the workers after the batches that are still queued. Call it after wait.
func (d *delivery) close() {
	d.stop()
	d.mu.Lock()
	defer d.mu.Unlock()
	d.closed = true
	d.changed.Broadcast()
}

// outcome returns what was delivered of the given number of spans, and an *UploadError if the delivery has failed.
func (d *delivery) outcome(spans int64) (Summary, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	s := d.done
	s.Spans = spans
	if d.err == nil {
		return s, nil
	}
	s.Unsent = spans - s.Sent - s.Rejected - s.Unconfirmed
	return s, &UploadError{Sent: s.Sent, Rejected: s.Rejected, Unsent: s.Unsent, Unconfirmed: s.Unconfirmed, Err: d.err}
}
