package diagsource

import (
	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/span"
)

// An openKey identifies an Activity that has not stopped: by its IDs, or by the hash of correlate.
type openKey struct {
	process *ntconv.Process
	span.Context
}

// An open is an Activity that has not stopped. It is in two lists of openTable: all Activities by start, and those with
// the same key.
type open struct {
	activity
	key        openKey
	time       int64 // time of the Start event in nanoseconds since 1970-01-01 UTC
	listener   bool  // a listener reported the start
	outer      *open // previous Activity with the same key
	inner      *open // next Activity with the same key
	prev, next *open // in the order of starts
}

// An openTable holds the Activities that have not stopped. Its memory is proportional to their number. byKey refers to
// the innermost Activity of each key.
type openTable struct {
	byKey map[openKey]*open
	ends  open // sentinel: next is the oldest Activity, prev the latest one
	n     int
	free  []*open // records for reuse, see take and release
}

const (
	maxFree       = 256 // records retained for reuse
	maxFreeValues = 512 // maximum attributes, events or links of such a record
)

func (t *openTable) init() {
	t.byKey = make(map[openKey]*open)
	t.ends.prev, t.ends.next = &t.ends, &t.ends
}

// take returns a record that is not in the table. Call add or release for it.
func (t *openTable) take() *open {
	if n := len(t.free); n > 0 {
		o := t.free[n-1]
		t.free = t.free[:n-1]
		return o
	}
	return new(open)
}

// release returns a record that is not in the table for reuse.
func (t *openTable) release(o *open) {
	if len(t.free) < maxFree && cap(o.span.Attributes) <= maxFreeValues && o.lists.small() {
		t.free = append(t.free, o)
	}
}

func (t *openTable) add(o *open) {
	if o.outer = t.byKey[o.key]; o.outer != nil {
		o.outer.inner = o
	}
	t.byKey[o.key] = o
	o.prev, o.next = t.ends.prev, &t.ends
	o.prev.next, o.next.prev = o, o
	t.n++
}

// find returns the Activity with a key that started last, or nil.
func (t *openTable) find(key openKey) *open {
	if t.n == 0 {
		return nil
	}
	return t.byKey[key]
}

// oldest returns the Activity that started first, or nil.
func (t *openTable) oldest() *open {
	if t.n == 0 {
		return nil
	}
	return t.ends.next
}

func (t *openTable) remove(o *open) {
	if o.outer != nil {
		o.outer.inner = o.inner
	}
	switch {
	case o.inner != nil:
		o.inner.outer = o.outer
	case o.outer != nil:
		t.byKey[o.key] = o.outer
	default:
		delete(t.byKey, o.key)
	}
	o.prev.next, o.next.prev = o.next, o.prev
	o.prev, o.next, o.outer, o.inner = nil, nil, nil, nil
	t.n--
}

// recent holds the keys of the latest maxRecent Activities that have stopped.
type recent struct {
	known map[openKey]struct{}
	ring  []openKey // the same keys, in a ring
	at    int       // index of the oldest key in ring
}

const maxRecent = 1024

// has reports whether an Activity has stopped recently.
func (r *recent) has(key openKey) bool {
	_, ok := r.known[key]
	return ok
}

func (r *recent) add(key openKey) {
	if r.known == nil {
		r.known = make(map[openKey]struct{}, maxRecent)
		r.ring = make([]openKey, maxRecent)
	}
	delete(r.known, r.ring[r.at])
	r.ring[r.at] = key
	r.known[key] = struct{}{}
	r.at = (r.at + 1) % maxRecent
}
