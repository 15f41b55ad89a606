package parquet

import (
	"cmp"
	"slices"
)

// Limits of the rows that wait for the others of their row group.
const (
	groupRows  = 1 << 17
	groupBytes = 24 << 20 // as far as rows state their bytes
)

// sortsGroups reports whether a table's row groups are sorted in any order of events.
func sortsGroups(table string) bool {
	return table == "samples" || table == "spans" || table == "intervals"
}

// A sorted collects the rows of a row group and sorts them by time, for tables whose rows become known in another order. Texts in the
// rows must stay valid.
type sorted[T any] struct {
	table *table[T]
	rows  []T
	order []position
	bytes int
}

// A position is where a row is among those of its group.
type position struct {
	nanos, id int64
	index     int32
}

func newSorted[T any](files *files) (*sorted[T], error) {
	t, err := newTable[T](files)
	return &sorted[T]{table: t}, err
}

// add adds a row with a time. Rows of the same time are in the order of id, and then in that of the calls. bytes is the memory of what
// only the row refers to.
func (s *sorted[T]) add(row *T, nanos, id int64, bytes int) {
	if s.table.discard {
		return
	}
	s.order = append(s.order, position{nanos, id, int32(len(s.rows))})
	s.rows = append(s.rows, *row)
	if s.bytes += bytes; len(s.rows) == groupRows || s.bytes >= groupBytes {
		s.flush()
	}
}

// flush writes the rows as a row group.
func (s *sorted[T]) flush() {
	slices.SortFunc(s.order, func(a, b position) int {
		return cmp.Or(cmp.Compare(a.nanos, b.nanos), cmp.Compare(a.id, b.id), cmp.Compare(a.index, b.index))
	})
	for _, p := range s.order {
		*s.table.row() = s.rows[p.index]
	}
	s.table.endGroup()
	clear(s.rows)
	s.rows, s.order, s.bytes = s.rows[:0], s.order[:0], 0
}

func (s *sorted[T]) close() error {
	if len(s.rows) > 0 {
		s.flush()
	}
	return s.table.close()
}
