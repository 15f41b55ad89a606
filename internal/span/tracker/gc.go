package tracker

import (
	"slices"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/span"
)

// suspendForGC are the reasons of suspensions for a garbage collection: SuspendForGC and SuspendForGCPrep.
var suspendForGC = [...]string{"SuspendForGC", "SuspendForGCPrep"}

// A heap is what is known of the garbage collections of a process.
type heap struct {
	pause ref   // the suspension of the runtime
	gcs   []ref // the latest collections that are open or wait for the end of their pause, the oldest first
}

// maxCollections limits heap.gcs. One collection in the background and one in the foreground can run at a time.
const maxCollections = 4

// watchHeap notes a collection or a suspension that begins.
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
	if i := find(o.Attributes, attrReason); i < 0 || !slices.Contains(suspendForGC[:], o.Attributes[i].Value.Str()) {
		o.Name = "Suspension"
	}
}

// endCollection ends a garbage collection. While the runtime is suspended, the span waits, because the pause lasts longer.
func (t *Tracker) endCollection(o *open, e *ntconv.Event) {
	o.End, o.EndThread = t.unix(e.Time), e.Thread
	if h := t.heaps[o.Process]; h != nil {
		if p := h.pause.get(); p != nil && len(p.gcs) < maxCollections {
			t.forget(o)
			o.held = true
			p.gcs = append(p.gcs, o.ref())
			return
		}
	}
	t.addPause(o)
	t.emit(o)
}

// endPause ends a suspension. It belongs to the collection that began last: a collection in the foreground interrupts one in the background.
func (t *Tracker) endPause(o *open, e *ntconv.Event) {
	h := t.heaps[o.Process]
	h.pause = ref{}
	if o.Name != "Suspension" {
		for i := len(h.gcs) - 1; i >= 0; i-- {
			if gc := h.gcs[i].get(); gc != nil {
				gc.paused += t.clock.Since(o.first, e.Time).Nanoseconds()
				o.TraceID, o.ParentID = gc.TraceID, gc.ID
				break
			}
		}
	}
	for _, r := range o.gcs {
		if gc := r.get(); gc != nil {
			t.addPause(gc)
			t.emit(gc)
		}
	}
	t.end(o, e)
}

// addPause states how long the runtime was suspended for a collection.
func (t *Tracker) addPause(o *open) {
	if o.paused > 0 {
		o.Attributes = append(o.Attributes, span.Attribute{Key: attrPause, Value: span.Int(o.paused)})
	}
}
