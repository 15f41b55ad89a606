package parquetwriter

import (
	"github.com/parquet-go/parquet-go"
)

// shortBounds returns the schema of rows of type T whose column indexers truncate the bounds of a page immediately.
// parquet-go keeps whole bounds until the end of the file and truncates them then, which costs some hundred bytes per
// page of payloads. Columns with a dictionary are unchanged, because they have few pages.
func shortBounds[T any]() *parquet.Schema {
	schema := parquet.SchemaOf(new(T))
	root := &orderedGroup{}
	for _, f := range schema.Fields() {
		if f.Leaf() && f.Type().Kind() == parquet.ByteArray && f.Encoding() != &parquet.RLEDictionary {
			f = shortField{f}
		}
		root.fields = append(root.fields, f)
	}
	return parquet.NewSchema(schema.Name(), root)
}

// A shortField is a column with truncated bounds.
type shortField struct{ parquet.Field }

func (f shortField) Type() parquet.Type { return shortType{f.Field.Type()} }

type shortType struct{ parquet.Type }

func (t shortType) NewColumnIndexer(limit int) parquet.ColumnIndexer {
	return shortIndexer{t.Type.NewColumnIndexer(limit), limit}
}

// A shortIndexer truncates bounds to limit bytes before it passes them to the indexer of parquet-go.
type shortIndexer struct {
	parquet.ColumnIndexer
	limit int
}

// IndexPage implements parquet.ColumnIndexer.
func (x shortIndexer) IndexPage(numValues, numNulls int64, lower, upper parquet.Value) {
	x.ColumnIndexer.IndexPage(numValues, numNulls, shortLower(lower, x.limit), shortUpper(upper, x.limit))
}

// shortLower returns a value of at most limit bytes that is not greater than v.
func shortLower(v parquet.Value, limit int) parquet.Value {
	if v.Kind() != parquet.ByteArray || len(v.ByteArray()) <= limit {
		return v
	}
	return parquet.ByteArrayValue(v.ByteArray()[:limit])
}

// shortUpper returns a value of at most limit bytes that is not less than v, and v itself if no such value exists.
func shortUpper(v parquet.Value, limit int) parquet.Value {
	if v.Kind() != parquet.ByteArray || len(v.ByteArray()) <= limit {
		return v
	}
	b := append([]byte(nil), v.ByteArray()[:limit]...)
	for i := len(b) - 1; i >= 0; i-- {
		if b[i]++; b[i] != 0 {
			return parquet.ByteArrayValue(b)
		}
	}
	return v
}
