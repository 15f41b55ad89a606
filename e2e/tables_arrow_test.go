//go:build arrow

package e2e

import (
	"math"
	"math/big"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
)

func init() { tableReaders = append(tableReaders, readArrow) }

// readArrow reads files with arrow-go.
func readArrow(t *testing.T, files []string) (list []reading) {
	t.Helper()
	for _, name := range files {
		r := reading{File: name, Reader: "arrow-go", Columns: map[string]columnSum{}}
		if err := r.arrow(t); err != nil {
			r.Error = err.Error()
		}
		list = append(list, r)
	}
	return list
}

// arrow stores the results of arrow-go for the file.
func (r *reading) arrow(t *testing.T) error {
	f, err := file.OpenParquetFile(r.File, false)
	if err != nil {
		return err
	}
	defer f.Close()
	in, err := pqarrow.NewFileReader(f, pqarrow.ArrowReadProperties{}, memory.DefaultAllocator)
	if err != nil {
		return err
	}
	table, err := in.ReadTable(t.Context())
	if err != nil {
		return err
	}
	defer table.Release()
	r.Rows = table.NumRows()
	for i := range int(table.NumCols()) {
		column := table.Column(i)
		sum, nulls := new(big.Int), int64(0)
		for _, chunk := range column.Data().Chunks() {
			nulls += int64(chunk.NullN())
			for row := range chunk.Len() {
				if chunk.IsValid(row) {
					sum.Add(sum, arrowWeight(t, chunk, row))
				}
			}
		}
		text := sum.String()
		r.Columns[column.Name()] = columnSum{nulls, &text}
	}
	return nil
}

// arrowWeight returns the contribution of a value to the sum of its column.
func arrowWeight(t *testing.T, a arrow.Array, i int) *big.Int {
	switch a := a.(type) {
	case *array.Int64:
		return big.NewInt(a.Value(i))
	case *array.Int32:
		return big.NewInt(int64(a.Value(i)))
	case *array.Date32:
		return big.NewInt(int64(a.Value(i)))
	case *array.Timestamp:
		return big.NewInt(int64(a.Value(i)))
	case *array.Boolean:
		if a.Value(i) {
			return big.NewInt(1)
		}
		return new(big.Int)
	case *array.Float64:
		if v := a.Value(i); v == math.Floor(v) && math.Abs(v) <= 9007199254740991 {
			n, _ := big.NewFloat(v).Int(nil)
			return n
		}
		return new(big.Int)
	case *array.String:
		return big.NewInt(int64(len(a.Value(i))))
	case *array.Binary:
		return big.NewInt(int64(len(a.Value(i))))
	case *array.Map:
		begin, end := a.ValueOffsets(i)
		return big.NewInt(end - begin)
	case *array.List:
		begin, end := a.ValueOffsets(i)
		return big.NewInt(end - begin)
	}
	t.Errorf("a column of type %s", a.DataType())
	return new(big.Int)
}
