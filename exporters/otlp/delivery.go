package otlp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ntconv/ntconv"
)

// A carrier delivers batches to their destination.
type carrier interface {
	// carry delivers rows of b and returns their encoded size in bytes. Its errors are those of Uploader.Upload.
	carry(ctx context.Context, b *batch, rows []row) (size int, err error)
}

// maxTooLarge is the number of single items that may be rejected as too large before the receiver has accepted any item
// of their signal. Otherwise an upload to a receiver that rejects everything would need two requests per item.
const maxTooLarge = 64

// grace is the time that Close waits for an Uploader after the context is done.
const grace = time.Second

// A delivery hands batches of any signal to a carrier on its own goroutines (workers). The number of batches is limited,
// so the caller waits if the carrier is slow. After the first error nothing more is delivered. A signal that the receiver
// does not support is an error only if nothing else was received, or if it is Traces, which all receivers support.
//
// put queues a batch, a worker moves it to active, delivers it and moves it to free, and take reuses it. mu guards all
// fields below it; changed is signaled whenever one of them changes.
type delivery struct {
	ctx      context.Context
	to       carrier
	report   *ntconv.Report
	progress func(int64)
	signals  int         // number of signals whose batches the caller may fill at the same time
	stop     func() bool // ends the observation of ctx
	failed   atomic.Bool // err is set; readable without mu

	mu      sync.Mutex
	changed sync.Cond // of anything below
	queue   []*batch
	free    []*batch
	made    int // batches that exist: the caller's, queued, active and free
	workers int
	active  int               // batches that workers are delivering
	flying  [NumSignals]int64 // items that a carrier is delivering
	limit   int               // maximum number of workers
	closed  bool
	// abandoned means that the carrier has not returned although ctx is done. Its items are unconfirmed, and later
	// results are not counted.
	abandoned   bool
	err         error
	failing     Signal // of the batch that failed with err
	done        [NumSignals]Counts
	unsupported [NumSignals]error // why the receiver takes no batch of the signal
	refused     [NumSignals]int64 // items of such batches, which done does not count
	added       [NumSignals]int64 // items that exist because one was split

	progressMu sync.Mutex // serializes calls of progress
}

// newDelivery returns a delivery without workers; put starts them. When ctx is done, it fails with the cause, and after
// grace it abandons carriers that have not returned.
func newDelivery(ctx context.Context, to carrier, o *Options) *delivery {
	d := &delivery{ctx: ctx, to: to, report: o.Report, progress: o.Progress, limit: o.Concurrency, signals: len(o.Signals.List())}
	d.changed.L = &d.mu
	d.stop = context.AfterFunc(ctx, func() {
		d.fail(Traces, context.Cause(ctx))
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
		if d.made < d.limit+d.signals+1 { // the caller fills one batch per signal, one waits in the queue
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
		if !failed && len(b.rows) > 0 { // profiles whose samples are all 0 have none
			d.deliver(b, b.rows)
		}
		b.reset()
		d.mu.Lock()
		d.active--
		if !b.spare {
			d.free = append(d.free, b)
		}
		d.changed.Broadcast()
	}
}

// deliver delivers rows of b, of which there is at least one. If the carrier rejects them as too large, it delivers each
// half, down to single items, or to single samples of a profile.
func (d *delivery) deliver(b *batch, rows []row) {
	n := int64(len(rows))
	d.mu.Lock()
	stop := d.err != nil
	switch {
	case stop:
	case d.unsupported[b.signal] != nil:
		stop = true
		d.refused[b.signal] += n
	default:
		d.flying[b.signal] += n
	}
	d.mu.Unlock()
	if stop {
		return
	}
	size, err := d.to.carry(d.ctx, b, rows)
	first, second, splits := rows[0].split()
	d.count(b.signal, n, size, err, n > 1 || splits)
	switch {
	case err == nil || !errors.Is(err, ErrTooLarge):
	case n > 1:
		half := len(rows) / 2
		d.deliver(b, rows[:half])
		d.deliver(b, rows[half:])
	case splits:
		d.mu.Lock()
		d.added[b.signal]++
		d.mu.Unlock()
		d.deliver(b, []row{first})
		d.deliver(b, []row{second})
	}
}

// count records the outcome of a delivery of n items of a signal. splits means that they can be delivered in halves.
func (d *delivery) count(signal Signal, n int64, size int, err error, splits bool) {
	d.mu.Lock()
	if d.abandoned {
		d.mu.Unlock()
		return
	}
	d.flying[signal] -= n
	done := &d.done[signal]
	var partial *PartialSuccessError
	switch {
	case err == nil:
		done.received(n, 0, size)
	case errors.Is(err, ErrTooLarge):
		if splits {
			done.Halved++
			break
		}
		d.reject(signal, 1, err.Error())
		if done.Sent == 0 && done.Rejected == maxTooLarge {
			d.failLocked(signal, fmt.Errorf("%w: the receiver refuses every request as too large, even of one %s: %w", ErrNotReceived, signal.Item(), err))
		}
	case errors.Is(err, ErrUnsupportedSignal) && signal != Traces && d.signals > 1:
		d.unsupported[signal] = err
		d.refused[signal] += n
	case errors.Is(err, ErrUnconfirmed), errors.As(err, &partial) && partial.Rejected < 0:
		done.Unconfirmed += n
		done.explain(err.Error())
		d.report.Note(ntconv.CodeUnconfirmed, uint64(n), -1, err.Error())
	case partial != nil:
		rejected := min(partial.Rejected, n)
		done.received(n, rejected, size)
		done.explain(partial.Message)
		if rejected == 0 {
			done.Warnings++
			break
		}
		d.report.Note(ntconv.CodeRejected, uint64(rejected), -1, partial.Message)
	default:
		if !errors.Is(err, ErrNotReceived) {
			done.Unconfirmed += n
		}
		d.failLocked(signal, err)
	}
	d.mu.Unlock()
	if d.progress != nil && (err == nil || partial != nil) {
		d.showProgress()
	}
}

// reject counts items that the receiver does not accept. The caller holds mu.
func (d *delivery) reject(signal Signal, n int64, message string) {
	d.done[signal].Rejected += n
	d.done[signal].explain(message)
	d.report.Note(ntconv.CodeRejected, uint64(n), -1, message)
}

// showProgress calls progress with the number of items sent. It reads the number while it holds progressMu, so that
// successive calls never see a smaller number.
func (d *delivery) showProgress() {
	d.progressMu.Lock()
	defer d.progressMu.Unlock()
	sent := int64(0)
	d.mu.Lock()
	for i := range d.done {
		sent += d.done[i].Sent
	}
	d.mu.Unlock()
	d.progress(sent)
}

// explain keeps the receiver's first message.
func (c *Counts) explain(message string) { c.Message = cmp.Or(c.Message, message) }

// received counts a batch of n items that was received, except for the rejected ones.
func (c *Counts) received(n, rejected int64, size int) {
	c.Sent += n - rejected
	c.Rejected += rejected
	c.Batches++
	c.Bytes += int64(size)
}

func (d *delivery) fail(signal Signal, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.failLocked(signal, err)
}

// failLocked keeps the first error. The caller holds mu.
func (d *delivery) failLocked(signal Signal, err error) {
	if d.err == nil {
		d.err, d.failing = err, signal
	}
	d.failed.Store(true)
	d.changed.Broadcast()
}

// abandon stops waiting for carriers that have not returned, and counts their items as unconfirmed.
func (d *delivery) abandon() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.flying != [NumSignals]int64{} {
		d.abandoned = true
		for s, n := range d.flying {
			d.done[s].Unconfirmed += n
		}
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

// outcome returns what was delivered of the given numbers of items, and an *UploadError if the delivery has failed.
func (d *delivery) outcome(items [NumSignals]int64) (sum Summary, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	sum.Signals = d.done
	failed, signal := d.err, d.failing
	if s, ok := d.onlyUnsupported(); ok && failed == nil {
		failed, signal = d.unsupported[s], s
	}
	for i := range sum.Signals {
		c := &sum.Signals[i]
		if c.Items = items[i] + d.added[i]; failed != nil {
			c.Unsent = c.Items - c.Sent - c.Rejected - c.Unconfirmed
		} else if d.unsupported[i] != nil {
			c.Rejected += d.refused[i]
			c.explain(d.unsupported[i].Error())
		}
		sum.Counts.add(c)
	}
	if failed != nil {
		err = &UploadError{Signal: signal, Counts: sum.Counts, Err: failed}
	}
	return sum, err
}

// onlyUnsupported returns a signal that the receiver does not support if it has accepted nothing else. The caller holds
// mu.
func (d *delivery) onlyUnsupported() (signal Signal, ok bool) {
	for i := range NumSignals {
		if d.done[i].Batches > 0 {
			return 0, false
		}
		if d.unsupported[i] != nil {
			signal, ok = i, true
		}
	}
	return signal, ok
}

// reportUnsupported reports the items of signals that the receiver does not support. Call it once, after wait.
func (d *delivery) reportUnsupported() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, only := d.onlyUnsupported(); only || d.err != nil {
		return // an error
	}
	for i, err := range d.unsupported {
		if err != nil {
			d.report.Note(ntconv.CodeRejected, uint64(d.refused[i]), -1, err.Error())
		}
	}
}
