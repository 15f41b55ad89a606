package timeline

import (
	"cmp"
	"slices"

	"github.com/ntconv/ntconv/internal/data/bin"
	"github.com/ntconv/ntconv/internal/files/spool"
	"github.com/ntconv/ntconv/internal/span"
)

// ties holds the slices that begin at one time. The spool has records of slices in the order of their ends, so a slice
// that encloses another one with the same times comes after it.
type ties struct {
	at      int64
	records []tie
	data    []byte // contents of all records
	spans   map[span.Context]int
	order   []int       // result of sort
	record  sliceRecord // buffer of describe
}

// A tie is one of the slices in ties. sort sets the members after to.
type tie struct {
	rank      int64
	from, to  int // range of its record in data
	serial    uint64
	context   span.Context
	parent    span.Context // zero if it has no parent
	isOrdered bool         // add has been called
}

// maxTies limits the slices that are sorted together. Further slices with the same time follow in the order of the
// spool.
const maxTies = 1 << 12

// holds reports whether a record must be added to the held slices before they begin.
func (t *ties) holds(key spool.Key, rec []byte) bool {
	return isSlice(rec) && (len(t.records) == 0 || key.Time == t.at && len(t.records) < maxTies)
}

func isSlice(rec []byte) bool { return len(rec) > 0 && recordKind(rec[0]) == recordSlice }

// put adds a copy of the record of a slice.
func (t *ties) put(key spool.Key, rec []byte) {
	t.at = key.Time
	from := len(t.data)
	t.data = append(t.data, rec...)
	t.records = append(t.records, tie{rank: key.Rank, from: from, to: len(t.data)})
}

// sort returns the indices of the records in the order in which the slices begin: longer slices first, equally long
// ones in the order in which they were opened, but no slice before its parent.
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
	slices.SortStableFunc(t.records, func(a, b tie) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(a.serial, b.serial))
	})
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

// describe decodes the members of a record that determine the order.
func (t *ties) describe(r *tie, titles *titleTable) bool {
	c := bin.Reader{B: t.data[r.from:r.to]}
	c.Byte()
	c.Uvarint32()
	t.record.read(&c, titles)
	r.serial, r.context = t.record.serial, t.record.context
	if t.record.flags&sliceParent != 0 {
		r.parent = span.Context{TraceID: r.context.TraceID, ID: t.record.parent}
	}
	return !c.Failed
}

// add appends a slice to the order, after its parent. Parents of recorded spans may form a cycle; isOrdered ends it.
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
