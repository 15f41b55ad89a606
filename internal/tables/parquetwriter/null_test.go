package parquetwriter

import (
	"bytes"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
)

// An optional string that is empty is NULL, whether or not the string refers to memory.
func TestEmptyTextIsNull(t *testing.T) {
	type row struct {
		N    int64  `parquet:"n"`
		Text string `parquet:"text,dict,optional"`
		More string `parquet:"more,optional"`
	}
	var b bytes.Buffer
	w := NewWriter[row](&b, &Options{})
	long := strings.Repeat("a", 10)
	var rows []row
	for i := range 200 { // runs of all lengths, with and without a value
		r := row{N: int64(i), Text: long[:0], More: long[5:5]}
		if i == 1 { // parquet-go fails if as many rows with a value follow rows without, and then rows without
			r.Text = "a"
		}
		if i%64 >= 20 && i%64 < 40 || i%7 == 3 {
			r.More = "b"
		}
		rows = append(rows, r)
	}
	if err := w.Write(rows); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	f, err := parquet.OpenFile(bytes.NewReader(b.Bytes()), int64(b.Len()))
	if err != nil {
		t.Fatal(err)
	}
	got := make([]parquet.Row, 300)
	n, _ := f.RowGroups()[0].Rows().ReadRows(got)
	if n != len(rows) {
		t.Fatalf("%d rows", n)
	}
	for i, r := range got[:n] {
		for c, text := range []string{rows[i].Text, rows[i].More} {
			if r[c+1].IsNull() != (text == "") {
				t.Errorf("row %d, column %d: %#v, want %q", i, c+1, r[c+1], text)
			}
		}
	}
}
