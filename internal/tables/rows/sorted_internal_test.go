package rows

import (
	"slices"
	"testing"

	"github.com/ntconv/ntconv/internal/tables"
)

// Rows that refer to much memory end a row group early, so that the buffered memory is limited.
func TestSortedIsBoundedInBytes(t *testing.T) {
	r := new(recorder[tables.Interval])
	s, err := newSorted[tables.Interval](&output{receiver: r})
	if err != nil {
		t.Fatal(err)
	}
	const rows, size = 100, 1 << 20
	for i := range rows {
		nanos := int64(i * 37 % rows)
		s.add(&tables.Interval{Kind: "gc", TSNanos: nanos}, nanos, 0, size)
		if s.bytes >= groupBytes || len(s.order) > groupBytes/size {
			t.Fatalf("%d rows of %d bytes wait", len(s.order), s.bytes)
		}
	}
	if err := s.close(); err != nil {
		t.Fatal(err)
	}
	if n, want := len(r.groups), (rows*size+groupBytes-1)/groupBytes; n != want || len(r.rows) != rows {
		t.Errorf("%d row groups of %d rows, want %d of %d", n, len(r.rows), want, rows)
	}
	begin := 0
	for _, end := range r.groups {
		if !slices.IsSortedFunc(r.rows[begin:end], func(a, b tables.Interval) int { return int(a.TSNanos - b.TSNanos) }) {
			t.Fatal("a row group is not sorted")
		}
		begin = end
	}
}
