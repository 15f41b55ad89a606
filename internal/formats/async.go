package formats

import "github.com/ntconv/ntconv"

// An asyncSink writes to a sink in a goroutine, so that reading the next events overlaps with writing those before.
// Events reach the sink in order. An error of the sink is returned by a later Write or by Close, and nothing is written
// after it. The goroutine lives until Close, or until the process ends if what was written is not wanted.
type asyncSink struct {
	dst    ntconv.Sink
	cur    *events
	free   chan *events
	full   chan *events
	failed chan error // of dst; closed at the end of the goroutine
	err    error      // the same, once it came out
}

// Batches of events: three of them, so that neither side waits for the other where both vary.
const (
	asyncBatches = 3
	asyncEvents  = 512
	asyncBytes   = 256 << 10
)

// events are copies, with their payloads.
type events struct {
	list     []ntconv.Event
	ends     []int // of the payload of each
	payloads []byte
}

func newAsyncSink(dst ntconv.Sink) *asyncSink {
	b := &asyncSink{
		dst:    dst,
		free:   make(chan *events, asyncBatches),
		full:   make(chan *events, asyncBatches),
		failed: make(chan error, 1),
	}
	for range asyncBatches {
		b.free <- new(events)
	}
	b.cur = <-b.free
	go b.run()
	return b
}

// run ends with the first error. Batches that come later wait in the channel, which has room for all there are.
func (b *asyncSink) run() {
	defer close(b.failed)
	for batch := range b.full {
		if err := batch.writeTo(b.dst); err != nil {
			b.failed <- err
			return
		}
		batch.list, batch.ends, batch.payloads = batch.list[:0], batch.ends[:0], batch.payloads[:0]
		b.free <- batch
	}
}

func (l *events) writeTo(dst ntconv.Sink) error {
	from := 0
	for i := range l.list {
		e, to := &l.list[i], l.ends[i]
		e.Payload = l.payloads[from:to:to]
		if err := dst.Write(e); err != nil {
			return err
		}
		from = to
	}
	return nil
}

// Write copies the event.
func (b *asyncSink) Write(e *ntconv.Event) error {
	if b.err != nil {
		return b.err
	}
	l := b.cur
	l.list = append(l.list, *e)
	l.payloads = append(l.payloads, e.Payload...)
	l.ends = append(l.ends, len(l.payloads))
	if len(l.list) < asyncEvents && len(l.payloads) < asyncBytes {
		return nil
	}
	b.full <- l
	select {
	case b.cur = <-b.free:
		return nil
	case b.err = <-b.failed:
		return b.err
	}
}

// Close writes what is left and closes the sink.
func (b *asyncSink) Close() error {
	if b.err != nil {
		return b.err
	}
	b.full <- b.cur
	close(b.full)
	if b.err = <-b.failed; b.err != nil {
		return b.err
	}
	return b.dst.Close()
}
