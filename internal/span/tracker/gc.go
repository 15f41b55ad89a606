package tracker

import (
	"slices"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/clr"
	"github.com/ntconv/ntconv/internal/span"
	"github.com/ntconv/ntconv/schema"
)

// A heap is the state of the garbage collections of a process.
type heap struct {
	pause ref   // the open pause
	gcs   []ref // the latest collections that are open or wait for the end of their pause, oldest first
}

// maxCollections limits heap.gcs. At most one background and one foreground collection run at the same time.
const maxCollections = 4

// beginPause reports whether a suspension of the runtime is a pause for a collection. Only one suspension is possible
// at a time, so if a pause is still open, its end was lost, and beginPause ends it.
func (t *Tracker) beginPause(key schema.PairKey, e *ntconv.Event, r *role) bool {
	if l := t.pairs[key]; l != nil {
		t.emitHeld(l.last)
		t.finish(l.last)
	}
	for f, v := range r.schema.Values(e) {
		if f.Name == "Reason" {
			return clr.SuspendsForGC(v.Uint())
		}
	}
	return false
}

// watchHeap records a collection or a pause that begins.
func (t *Tracker) watchHeap(o *open) {
	h := t.heaps[o.Process]
	if h == nil {
		h = new(heap)
		t.heaps[o.Process] = h
	}
	if o.bound.kind == collection {
		h.gcs = slices.DeleteFunc(h.gcs, func(r ref) bool { return r.get() == nil })
		if len(h.gcs) == maxCollections {
			h.gcs = slices.Delete(h.gcs, 0, 1)
		}
		h.gcs = append(h.gcs, o.ref())
		return
	}
	h.pause = o.ref()
}

// endCollection ends a garbage collection. While the runtime is suspended, the span is held, because the pause lasts
// longer.
func (t *Tracker) endCollection(o *open, e *ntconv.Event) {
	o.End, o.EndThread = t.unix(e.Time), e.Thread
	if h := t.heaps[o.Process]; h != nil {
		if p := h.pause.get(); p != nil && len(p.gcs) < maxCollections {
			t.hide(o)
			o.held = true
			p.gcs = append(p.gcs, o.ref())
			return
		}
	}
	t.addPause(o)
	t.emit(o)
}

// endPause ends a pause. It belongs to the collection that began last, because a foreground collection interrupts a
// background collection.
func (t *Tracker) endPause(o *open, e *ntconv.Event) {
	h := t.heaps[o.Process]
	h.pause, t.collection = ref{}, t.collection[:0]
	for i := len(h.gcs) - 1; i >= 0; i-- {
		if gc := h.gcs[i].get(); gc != nil {
			gc.paused += t.clock.Since(o.first, e.Time).Nanoseconds()
			o.TraceID, o.ParentID = gc.TraceID, gc.ID
			t.collection = append(t.collection[:0], gc.Attributes...) // emitHeld may release gc
			break
		}
	}
	t.emitHeld(o)
	t.end(o, e)
	t.collection = t.collection[:0]
}

// Collection returns the attributes of the garbage collection to which a pause belongs, or nil if it is unknown. Call
// it in emit for the pause; the result is borrowed until emit returns.
func (t *Tracker) Collection() []span.Attribute { return t.collection }

// emitHeld emits the collections that waited for the end of a pause.
func (t *Tracker) emitHeld(o *open) {
	for _, r := range o.gcs {
		if gc := r.get(); gc != nil {
			t.addPause(gc)
			t.emit(gc)
		}
	}
	o.gcs = o.gcs[:0]
}

// addPause adds an attribute that states for how long a collection suspended the runtime.
func (t *Tracker) addPause(o *open) {
	if o.paused > 0 {
		o.Attributes = append(o.Attributes, span.Attribute{Key: attrPause, Value: span.Int(o.paused)})
	}
}
