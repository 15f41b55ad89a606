package profile

import "github.com/ntconv/ntconv"

// shownStacks are the stacks that an ntconv.FrameGrouper shows. Rows with different addresses may have the same one.
type shownStacks struct {
	stacks *Stacks
	ids    []uint32 // by row: the number in stacks
}

// A weighted is the rows of one stack with equal recorded frames.
type weighted struct {
	frameKey
	rows          []uint32
	events, value int64
}

// regroup resolves the stacks of all rows and numbers what g shows for them. It counts unresolved frames, because the
// report is about the recorded stacks. v.order must be sorted by recorded stacks.
func (v *visit) regroup(g ntconv.FrameGrouper) *shownStacks {
	shown := &shownStacks{stacks: NewStacks(), ids: make([]uint32, len(v.order))}
	recorded := g.Recorded()
	var list []weighted
	var from, to []ntconv.Frame
	for rest := v.order; len(rest) > 0; {
		list, rest = v.weigh(list[:0], rest)
		for _, w := range list {
			row := &v.p.s.rows[w.rows[0]]
			from = from[:0]
			if row.stack != 0 {
				from = recorded.AppendFrames(from, w.process, v.p.b.pool.stacks.At(row.stack), row.first)
			}
			v.names.count(from, w.events, w.value)
			id := uint32(0)
			if to = g.AppendGrouped(to[:0], w.process, from, w.events); len(to) > 0 {
				id = shown.stacks.find(&ntconv.Stack{Frames: to})
			}
			for _, r := range w.rows {
				shown.ids[r] = id
			}
		}
	}
	return shown
}

// weigh appends the rows of the first stack of order to list, by their recorded frames, and returns the other rows.
func (v *visit) weigh(list []weighted, order []uint32) (by []weighted, rest []uint32) {
	if len(v.known) > fewClasses { // clear takes time proportional to the largest size of the map
		v.known = map[frameKey]uint32{}
	}
	clear(v.known)
	stack := v.stack(order[0])
	for len(order) > 0 && v.stack(order[0]) == stack {
		r := order[0]
		order = order[1:]
		row := &v.p.s.rows[r]
		k := frameKey{v.p.s.owners[row.owner].process, row.epoch}
		i, ok := v.known[k]
		if !ok {
			i = uint32(len(list))
			v.known[k] = i
			list = appendWeighted(list, k)
		}
		w := &list[i]
		w.rows = append(w.rows, r)
		values := v.p.s.values[int(r)*len(v.sums):][:len(v.sums)]
		if len(v.p.Adopted) > 0 {
			addTo(&w.events, 1) // the number of events per imported sample is unknown
		} else {
			addTo(&w.events, v.value(0, values[0])) // the first column is a count
		}
		if v.p.Main < len(values) {
			addTo(&w.value, v.value(v.p.Main, values[v.p.Main]))
		}
	}
	return list, order
}

// appendWeighted appends an element without rows. It reuses the memory of an earlier element's rows.
func appendWeighted(list []weighted, k frameKey) []weighted {
	if len(list) == cap(list) {
		return append(list, weighted{frameKey: k})
	}
	list = list[:len(list)+1]
	last := &list[len(list)-1]
	*last = weighted{frameKey: k, rows: last.rows[:0]}
	return list
}
