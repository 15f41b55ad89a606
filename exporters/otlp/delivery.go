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

// A carrier takes spans to their destination.
type carrier interface {
	// carry delivers rows and returns their encoded size in bytes. The error is as for an Uploader.
	carry(ctx context.Context, rows []row) (size int, err error)
}

// maxTooLarge is how many spans may be too large by themselves before one is received: halving each batch down to its
// spans would take two requests per span.
const maxTooLarge = 64

// grace is how long Close waits for an Uploader after the context is done.
const grace = time.Second

// A delivery takes batches to a carrier on goroutines of its own. The number of batches is limited, so the caller waits
// if the carrier is slow. After the first error nothing more is delivered.
type delivery struct {
	ctx      context.Context
	to       carrier
	report   *ntconv.Report
	progress func(int64)
	stop     func() bool // ends the observation of ctx
	failed   atomic.Bool // err is set

	mu      sync.Mutex
	changed sync.Cond // of anything below
	queue   []*batch
	free    []*batch
	made    int // batches that exist
	workers int
	active  int // batches that workers have
	flying  int64
	limit   int // on workers
	closed  bool
	// abandoned means that the carrier did not return although ctx is done: what it still does is not counted.
	abandoned bool
	err       error
	done      Summary

	progressMu sync.Mutex
}

func newDelivery(ctx context.Context, to carrier, o *Options) *delivery {
	d := &delivery{ctx: ctx, to: to, report: o.Report, progress: o.Progress, limit: o.Concurrency}
	d.changed.L = &d.mu
	d.stop = context.AfterFunc(ctx, func() {
		d.fail(context.Cause(ctx))
		time.AfterFunc(grace, d.abandon)
	})
	return d
}

// take returns an empty batch, and waits until there is one. It returns nil if the delivery has failed.
func (d *delivery) take() *batch {
	d.mu.Lock()
	defer d.mu.Unlock()
	for d.err == nil {
		if n := len(d.free); n > 0 {
			b := d.free[n-1]
			d.free = d.free[:n-1]
			return b
		}
		if d.made < d.limit+2 { // one is filled, one waits
			d.made++
			return new(batch)
		}
		d.changed.Wait()
	}
	return nil
}

// put queues a batch. It does not wait.
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

// work delivers batches until the delivery is closed.
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
			d.deliver(b.rows)
		}
		b.reset()
		d.mu.Lock()
		d.active--
		d.free = append(d.free, b)
		d.changed.Broadcast()
	}
}

// deliver delivers rows, in halves if they are too large, until the delivery has failed.
func (d *delivery) deliver(rows []row) {
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
	size, err := d.to.carry(d.ctx, rows)
	if d.count(n, size, err); err != nil && errors.Is(err, ErrTooLarge) && n > 1 {
		half := len(rows) / 2
		d.deliver(rows[:half])
		d.deliver(rows[half:])
	}
}

// count records the outcome of n rows.
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
			d.failLocked(
				fmt.Errorf(
					"%w: the receiver refuses every request as too large, also of one span: %w",
					ErrNotReceived,
					err,
				),
			)
		}
	case errors.As(err, &partial):
		d.received(n, min(max(partial.Rejected, 0), n), size)
		d.explain(partial.Message)
		if partial.Rejected <= 0 {
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

// showProgress reads the count under progressMu, so that it never decreases from one call to the next.
func (d *delivery) showProgress() {
	d.progressMu.Lock()
	defer d.progressMu.Unlock()
	d.mu.Lock()
	sent := d.done.Sent
	d.mu.Unlock()
	d.progress(sent)
}

// explain keeps the first message of the receiver.
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

// failLocked keeps the first error.
func (d *delivery) failLocked(err error) {
	if d.err == nil {
		d.err = err
	}
	d.failed.Store(true)
	d.changed.Broadcast()
}

// abandon gives up on a carrier that does not return.
func (d *delivery) abandon() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.flying > 0 {
		d.abandoned = true
		d.done.Unconfirmed += d.flying
		d.changed.Broadcast()
	}
}

// wait returns when all batches have been delivered, or cannot be.
func (d *delivery) wait() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for len(d.queue)+d.active > 0 && !d.abandoned {
		d.changed.Wait()
	}
}

// close ends the workers. Batches that are still queued are not delivered.
func (d *delivery) close() {
	d.stop()
	d.mu.Lock()
	defer d.mu.Unlock()
	d.closed = true
	d.changed.Broadcast()
}

// outcome returns what was delivered of a number of spans, and the error if the delivery has failed.
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
