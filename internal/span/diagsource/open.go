package diagsource

import (
	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/events/interval"
	"github.com/ntconv/ntconv/internal/span"
)

// An openKey identifies an Activity that has not stopped: by its IDs, or by the hash of correlate.
type openKey struct {
	process *ntconv.Process
	span.Context
}

// An open is an Activity that has not stopped.
type open struct {
	activity
	key      openKey
	time     int64 // time of the Start event in nanoseconds since 1970-01-01 UTC
	listener bool  // a listener reported the start
	begun    *interval.Begun[openKey, *open]
}

// An openTable holds the Activities that have not stopped. Its memory is proportional to their number.
type openTable struct {
	interval.Open[openKey, *open]
	free []*open // records for reuse, see take and release
}

const (
	maxFree       = 256 // records retained for reuse
	maxFreeValues = 512 // maximum attributes, events or links of such a record
)

func (t *openTable) init() { t.Open = interval.NewOpen[openKey, *open]() }

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

func (t *openTable) add(o *open) { o.begun = t.Begin(o.key, nil, o) }

// find returns the Activity with a key that started last, or nil.
func (t *openTable) find(key openKey) *open { return dataOf(t.Latest(key)) }

// oldest returns the Activity that started first, or nil.
func (t *openTable) oldest() *open { return dataOf(t.Oldest()) }

func dataOf(b *interval.Begun[openKey, *open]) *open {
	if b == nil {
		return nil
	}
	return b.Data
}

func (t *openTable) remove(o *open) { t.Remove(o.begun) }

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
