package parquetreader

import (
	"bytes"
	"io"
	"testing"

	"github.com/ntconv/ntconv/internal/tables/parquetwriter"
)

// write returns a file with rows.
func write[T any](t testing.TB, rows []T, o *parquetwriter.Options) []byte {
	t.Helper()
	var b bytes.Buffer
	w := parquetwriter.NewWriter[T](&b, o)
	if err := w.Write(rows); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// readAll reads all rows of a file in batches of n.
func readAll[T any](t testing.TB, data []byte, n int) []T {
	t.Helper()
	f, err := Open(bytes.NewReader(data), int64(len(data)), nil)
	if err != nil {
		t.Fatal(err)
	}
	r, err := NewReader[T](f)
	if err != nil {
		t.Fatal(err)
	}
	var all []T
	for {
		rows := make([]T, n)
		k, err := r.Read(rows)
		all = append(all, rows[:k]...)
		if err == io.EOF {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}
