package reader

import (
	"math"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/trace/wire"
	"github.com/ntconv/ntconv/internal/trace/wire/legacy"
)

// jump handles a sequence number that does not follow the last number of its capture thread. It returns the slot of the
// thread, which is another slot if the thread ID was reused, and the number of lost events.
//
// Recorders number the events of a thread from 1 and count each event that they try to record ("Event Sequence Numbers"
// in the specification of version 4). So the last number of a thread without events is 0 in all versions, and a first
// number n reveals n-1 losses. Before version 6 a number that restarts at 1 belongs to a new thread with a reused ID.
// Any other step back is an anomaly, not a loss of two billion events. The first number of a placeholder reveals
// nothing, because the thread may have been declared, and have had events, in a corrupt part of the input.
func (r *Reader) jump(slot uint32, seq uint32, offset int64) (_, lost uint32, err error) {
	s := &r.threads.list[slot]
	missing := seq - (s.seq + 1)
	switch {
	case !s.seen:
		s.seen = true
		return slot, 0, nil
	case missing == 0:
		return slot, 0, nil
	case r.legacy && seq == 1:
		slot, err = r.renew(slot, offset)
		return slot, 0, err
	case int32(missing) > 0:
		r.report.Add(ntconv.CodeEventsLost, uint64(missing), offset)
		return slot, missing, nil
	}
	r.report.Add(ntconv.CodeSequenceBack, 1, offset)
	return slot, 0, nil
}

// sequencePoint processes a sequence point. All events before it have been delivered, so it may flush tables and reuse
// slots.
func (r *Reader) sequencePoint(b *block) (err error) {
	c := b.cursor()
	var sp wire.SequencePoint
	if r.legacy {
		sp, err = legacy.ParseSequencePoint(&c, r.seqs[:0])
	} else {
		sp, err = wire.ParseSequencePoint(&c, r.seqs[:0])
	}
	r.seqs = sp.Threads
	if b.partial {
		return nil
	}
	if err != nil {
		if err := r.blockError(b, err); err != nil {
			return err
		}
	}
	if n := len(sp.Threads); n > r.limits.Threads {
		return r.exceeded(b.offset, "sequence point",
			ntconv.LimitError{Limit: LimitThreads, Value: int64(r.limits.Threads), Asked: int64(n)})
	}
	mark := &ntconv.Mark{Kind: ntconv.MarkSequencePoint, Flags: ntconv.MarkFlags(sp.Flags)}
	r.threads.freeLeaving()
	r.window.barrier()
	if len(sp.Threads) > 0 {
		mark.Threads = make([]ntconv.ThreadSeq, 0, len(sp.Threads))
	}
	for _, ts := range sp.Threads {
		th, err := r.checkpoint(ts, int64(sp.Time), b.offset)
		if err != nil {
			return err
		}
		mark.Threads = append(mark.Threads, ntconv.ThreadSeq{Thread: th, Seq: ts.Sequence})
	}
	r.push(ntconv.Event{
		Kind: ntconv.KindMark, CPU: ntconv.CPUUnknown, Time: ntconv.Ticks(sp.Time), Offset: b.offset, Mark: mark,
	})
	r.stacks.flush()
	r.labels.flush()
	if sp.Flags&wire.FlushThreads != 0 {
		r.threads.flush()
	}
	if sp.Flags&wire.FlushMetadata != 0 {
		r.types.flush()
	}
	return nil
}

// checkpoint compares a number that a sequence point lists with the last number of the thread and returns the thread. A
// thread that first appears here lost all its events.
func (r *Reader) checkpoint(ts wire.ThreadSeq, time, offset int64) (*ntconv.Thread, error) {
	var flags ntconv.Flags
	slot, err := r.threadSlot(ts.Thread, offset, &flags)
	if err != nil {
		return nil, err
	}
	s := &r.threads.list[slot]
	if s.placeholder {
		return s.thread, nil
	}
	if s.seen && s.seq != ts.Sequence {
		for _, old := range s.before {
			if old.seq == ts.Sequence {
				return old.thread, nil
			}
		}
	}
	if missing := ts.Sequence - s.seq; int32(missing) > 0 {
		r.lose(s.thread, missing, time, offset)
		s.seq = ts.Sequence
	}
	s.seen = true
	return s.thread, nil
}

// lose counts losses that a sequence point reveals, and queues them as an event.
func (r *Reader) lose(th *ntconv.Thread, n uint32, time, offset int64) {
	r.report.Add(ntconv.CodeEventsLost, uint64(n), offset)
	r.push(lostEvent(th, n, time, offset))
}

// lostEvent returns a KindLost event: n events of a thread are lost.
func lostEvent(th *ntconv.Thread, n uint32, time, offset int64) ntconv.Event {
	return ntconv.Event{
		Kind: ntconv.KindLost, CPU: ntconv.CPUUnknown, Lost: n, Time: ntconv.Ticks(time), Offset: offset, Capture: th,
	}
}

// removeThreads processes a block that ends threads. Its mark and losses follow the events read so far: in time order
// they wait until these events are delivered.
func (r *Reader) removeThreads(b *block) error {
	mark := &ntconv.Mark{Kind: ntconv.MarkThreadsRemoved}
	var events []ntconv.Event
	for c := b.cursor(); c.Len() > 0; {
		at := c.Offset()
		ts := wire.ParseThreadSeq(&c)
		if c.Err() != nil {
			if err := r.blockError(b, c.Err()); err != nil {
				return err
			}
			break
		}
		slot, ok := r.threads.slots.get(ts.Thread)
		if !ok {
			err := r.tolerate(ntconv.CodeUnknownThread, at, "RemoveThread", undefined{"index", ts.Thread})
			if err != nil {
				return err
			}
			continue
		}
		s := &r.threads.list[slot]
		switch missing := ts.Sequence - s.seq; {
		case int32(missing) > 0:
			r.report.Add(ntconv.CodeEventsLost, uint64(missing), at)
			events = append(events, lostEvent(s.thread, missing, 0, at))
		case missing != 0:
			r.report.Add(ntconv.CodeSequenceBack, 1, at)
		}
		mark.Threads = append(mark.Threads, ntconv.ThreadSeq{Thread: s.thread, Seq: ts.Sequence})
		r.threads.remove(ts.Thread, slot)
	}
	if len(mark.Threads) > 0 {
		events = append(events, ntconv.Event{
			Kind: ntconv.KindMark, CPU: ntconv.CPUUnknown, Offset: b.offset, Mark: mark,
		})
	}
	r.after(events...)
	return nil
}

// after delivers events that have no time of their own after all events read so far. If the window has rows, it copies
// their payloads, which are borrowed from the current block, and adds the events to the window.
func (r *Reader) after(events ...ntconv.Event) {
	w := &r.window
	switch {
	case len(events) == 0:
	case !w.pending():
		r.pushMarks(events)
	default:
		for i := range events {
			events[i].Payload = clone(events[i].Payload)
		}
		w.mark(events...)
		if w.left() >= r.limits.WindowEvents || w.size() >= r.limits.WindowBytes {
			r.report.Add(ntconv.CodeWindowCap, 1, events[0].Offset)
			w.release(0, true)
		}
	}
}

// pushMarks queues events that have no time of their own. Losses and marks get the time of the latest event, or the
// clock's start if there is none.
func (r *Reader) pushMarks(events []ntconv.Event) {
	for _, e := range events {
		if e.Kind != ntconv.KindOpaque {
			if e.Time = ntconv.Ticks(r.latest); r.latest == math.MinInt64 {
				e.Time = r.info.Clock.Tick
			}
		}
		r.push(e)
	}
}
