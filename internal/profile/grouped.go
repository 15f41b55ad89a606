package profile

import (
	"slices"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/data/bin"
)

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

// regroup resolves the stacks of all rows and numbers what g shows for them. It returns nil if g shows every stack as it
// was recorded. Otherwise it counts unresolved frames, because the report is about the recorded stacks. v.order must be
// sorted by recorded stacks.
func (v *visit) regroup(g ntconv.FrameGrouper) *shownStacks {
	var shown *shownStacks
	var list []weighted
	var from, to []ntconv.Frame
	for rest := v.order; len(rest) > 0; {
		before := v.order[:len(v.order)-len(rest)]
		list, rest = v.weigh(list[:0], rest)
		for i := range list {
			w := &list[i]
			from = v.recorded(from[:0], w)
			v.names.count(from, w.events, w.value)
			to = g.AppendGrouped(to[:0], w.process, from, w.events)
			if shown == nil && !slices.Equal(from, to) {
				shown = &shownStacks{stacks: NewStacks(), ids: make([]uint32, len(v.order))}
				v.keep(shown, before, list[:i])
			}
			if shown != nil {
				shown.number(w.rows, to)
			}
		}
	}
	if shown == nil {
		v.names = names{}
	}
	return shown
}

// keep numbers stacks that are shown as they were recorded: those of the rows of order, and list.
func (v *visit) keep(shown *shownStacks, order []uint32, list []weighted) {
	var frames []ntconv.Frame
	for i := range list {
		frames = v.recorded(frames[:0], &list[i])
		shown.number(list[i].rows, frames)
	}
	var earlier []weighted
	for len(order) > 0 {
		earlier, order = v.weigh(earlier[:0], order)
		for i := range earlier {
			frames = v.recorded(frames[:0], &earlier[i])
			shown.number(earlier[i].rows, frames)
		}
	}
}

// recorded appends the recorded frames of rows.
func (v *visit) recorded(dst []ntconv.Frame, w *weighted) []ntconv.Frame {
	row := &v.p.s.rows[w.rows[0]]
	if row.stack == 0 {
		return dst
	}
	return v.namer.AppendFrames(dst, w.process, v.p.b.pool.stacks.At(row.stack), row.first)
}

// number assigns frames to rows.
func (s *shownStacks) number(rows []uint32, frames []ntconv.Frame) {
	id := uint32(0)
	if len(frames) > 0 {
		id = s.stacks.find(&ntconv.Stack{Frames: frames})
	}
	for _, r := range rows {
		s.ids[r] = id
	}
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
			w.events = bin.AddClamped(w.events, 1) // the number of events per imported sample is unknown
		} else {
			w.events = bin.AddClamped(w.events, v.value(0, values[0])) // the first column is a count
		}
		if v.p.Main < len(values) {
			w.value = bin.AddClamped(w.value, v.value(v.p.Main, values[v.p.Main]))
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
