package live

import (
	"cmp"
	"slices"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/data/bin"
	"github.com/ntconv/ntconv/internal/data/message"
	"github.com/ntconv/ntconv/sample"
)

// A Ranking is the functions with samples in a window.
type Ranking struct {
	Kind    sample.Kind
	Type    sample.Type // of values
	Total   int64       // the value that is 100%
	Samples uint64
	Rows    []Row // in no order, see Sort
}

// A Row is a function of a Ranking.
type Row struct {
	Function  string
	Flat, Cum int64 // value of the function itself, and including its callees
}

// Rank adds up the samples of a kind by function. running omits threads that were in native code.
func (w *Window) Rank(k sample.Kind, running bool) *Ranking {
	w.rank++
	w.Advance(w.latest)
	r := &Ranking{Kind: k}
	a := w.kinds[k]
	if a == nil {
		return r
	}
	r.Type = a.main
	index := map[string]int{}
	var last []int // by row: the cell that its cumulative value got last, from 1
	n := 0
	add := func(name string, value int64, isLeaf bool) {
		i, known := index[name]
		if !known {
			i = len(r.Rows)
			index[name] = i
			r.Rows, last = append(r.Rows, Row{Function: name}), append(last, 0)
		}
		row := &r.Rows[i]
		if isLeaf {
			row.Flat = bin.AddClamped(row.Flat, value)
		}
		if last[i] != n { // a recursive function counts once
			last[i] = n
			row.Cum = bin.AddClamped(row.Cum, value)
		}
	}
	for c, s := range a.all {
		if running && c.native {
			continue
		}
		n++
		r.Samples += s.samples
		r.Total = bin.AddClamped(r.Total, s.value)
		if c.leaf != "" {
			add(c.leaf, s.value, true)
		}
		for i, name := range w.namesOf(c.place) {
			add(name, s.value, i == 0 && c.leaf == "")
		}
	}
	return r
}

// Sort sorts the rows by their own values, or by cumulative ones.
func (r *Ranking) Sort(cum bool) {
	slices.SortFunc(r.Rows, func(a, b Row) int {
		first, second := cmp.Compare(b.Flat, a.Flat), cmp.Compare(b.Cum, a.Cum)
		if cum {
			first, second = second, first
		}
		return cmp.Or(first, second, cmp.Compare(a.Function, b.Function))
	})
}

// keepNames is the number of rankings after which names are resolved again: another function may have the address.
const keepNames = 10

// namesOf returns the names of the functions of a place, leaf first. Names that are not known yet are asked for each time.
func (w *Window) namesOf(p *place) []string {
	if p.stack == 0 || p.resolved > 0 && !p.open && w.rank-p.resolved < keepNames {
		return p.names
	}
	p.names, p.resolved, p.open = p.names[:0], w.rank, false
	for _, f := range w.namer.AppendFrames(nil, p.process, p.in.At(p.stack), p.time) {
		p.open = p.open || f.Flags&ntconv.FrameUnresolved != 0
		p.names = append(p.names, nameOf(&f))
	}
	return p.names
}

// Unnamed returns the number of stacks in the last ranking with a function that has no name, of those that have appeared since the
// last call of Learned.
func (w *Window) Unnamed() (n int) {
	for _, p := range w.places {
		if p.open && !p.asked {
			n++
		}
	}
	return n
}

// Learned states that the Namer has learned all names that the process knows: functions without a name have none.
func (w *Window) Learned() {
	for _, p := range w.places {
		p.asked = p.open
	}
}

// nameOf returns the name under which reports list a frame.
func nameOf(f *ntconv.Frame) string {
	switch {
	case f.Func != nil && f.Func.Name != "":
		return f.Func.Name
	case f.Mapping != nil:
		return message.Unnamed(f.Mapping.File)
	}
	return message.Unnamed("")
}
