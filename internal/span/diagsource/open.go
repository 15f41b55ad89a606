package diagsource

import (
	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/span"
)

// openKey identifies an Activity that has not stopped: by its IDs, or by what Start and Stop have in common.
type openKey struct {
	process *ntconv.Process
	span.Context
}

// open is an Activity that has not stopped.
type open struct {
	activity
	key        openKey
	time       int64 // of the Start event, in nanoseconds since 1970
	listener   bool  // a listener reported the start
	outer      *open // started before with the same key
	inner      *open // started after with the same key
	prev, next *open // in the order of their starts
}

// openTable holds the Activities that have not stopped, oldest first. Its memory follows their number.
type openTable struct {
	byKey map[openKey]*open
	ends  open // next is the oldest, prev the latest one
	n     int
	free  []*open
}

const (
	maxFree       = 256 // records whose memory is kept for new ones
	maxFreeValues = 512 // attributes, or events, or links of such a record
)

func (t *openTable) init() {
	t.byKey = make(map[openKey]*open)
	t.ends.prev, t.ends.next = &t.ends, &t.ends
}

// take returns a record that add puts into the table.
func (t *openTable) take() *open {
	if n := len(t.free); n > 0 {
		o := t.free[n-1]
		t.free = t.free[:n-1]
		return o
	}
	return new(open)
}

// release keeps the memory of a record that is not in the table.
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

// find returns the Activity that started last with a key, or nil.
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

// recent holds the IDs of Activities that stopped lately.
type recent struct {
	known map[openKey]struct{}
	ring  []openKey
	at    int
}

const maxRecent = 1024

// has reports whether an Activity stopped lately.
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
