package rows

import (
	"cmp"
	"slices"
)

// Limits of the rows that are buffered for a row group.
const (
	groupRows  = 1 << 17
	groupBytes = 24 << 20 // as far as callers state the memory of rows
	// sortedPiece is the number of rows per piece. A single slice would be copied whenever it grows and would leave
	// garbage as large as the buffered rows.
	sortedPiece = 128
)

// sortsGroups reports whether the row groups of a table are sorted even if events are not in time order.
func sortsGroups(table string) bool {
	return table == "samples" || table == "spans" || table == "intervals"
}

// A sorted buffers the rows of a row group and sorts them by time, for tables whose rows become known out of order. The
// strings in the rows must remain valid until flush.
type sorted[T any] struct {
	table  *table[T]
	pieces []*[sortedPiece]T // kept for the next row group
	order  []position        // one per row
	bytes  int
}

// A position is the sort key of a buffered row, and its index.
type position struct {
	nanos, id int64
	index     int32
}

func newSorted[T any](out *output) (*sorted[T], error) {
	t, err := newTable[T](out)
	return &sorted[T]{table: t}, err
}

// add adds a row with a time. Rows of equal times are sorted by id, then by the order of the calls. bytes is the memory
// that only this row refers to.
func (s *sorted[T]) add(row *T, nanos, id int64, bytes int) {
	if s.table.discard {
		return
	}
	n := len(s.order)
	if n == len(s.pieces)*sortedPiece {
		s.pieces = append(s.pieces, new([sortedPiece]T))
	}
	s.order = append(s.order, position{nanos, id, int32(n)})
	*s.at(n) = *row
	if s.bytes += bytes; len(s.order) == groupRows || s.bytes >= groupBytes {
		s.flush()
	}
}

// at returns the buffered row with index i.
func (s *sorted[T]) at(i int) *T { return &s.pieces[i/sortedPiece][i%sortedPiece] }

// flush writes the buffered rows as a row group.
func (s *sorted[T]) flush() {
	slices.SortFunc(s.order, func(a, b position) int {
		return cmp.Or(cmp.Compare(a.nanos, b.nanos), cmp.Compare(a.id, b.id), cmp.Compare(a.index, b.index))
	})
	for _, p := range s.order {
		*s.table.row() = *s.at(int(p.index))
	}
	s.table.endGroup()
	for _, piece := range s.pieces {
		clear(piece[:]) // so that they keep nothing alive
	}
	s.order, s.bytes = s.order[:0], 0
}

func (s *sorted[T]) close() error {
	if len(s.order) > 0 {
		s.flush()
	}
	return s.table.close()
}
