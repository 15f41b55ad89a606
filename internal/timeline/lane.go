package timeline

import (
	"github.com/ntconv/ntconv/internal/data/intern"
)

// fits reports whether a slice that ends at the given time nests in the open slices of a track.
func (r *row) fits(end int64) bool { return r.top == nil || end <= r.top.end }

// choose returns the row for the slice in l.record by the rules in the package comment. home is the row of its thread.
func (l *layout) choose(home *row, parent *slice, end int64) *row {
	p := l.t.owners.state(home.track)
	var r *row
	switch l.record.place {
	case onThread:
		r = home
	case onGC:
		r = l.own(p, GCTrack)
	case onCollections:
		r = l.own(p, CollectionTrack)
	}
	if r != nil && r.track.Kind != ProcessTrack && r.fits(end) {
		return r
	}
	if parent != nil && parent.row.process == p && parent.row.top == parent && end <= parent.end {
		return parent.row
	}
	return l.emptyLane(p)
}

// own returns the row of a process for a kind of track, or nil if there is none.
func (l *layout) own(p *processState, k TrackKind) *row {
	if p.own[k] == nil {
		return nil
	}
	return &l.rows[p.own[k].ID]
}

// emptyLane returns the first lane of a process without open slices, and creates one if necessary.
func (l *layout) emptyLane(p *processState) *row {
	f := l.lanes[p]
	if f == nil {
		f = &freeLanes{}
		l.lanes[p] = f
	}
	if len(f.empty) > 0 {
		return f.rows[f.empty.Pop()-1]
	}
	r := &row{track: l.t.owners.lane(p, uint32(len(f.rows)+1)), process: p}
	f.rows = append(f.rows, r)
	return r
}

// freeLanes holds the lanes of a process.
type freeLanes struct {
	rows  []*row                               // by number - 1
	empty intern.Heap[laneNumber, *laneNumber] // of lanes without open slices
}

type laneNumber uint32

// Before implements intern.Heap.
func (n *laneNumber) Before(m *laneNumber) bool { return *n < *m }

// An openSlice is an open slice in a heap by end. If slices have the same end, the latest one ends first.
type openSlice struct {
	end   int64
	slice *slice
}

// Before implements intern.Heap.
func (a *openSlice) Before(b *openSlice) bool {
	return a.end < b.end || a.end == b.end && a.slice.id > b.slice.id
}
