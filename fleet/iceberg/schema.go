package iceberg

import (
	"bytes"
	"fmt"
	"io"
	"slices"

	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
	"github.com/apache/iceberg-go"
	iceio "github.com/apache/iceberg-go/io"
	"github.com/apache/iceberg-go/table"

	"github.com/ntconv/ntconv/internal/tables/catalog"
	"github.com/ntconv/ntconv/internal/tables/dataset"
)

// promisedSchema returns the promised columns of a table.
func promisedSchema(write func(io.Writer) error) (*iceberg.Schema, error) {
	var b bytes.Buffer
	if err := write(&b); err != nil {
		return nil, err
	}
	return schemaOf(bytes.NewReader(b.Bytes()))
}

// schemaOf returns the columns of a Parquet file.
func schemaOf(f interface {
	io.ReaderAt
	io.Seeker
},
) (*iceberg.Schema, error) {
	r, err := file.NewParquetReader(f)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	columns, err := pqarrow.FromParquet(r.MetaData().Schema, nil, nil)
	if err != nil {
		return nil, err
	}
	return table.ArrowSchemaToIcebergWithFreshIDs(columns, false)
}

// optional returns a schema whose columns may all be NULL: a later file of a table without a promise may lack any of them.
func optional(s *iceberg.Schema) *iceberg.Schema {
	fields := slices.Clone(s.Fields())
	for i := range fields {
		fields[i].Required = false
	}
	return iceberg.NewSchema(0, fields...)
}

// schemasOf returns the columns that a table needs: the promised ones, if there are, then those of each group of files with equal
// columns. seen has the groups that need not be read again.
func schemasOf(t *catalog.Table, files []catalog.File, fs iceio.IO, seen map[string]bool) ([]*iceberg.Schema, error) {
	var list []*iceberg.Schema
	if t.Promised != nil {
		s, err := promisedSchema(t.Promised)
		if err != nil {
			return nil, fmt.Errorf("columns of table %s: %w", t.Name, err)
		}
		list = append(list, s)
	}
	for i := range files {
		f := &files[i]
		if seen[f.Columns] {
			continue
		}
		seen[f.Columns] = true
		s, err := readSchema(f, fs)
		if err != nil {
			return nil, err
		}
		if t.Promised == nil {
			s = optional(s)
		}
		list = append(list, s)
	}
	return list, nil
}

// readSchema returns the columns of a file of the dataset.
func readSchema(f *catalog.File, fs iceio.IO) (*iceberg.Schema, error) {
	in, err := fs.Open(f.Location)
	if err != nil {
		return nil, readError(f, err)
	}
	defer in.Close()
	s, err := schemaOf(in)
	if err != nil {
		return nil, readError(f, err)
	}
	return s, nil
}

// constantKeys returns the partition keys that are constant columns of the files. A table may have a column of its own with the name
// of a key; its values need not be those of the partition, so the table is not partitioned by this key.
//
// The columns that a dataset adds are the last ones: the trace and the keys, in their order, without those that the table had.
func constantKeys(s *iceberg.Schema, keys []dataset.Key) []dataset.Key {
	fields := s.Fields()
	var list []dataset.Key
	for _, key := range slices.Backward(keys) {
		if n := len(fields); n > 0 && fields[n-1].Name == string(key) && len(s.Fields()) > 1 {
			list = append(list, key)
			fields = fields[:n-1]
		}
	}
	if n := len(fields); n == 0 || fields[n-1].Name != dataset.TraceKey {
		// The table has a column trace of its own, so that a key before it may be its own, too.
		return nil
	}
	slices.Reverse(list)
	return list
}

// specOf returns the partition spec of a new table: the keys that are constant columns in all its schemas, of which the first is that
// of the table.
func specOf(schemas []*iceberg.Schema, keys []dataset.Key) *iceberg.PartitionSpec {
	for _, s := range schemas {
		keys = constantKeys(s, keys)
	}
	var fields []iceberg.PartitionField
	for i, key := range keys {
		f, _ := schemas[0].FindFieldByName(string(key))
		fields = append(fields, iceberg.PartitionField{
			SourceIDs: []int{f.ID}, FieldID: iceberg.PartitionDataIDStart + i, Name: string(key), Transform: iceberg.IdentityTransform{},
		})
	}
	spec := iceberg.NewPartitionSpec(fields...)
	return &spec
}
