package command

import (
	"bytes"
	"path/filepath"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/ntconv/ntconv/internal/tables"
)

// A text column of a table that may be NULL is never empty: what is unknown or absent is NULL.
func TestNoEmptyText(t *testing.T) {
	nulls := 0
	for _, name := range []string{"alloc-verbose", "waits", "activities", "three-processes-v6"} {
		dir := t.TempDir()
		if r := invoke(t, dir, nil, "to", "parquet", "--kind", "all", "-q", "-o", "tables/", trace(t, name)); r.code > exitInput {
			t.Fatalf("%s: code %d: %s", name, r.code, r.stderr)
		}
		for _, table := range tables.All() {
			b := contentAt(t, filepath.Join(dir, "tables", table.Name+".parquet"))
			f, err := parquet.OpenFile(bytes.NewReader(b), int64(len(b)))
			must(t, err)
			nulls += emptyTexts(f, t, name+": "+table.Name)
		}
	}
	if nulls < 1000 {
		t.Errorf("only %d texts are NULL", nulls)
	}
}

// emptyTexts reports the text columns with values that are empty but not NULL, and returns the number of NULLs.
func emptyTexts(f *parquet.File, t *testing.T, what string) (nulls int) {
	found := map[string]int{}
	for _, group := range f.RowGroups() {
		rows, buffer := group.Rows(), make([]parquet.Row, 64)
		for {
			read, err := rows.ReadRows(buffer)
			for _, row := range buffer[:read] {
				for _, v := range row {
					column := f.Schema().Columns()[v.Column()]
					leaf, ok := f.Schema().Lookup(column...)
					switch {
					case !ok || len(column) != 1 || !leaf.Node.Optional() || leaf.Node.Type().Kind() != parquet.ByteArray:
					case v.IsNull():
						nulls++
					case len(v.ByteArray()) == 0:
						found[column[0]]++
					}
				}
			}
			if err != nil || read == 0 {
				break
			}
		}
	}
	if len(found) > 0 {
		t.Errorf("%s: empty values: %v", what, found)
	}
	return nulls
}
