package parquet

import (
	"bytes"
	"io"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/ntconv/ntconv/internal/tables"
)

type closing struct{ *bytes.Buffer }

func (closing) Close() error { return nil }

// Rows that refer to much memory end a row group early, so that the buffered memory is limited.
func TestSortedIsBoundedInBytes(t *testing.T) {
	var out bytes.Buffer
	s, err := newSorted[tables.Interval](&files{create: func(string) (io.WriteCloser, error) { return closing{&out}, nil }})
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
	f, err := parquet.OpenFile(bytes.NewReader(out.Bytes()), int64(out.Len()))
	if err != nil {
		t.Fatal(err)
	}
	if n, want := len(f.RowGroups()), (rows*size+groupBytes-1)/groupBytes; n != want || f.NumRows() != rows {
		t.Errorf("%d row groups of %d rows, want %d of %d", n, f.NumRows(), want, rows)
	}
	for _, g := range f.RowGroups() {
		list := make([]tables.Interval, g.NumRows())
		if _, err := parquet.NewGenericRowGroupReader[tables.Interval](g).Read(list); err != nil && err != io.EOF {
			t.Fatal(err)
		}
		for i := 1; i < len(list); i++ {
			if list[i].TSNanos < list[i-1].TSNanos {
				t.Fatal("a row group is not sorted")
			}
		}
	}
}
