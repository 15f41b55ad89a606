package split

import (
	"encoding/binary"
	"math"

	"github.com/ntconv/ntconv"
)

// ownTime reports whether the time of an item is that of the recorder, not that of its neighbors.
func ownTime(e *ntconv.Event) bool {
	return e.Kind == ntconv.KindEvent ||
		e.Kind == ntconv.KindMark && e.Mark != nil && e.Mark.Kind == ntconv.MarkSequencePoint
}

// isEmpty reports whether a mark is a sequence point that only marks the order. In time order the sink of a part writes
// such marks itself.
func isEmpty(m *ntconv.Mark) bool {
	return m.Kind == ntconv.MarkSequencePoint && m.Flags == 0 && len(m.Threads) == 0
}

// place determines the position of the next item of part p, and states it if Join would derive another one.
func (s *Splitter) place(p *part, e *ntconv.Event) error {
	own := ownTime(e)
	latest := s.latest
	if own && e.Time > latest {
		latest = e.Time
	}
	switch {
	case latest > s.latest:
		s.latest, s.rank = latest, 0
	case p.number < s.placed:
		s.rank++
	}
	s.placed = p.number
	derived, rank := p.latest, p.rank
	if own && e.Time > derived {
		derived, rank = e.Time, 0
	}
	p.latest, p.rank = s.latest, s.rank
	if derived == s.latest && rank == s.rank {
		return nil
	}
	s.payload = binary.AppendUvarint(s.payload[:0], s.rank)
	return s.state(p, s.orderType, s.latest)
}

// state adds an event that describes the next item of a part.
func (s *Splitter) state(p *part, t *ntconv.Type, at ntconv.Ticks) error {
	if at == math.MinInt64 {
		at = s.info.Clock.Tick
	}
	thread := p.thread
	if thread == nil {
		thread = s.thread
	}
	s.added = ntconv.Event{
		Time: at, CPU: ntconv.CPUUnknown, Offset: -1, Type: t, Thread: thread, Capture: thread, Payload: s.payload,
	}
	s.counts.Marks++
	return p.write(&s.added, s.ranked)
}

// numberEvent states the number of an event of part p if counting yields another one, and writes the losses before it.
func (s *Splitter) numberEvent(p *part, e *ntconv.Event) error {
	if len(s.losses) > 0 {
		if err := s.release(p, e.Capture); err != nil {
			return err
		}
	}
	seq := s.numbers.next(e)
	if isNumbered(e) && e.Seq != seq {
		seq = e.Seq
		s.list = append(s.list[:0], seq)
		if err := s.stateNumbers(p, e.Time); err != nil {
			return err
		}
	}
	s.numbers.set(e, seq)
	return nil
}

// stateNumbers adds events with the numbers in s.list.
func (s *Splitter) stateNumbers(p *part, at ntconv.Ticks) error {
	for list := s.list; len(list) > 0; {
		n := min(len(list), maxNumbers)
		s.payload = appendNumbers(s.payload[:0], list[:n])
		if err := s.state(p, s.numbersType, at); err != nil {
			return err
		}
		list = list[n:]
	}
	return nil
}

// release writes the losses of a capture thread to a part, or all losses if the thread is nil.
func (s *Splitter) release(p *part, t *ntconv.Thread) error {
	kept := s.losses[:0]
	for i := range s.losses {
		e := s.losses[i]
		if t != nil && e.Capture != t {
			kept = append(kept, e)
			continue
		}
		s.numbers.lose(&e)
		e.Capture = s.ids.thread(e.Capture)
		if err := p.sink.Write(&e); err != nil {
			return err
		}
	}
	clear(s.losses[len(kept):])
	s.losses = kept
	return nil
}

// writeMark writes a mark to the part of the item before it, and its replicas to the other open parts.
func (s *Splitter) writeMark(e *ntconv.Event) error {
	defer s.ids.ended(e)
	if e.Mark.Kind == ntconv.MarkSequencePoint {
		s.barrier, s.marked = e.Time, true
	}
	if isEmpty(e.Mark) && s.byTime {
		return nil
	}
	p := s.current
	if err := s.place(p, e); err != nil {
		return err
	}
	if err := s.release(p, nil); err != nil {
		return err
	}
	differ := false
	s.list = s.list[:0]
	for _, t := range e.Mark.Threads {
		seq := s.numbers.bound(t.Thread)
		differ = differ || seq != t.Seq
		s.list = append(s.list, t.Seq)
		s.numbers.setBound(t.Thread, t.Seq)
	}
	s.numbers.end(e.Mark)
	if differ {
		if err := s.stateNumbers(p, e.Time); err != nil {
			return err
		}
	}
	s.event = *e
	s.event.Mark = s.ids.mark(e.Mark)
	if err := p.sink.Write(&s.event); err != nil {
		return err
	}
	return s.replicateMark(p, &s.event)
}

// replicateMark writes a mark of part p to the other open parts, so that their windows end, too, and their threads end.
func (s *Splitter) replicateMark(p *part, e *ntconv.Event) error {
	if !s.ranked {
		return nil
	}
	for _, other := range s.parts {
		if other == p || other == nil {
			continue
		}
		m := &ntconv.Mark{Kind: e.Mark.Kind}
		for _, t := range e.Mark.Threads {
			if m.Kind == ntconv.MarkThreadsRemoved && other.used[t.Thread] {
				m.Threads = append(m.Threads, ntconv.ThreadSeq{Thread: t.Thread})
				delete(other.used, t.Thread)
			}
		}
		if other.last = nil; isEmpty(m) && s.byTime || m.Kind == ntconv.MarkThreadsRemoved && len(m.Threads) == 0 {
			continue
		}
		s.payload = s.payload[:0]
		if err := s.state(other, s.replicaType, max(s.latest, s.info.Clock.Tick)); err != nil {
			return err
		}
		replica := *e
		replica.Mark = m
		s.counts.Replicas++
		if err := other.sink.Write(&replica); err != nil {
			return err
		}
	}
	return nil
}
