package interval

import (
	"bytes"
	"slices"

	"github.com/ntconv/ntconv"
)

// A heap is the state of the garbage collections of a process.
type heap struct {
	pause *open   // the open suspension for a collection; nil if the runtime is not suspended
	gcs   []*open // the latest collections that are open or held, oldest first
	held  []*open // the collections that have ended and wait for the end of pause
}

// maxCollections limits heap.gcs and heap.held. At most one background and one foreground collection run at the same
// time.
const maxCollections = 4

func (m *Matcher) heapOf(p *ntconv.Process) *heap {
	h := m.heaps[p]
	if h == nil {
		h = new(heap)
		m.heaps[p] = h
	}
	return h
}

// begun records a collection or a suspension that begins.
func (m *Matcher) begun(o *open) {
	h := m.heapOf(o.key.Process)
	switch {
	case isCollection(o.Pair):
		if len(h.gcs) == maxCollections {
			h.gcs = slices.Delete(h.gcs, 0, 1)
		}
		h.gcs = append(h.gcs, o)
	case o.IsPause():
		h.pause = o
	}
}

// discarded forgets a collection or a suspension whose end is not in the trace.
func (m *Matcher) discarded(o *open) {
	h := m.heapOf(o.key.Process)
	if h.pause == o {
		m.resumed(h)
	}
	h.forget(o)
}

// forget removes a collection to which no later suspension can belong.
func (h *heap) forget(o *open) {
	if i := slices.Index(h.gcs, o); i >= 0 {
		h.gcs = slices.Delete(h.gcs, i, i+1)
	}
}

// endCollection ends a garbage collection. While the runtime is suspended, the interval is held, because the suspension
// lasts longer.
func (m *Matcher) endCollection(o *open) {
	h := m.heapOf(o.key.Process)
	if h.pause == nil || len(h.held) == maxCollections {
		h.forget(o)
		m.emit(o)
		return
	}
	end := *o.End
	end.Payload, end.Stack = bytes.Clone(end.Payload), nil
	o.End = &end
	h.held = append(h.held, o)
}

// endSuspension ends a suspension. One for a collection belongs to the collection that began last, because a foreground
// collection interrupts a background collection.
func (m *Matcher) endSuspension(o *open) {
	h := m.heapOf(o.key.Process)
	if h.pause != o {
		m.emit(o)
		return
	}
	if n := len(h.gcs); n > 0 {
		gc := h.gcs[n-1]
		gc.Paused += o.Duration()
		o.Collection = gc.Begin
	}
	m.emit(o)
	m.resumed(h)
}

// resumed emits the collections that waited for the end of the suspension.
func (m *Matcher) resumed(h *heap) {
	h.pause = nil
	for _, gc := range h.held {
		h.forget(gc)
		m.emit(gc)
	}
	h.held = h.held[:0]
}
