package timeline

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
	n, ok := f.take()
	if !ok {
		f.rows = append(f.rows, &row{track: l.t.owners.lane(p, uint32(len(f.rows)+1)), process: p})
		n = uint32(len(f.rows))
	}
	return f.rows[n-1]
}

// freeLanes holds the lanes of a process. empty is a binary heap of the numbers of lanes without open slices.
type freeLanes struct {
	rows  []*row // by number - 1
	empty []uint32
}

func (f *freeLanes) put(number uint32) {
	f.empty = append(f.empty, number)
	for i := len(f.empty) - 1; i > 0; {
		up := (i - 1) / 2
		if f.empty[up] <= f.empty[i] {
			break
		}
		f.empty[up], f.empty[i] = f.empty[i], f.empty[up]
		i = up
	}
}

func (f *freeLanes) take() (number uint32, ok bool) {
	if len(f.empty) == 0 {
		return 0, false
	}
	number = f.empty[0]
	n := len(f.empty) - 1
	f.empty[0] = f.empty[n]
	f.empty = f.empty[:n]
	for i := 0; ; {
		down := 2*i + 1
		if down+1 < n && f.empty[down+1] < f.empty[down] {
			down++
		}
		if down >= n || f.empty[i] <= f.empty[down] {
			return number, true
		}
		f.empty[i], f.empty[down] = f.empty[down], f.empty[i]
		i = down
	}
}

// A sliceHeap is a binary heap of open slices by end. If slices have the same end, the latest one ends first.
type sliceHeap []*slice

func (h sliceHeap) less(i, j int) bool {
	return h[i].end < h[j].end || h[i].end == h[j].end && h[i].id > h[j].id
}

func (h *sliceHeap) push(s *slice) {
	*h = append(*h, s)
	a := *h
	for i := len(a) - 1; i > 0; {
		up := (i - 1) / 2
		if !a.less(i, up) {
			break
		}
		a[up], a[i] = a[i], a[up]
		i = up
	}
}

func (h *sliceHeap) pop() *slice {
	a := *h
	first, n := a[0], len(a)-1
	a[0], a[n] = a[n], nil
	a = a[:n]
	*h = a
	for i := 0; ; {
		down := 2*i + 1
		if down+1 < n && a.less(down+1, down) {
			down++
		}
		if down >= n || !a.less(down, i) {
			return first
		}
		a[i], a[down] = a[down], a[i]
		i = down
	}
}
