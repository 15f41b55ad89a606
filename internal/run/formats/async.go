package formats

import "github.com/ntconv/ntconv"

// An asyncSink passes events to a sink in a goroutine, so that reading the next events overlaps with writing the
// previous ones. Events reach the sink in order. A later Write or Close returns an error of the sink; no event is
// written after an error. The goroutine ends in Close. If the output is discarded, no caller closes the sink and the
// goroutine lives until the process ends.
//
// A batch belongs to one side at a time, so the fields of a batch need no lock:
//
//	cur             Write fills it
//	in channel full run takes it, writes its events and clears it
//	in channel free Write takes it as the next cur
//
// Write and Close are not safe for concurrent use.
type asyncSink struct {
	dst    ntconv.Sink
	cur    *events
	free   chan *events
	full   chan *events
	failed chan error // an error of dst, at most one; closed when the goroutine ends
	err    error      // the error that Write has received from failed
}

// Limits of batches. With three batches, neither side waits for the other if the speed of both varies.
const (
	asyncBatches = 3
	asyncEvents  = 512
	asyncBytes   = 256 << 10
)

// events are copies of events and their payloads. ends[i] is the end of the payload of list[i] in payloads.
type events struct {
	list     []ntconv.Event
	ends     []int // end offsets in payloads
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

// run ends with the first error. Later batches wait in the channel full, which has room for all batches, so that Write
// never blocks there.
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

// writeTo sets the payload of each event only now, because appending to payloads may have moved it.
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

// Write copies the event and its payload. It returns an error of an earlier event.
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

// Close writes the last batch, waits until the goroutine has ended, and closes the sink if no write failed.
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
