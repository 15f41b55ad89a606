package timeline

import (
	"cmp"
	"slices"

	"github.com/ntconv/ntconv/internal/span"
	"github.com/ntconv/ntconv/internal/spool"
)

// ties are the slices that begin at one time. Records of slices are in the spool in the order of their ends, so what
// encloses a slice with the same times comes after it.
type ties struct {
	at      int64
	records []tie
	data    []byte // of all records
	spans   map[span.Context]int
	order   []int
	record  sliceRecord
}

// A tie is one of the slices that begin at one time.
type tie struct {
	rank      int64
	from, to  int // of its record in data
	serial    uint64
	context   span.Context
	parent    span.Context // zero if it has none
	isOrdered bool
}

// maxTies limits the slices that are put in order together. Others with the same time follow.
const maxTies = 1 << 12

// holds reports whether a record belongs to the slices that are held.
func (t *ties) holds(key spool.Key, rec []byte) bool {
	return isSlice(rec) && (len(t.records) == 0 || key.Time == t.at && len(t.records) < maxTies)
}

func isSlice(rec []byte) bool { return len(rec) > 0 && recordKind(rec[0]) == recordSlice }

// put adds the record of a slice, which it copies.
func (t *ties) put(key spool.Key, rec []byte) {
	t.at = key.Time
	from := len(t.data)
	t.data = append(t.data, rec...)
	t.records = append(t.records, tie{rank: key.Rank, from: from, to: len(t.data)})
}

// sort returns the numbers of the records in the order in which the slices begin: longer ones first, of equally long
// ones those that were opened first; but none before its parent.
func (t *ties) sort(titles *titleTable) ([]int, error) {
	t.order = t.order[:0]
	if len(t.records) == 1 {
		t.order = append(t.order, 0)
		return t.order, nil
	}
	if t.spans == nil {
		t.spans = map[span.Context]int{}
	}
	clear(t.spans)
	for i := range t.records {
		if !t.describe(&t.records[i], titles) {
			return nil, errRecord
		}
	}
	slices.SortStableFunc(
		t.records,
		func(a, b tie) int { return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(a.serial, b.serial)) },
	)
	for i := range t.records {
		if r := &t.records[i]; !r.context.ID.IsZero() {
			t.spans[r.context] = i
		}
	}
	for i := range t.records {
		t.add(i)
	}
	return t.order, nil
}

// describe reads from a record what decides about the order.
func (t *ties) describe(r *tie, titles *titleTable) bool {
	c := cursor{b: t.data[r.from:r.to]}
	c.byte()
	c.number()
	t.record.read(&c, titles)
	r.serial, r.context = t.record.serial, t.record.context
	if t.record.flags&sliceParent != 0 {
		r.parent = span.Context{TraceID: r.context.TraceID, ID: t.record.parent}
	}
	return !c.failed
}

// add puts a slice into the order, after its parent. Parents of recorded spans may refer to each other in a circle.
func (t *ties) add(i int) {
	r := &t.records[i]
	if r.isOrdered {
		return
	}
	r.isOrdered = true
	if parent, ok := t.spans[r.parent]; ok && !r.parent.ID.IsZero() {
		t.add(parent)
	}
	t.order = append(t.order, i)
}

func (t *ties) clear() { t.records, t.data = t.records[:0], t.data[:0] }
