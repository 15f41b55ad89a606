package otlp

import "time"

// maxHeld is the maximum size in bytes of the batches that wait for the names of their processes.
const maxHeld = 16 << 20

// A held is what waits for the names of its processes: .NET names a program at the end of a recording, and when a
// session begins with an event that not all traces have.
type held struct {
	batches []*batch // nil if nothing waits
	bytes   int
	ended   bool // nothing waits again
	timer   *time.Timer
}

// hold keeps a batch if one of its processes has no name yet, or if other batches wait, because batches leave in order.
// It releases all if they have become too large. It returns false if the batch is not kept. The caller holds mu.
func (s *Sink) hold(b *batch) bool {
	h := &s.held
	if _, given := s.o.Resource.Get(attrServiceName); given || h.ended || s.o.NameWait < 0 || s.o.ServiceName != "" {
		return false
	}
	if h.batches == nil {
		if !s.processes.awaited() {
			return false
		}
		if s.o.FlushEvery > 0 {
			h.timer = time.AfterFunc(s.o.NameWait, func() {
				s.mu.Lock()
				defer s.mu.Unlock()
				s.held.ended = true
				s.release()
			})
		}
	}
	h.batches = append(h.batches, b)
	if h.bytes += b.size; h.bytes > maxHeld {
		h.ended = true
		s.release()
	}
	return true
}

// release delivers the batches that are held. The caller holds mu.
func (s *Sink) release() {
	all := s.held.batches
	s.held.batches, s.held.bytes = nil, 0
	if s.held.timer != nil {
		s.held.timer.Stop()
		s.held.timer = nil
	}
	for _, b := range all {
		s.deliver(b)
	}
}
