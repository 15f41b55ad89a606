package parquetwriter

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"testing"

	"github.com/parquet-go/parquet-go"
)

// everyColumn has each kind of column: required, optional and as a list, with names that are not sorted.
func everyColumn() []ColumnSpec {
	var columns []ColumnSpec
	for kind := KindTimestamp; kind >= KindInt32; kind-- {
		columns = append(columns,
			ColumnSpec{Name: fmt.Sprintf("z required.%d", kind), Kind: kind},
			ColumnSpec{Name: fmt.Sprintf("optional,%d", kind), Kind: kind, Optional: true},
			ColumnSpec{Name: fmt.Sprintf("list %d", kind), Kind: kind, List: true},
			ColumnSpec{Name: fmt.Sprintf("\"optional list\" %d", kind), Kind: kind, List: true, Optional: true})
	}
	columns = append(columns, ColumnSpec{Name: "dictionary", Kind: KindString, Dict: true, Optional: true}, ColumnSpec{Name: "delta", Kind: KindInt64, Delta: true})
	return columns
}

// addRow adds row i and returns the values of its columns as strings.
func addRow(c *ColumnsWriter, columns []ColumnSpec, i int) (row []string) {
	for at, column := range columns {
		var text string
		switch {
		case column.Optional && (i+at)%3 == 0:
			c.Null(at)
			text = "null"
		case column.List:
			for j := range (i + at) % 4 {
				text += addValue(c, at, column.Kind, i*7+j) + ";"
			}
			c.EndList(at)
			text = "[" + text + "]"
		default:
			text = addValue(c, at, column.Kind, i)
		}
		row = append(row, text)
	}
	return row
}

func addValue(c *ColumnsWriter, at int, kind Kind, n int) string {
	switch kind {
	case KindInt32:
		c.Int32(at, int32(n)-50)
		return fmt.Sprint(int32(n) - 50)
	case KindInt64, KindTimestamp:
		c.Int(at, math.MinInt64+int64(n))
		return fmt.Sprint(math.MinInt64 + int64(n))
	case KindDouble:
		c.Float(at, float64(n)/3)
		return fmt.Sprint(float64(n) / 3)
	case KindBool:
		c.Bool(at, n%3 == 0)
		return fmt.Sprint(n%3 == 0)
	}
	text := fmt.Sprintf("%d é %s", n%100, string(make([]byte, n%5)))
	buf := []byte(text)
	if n%2 == 0 {
		c.Static(at, text)
	} else {
		c.Text(at, buf)
		clear(buf) // Text has copied it
	}
	return text
}

// readBack returns the rows of a file in the form of addRow.
func readBack(t *testing.T, data []byte) (names []string, rows [][]string, groups []int64) {
	t.Helper()
	f, err := parquet.OpenFile(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range f.Root().Columns() {
		names = append(names, c.Name())
	}
	for _, g := range f.RowGroups() {
		groups = append(groups, g.NumRows())
		reader := g.Rows()
		buf := make([]parquet.Row, 100)
		for {
			n, err := reader.ReadRows(buf)
			for _, row := range buf[:n] {
				rows = append(rows, rowText(f, row))
			}
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		reader.Close()
	}
	return names, rows, groups
}

func rowText(f *parquet.File, row parquet.Row) (list []string) {
	columns := f.Root().Columns()
	row.Range(func(i int, values []parquet.Value) bool {
		c := columns[i]
		if c.Leaf() {
			list = append(list, values[0].String())
			if values[0].IsNull() {
				list[i] = "null"
			}
			return true
		}
		level := 0
		if c.Optional() {
			level = 1
		}
		text := ""
		for _, v := range values {
			if v.DefinitionLevel() > level {
				text += v.String() + ";"
			}
		}
		if text = "[" + text + "]"; values[0].DefinitionLevel() < level {
			text = "null"
		}
		list = append(list, text)
		return true
	})
	return list
}

// Written rows are read back in the order of the columns, for any number of rows and row groups.
func TestColumns(t *testing.T) {
	for _, n := range []int{0, 1, 17, 2500} {
		for _, group := range []int64{0, 1000} {
			var out bytes.Buffer
			columns := everyColumn()
			c, err := NewColumnsWriter(&out, columns, int64(n), &Options{RowGroupRows: group, Metadata: map[string]string{"key": "value"}})
			if err != nil {
				t.Fatal(err)
			}
			var want [][]string
			for i := range n {
				want = append(want, addRow(c, columns, i))
				if err := c.EndRow(); err != nil {
					t.Fatal(err)
				}
			}
			if err := c.Close(); err != nil {
				t.Fatal(err)
			}
			names, got, groups := readBack(t, out.Bytes())
			for i, column := range columns {
				if names[i] != column.Name {
					t.Errorf("column %d: got %q, want %q", i, names[i], column.Name)
				}
			}
			if len(got) != n {
				t.Fatalf("got %d rows, want %d", len(got), n)
			}
			for i := range want {
				if !slices.Equal(got[i], want[i]) {
					t.Fatalf("row %d of %d:\ngot  %q\nwant %q", i, n, got[i], want[i])
				}
			}
			for _, rows := range groups {
				if group > 0 && rows > group {
					t.Errorf("row group of %d rows, want at most %d", rows, group)
				}
			}
		}
	}
}

// A row group ends when it has many bytes, even if it has few rows.
func TestColumnsRowGroupBytes(t *testing.T) {
	if testing.Short() {
		t.Skip("short mode: other tests run these goroutines with less data")
	}
	var out bytes.Buffer
	c, err := NewColumnsWriter(&out, []ColumnSpec{{Name: "text", Kind: KindString}}, 200, &Options{})
	if err != nil {
		t.Fatal(err)
	}
	text := make([]byte, 1<<20)
	for i := range 200 {
		text[i] = 'a'
		c.Text(0, text)
		if err := c.EndRow(); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	if _, _, groups := readBack(t, out.Bytes()); len(groups) < 3 || len(groups) > 5 {
		t.Errorf("200 MiB are in row groups of %v rows, want about 64 MiB each", groups)
	}
}

func TestColumnsErrors(t *testing.T) {
	for _, columns := range [][]ColumnSpec{nil, make([]ColumnSpec, maxColumns+1), {{Name: "a"}}} {
		if _, err := NewColumnsWriter(io.Discard, columns, 0, &Options{}); err == nil {
			t.Errorf("%d columns: no error", len(columns))
		}
	}
	c, err := NewColumnsWriter(io.Discard, []ColumnSpec{{Name: "a", Kind: KindInt64}, {Name: "b", Kind: KindInt64, List: true}}, 0, &Options{})
	if err != nil {
		t.Fatal(err)
	}
	c.Int(0, 1)
	c.EndList(1)
	c.EndRow()
	c.Int(0, 1)
	c.EndRow()
	if err := c.Close(); !errors.Is(err, errRow) {
		t.Errorf("a row without a list: got %v, want %v", err, errRow)
	}
}
