package tracecmp

import "github.com/ntconv/ntconv"

// numbers follows the sequence numbers of the capture threads of one stream in time order.
type numbers struct {
	threads map[*ntconv.Thread]*numbering
	last    *ntconv.Thread
	of      *numbering // of last
}

// A numbering is the state of one thread's sequence numbers.
type numbering struct {
	seq, lost uint32 // the last number, or 0 before the first, and the losses reported since
	// apart means that the thread numbered its events in another order than time order: a number reveals losses that
	// are not reported, or does not reveal reported ones. It stays set.
	apart bool
}

// thread returns the state of a thread.
func (n *numbers) thread(th *ntconv.Thread) *numbering {
	if th == n.last && th != nil {
		return n.of
	}
	if n.threads == nil {
		n.threads = map[*ntconv.Thread]*numbering{}
	}
	of := n.threads[th]
	if of == nil {
		of = &numbering{}
		n.threads[th] = of
	}
	n.last, n.of = th, of
	return of
}

// event records the number of an event and reports whether the thread's numbers are comparable.
func (n *numbers) event(e *ntconv.Event) bool {
	of := n.thread(e.Capture)
	if !numbered(e) {
		return !of.apart
	}
	revealed := uint32(0)
	if missing := e.Seq - 1 - of.seq; int32(missing) > 0 {
		revealed = missing
	}
	of.apart = of.apart || revealed != of.lost
	of.seq, of.lost = e.Seq, 0
	return !of.apart
}

// mark records the number of a thread in a mark and reports whether the thread's numbers are comparable.
func (n *numbers) mark(ts *ntconv.ThreadSeq) bool {
	of := n.thread(ts.Thread)
	if ts.Seq != 0 {
		missing := max(int32(ts.Seq-of.seq), 0)
		of.apart = of.apart || missing != int32(of.lost)
		of.seq, of.lost = of.seq+uint32(missing), 0
	}
	return !of.apart
}

// numbered reports whether an event has a sequence number.
func numbered(e *ntconv.Event) bool { return e.Seq != 0 || e.Flags&ntconv.FlagNumbered != 0 }

// lose records losses that a stream reports.
func (c *comparer) lose(e *ntconv.Event, side int) {
	if c.follows() {
		c.numbers[side].thread(e.Capture).lost += e.Lost
	}
}

// follows reports whether numbers may be out of order because the streams are in time order.
func (c *comparer) follows() bool { return c.opts.Sorted && !c.opts.Sequence }

// sameEventSeq compares the sequence numbers of two events.
func (c *comparer) sameEventSeq(a, b *ntconv.Event) bool {
	if c.opts.Sequence || a.Kind != ntconv.KindEvent {
		return c.opts.Sequence && a.Kind != ntconv.KindOpaque || a.Seq == b.Seq
	}
	comparable := true
	if c.follows() {
		x, y := c.numbers[0].event(a), c.numbers[1].event(b)
		comparable = x && y
	}
	return a.Seq == b.Seq || !comparable || !numbered(a) || !numbered(b)
}

// sameMarkSeq compares the numbers of a thread in two marks. Zero is an unknown number.
func (c *comparer) sameMarkSeq(a, b *ntconv.ThreadSeq) bool {
	comparable := true
	if c.follows() {
		x, y := c.numbers[0].mark(a), c.numbers[1].mark(b)
		comparable = x && y
	}
	return a.Seq == b.Seq || !comparable || a.Seq == 0 || b.Seq == 0 || c.opts.Sequence
}

// endMark discards the numbers of threads that a mark ends.
func (c *comparer) endMark(marks ...*ntconv.Mark) {
	if !c.follows() {
		return
	}
	for i, m := range marks {
		n := &c.numbers[i]
		switch {
		case m.Kind == ntconv.MarkThreadsRemoved:
			for _, ts := range m.Threads {
				delete(n.threads, ts.Thread)
			}
		case m.Flags&ntconv.MarkFlushThreads != 0:
			clear(n.threads)
		default:
			continue
		}
		n.last, n.of = nil, nil
	}
}
