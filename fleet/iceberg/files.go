package iceberg

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"time"

	"github.com/apache/iceberg-go"
	iceio "github.com/apache/iceberg-go/io"
	"github.com/apache/iceberg-go/table"
	"golang.org/x/sync/errgroup"

	"github.com/ntconv/ntconv/internal/tables/catalog"
	"github.com/ntconv/ntconv/internal/tables/dataset"
)

// readers is the number of files whose footers are read at the same time.
const readers = 4

// A describer makes the entries of manifests for files of a dataset.
type describer struct {
	fs     iceio.IO
	schema *iceberg.Schema
	props  iceberg.Properties
	spec   iceberg.PartitionSpec
	keys   []dataset.Key
}

// describe returns the entries of files, with the statistics of their footers.
func (d *describer) describe(ctx context.Context, files []catalog.File) ([]iceberg.DataFile, error) {
	list := make([]iceberg.DataFile, len(files))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(readers)
	for i := range files {
		group.Go(func() (err error) {
			if err = ctx.Err(); err == nil {
				list[i], err = d.file(ctx, &files[i])
			}
			return err
		})
	}
	return list, group.Wait()
}

// file returns the entry of a file.
func (d *describer) file(ctx context.Context, f *catalog.File) (iceberg.DataFile, error) {
	// The statistics are those of the library; the partition is that of the dataset, because the library infers none for NULL.
	stats, err := table.FileToDataFile(ctx, d.fs, f.Location, d.schema, *iceberg.UnpartitionedSpec, 0, d.props)
	if err != nil {
		return nil, readError(f, err)
	}
	if stats.Count() != f.Rows || stats.FileSizeBytes() != f.Size {
		return nil, fmt.Errorf("%s: want %d rows in %d bytes, as its commit states, got %d rows in %d bytes",
			f.Location, f.Rows, f.Size, stats.Count(), stats.FileSizeBytes())
	}
	values, logical, err := d.partition(f, stats)
	if err != nil {
		return nil, err
	}
	b, err := iceberg.NewDataFileBuilder(d.spec, iceberg.EntryContentData, f.Location, iceberg.ParquetFile, values, logical, nil, f.Rows, f.Size)
	if err != nil {
		return nil, err
	}
	return b.ColumnSizes(stats.ColumnSizes()).ValueCounts(stats.ValueCounts()).NullValueCounts(stats.NullValueCounts()).
		NaNValueCounts(stats.NaNValueCounts()).LowerBoundValues(stats.LowerBoundValues()).UpperBoundValues(stats.UpperBoundValues()).
		SplitOffsets(stats.SplitOffsets()).Build(), nil
}

// readError adds the file to an error. It wraps catalog.ErrChanged if the file does not exist: the dataset had it when its commits were
// read.
func readError(f *catalog.File, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%w: %w", catalog.ErrChanged, err)
	}
	return fmt.Errorf("%s: %w", f.Location, err)
}

// partition returns the partition of a file by the IDs of the fields of the spec, and their logical types in Avro.
func (d *describer) partition(f *catalog.File, stats iceberg.DataFile) (values map[int]any, logical map[int]string, err error) {
	values, logical = make(map[int]any), make(map[int]string)
	for _, field := range d.spec.Fields() {
		i := slices.Index(d.keys, dataset.Key(field.Name))
		column, ok := d.schema.FindFieldByID(field.SourceID())
		if _, same := field.Transform.(iceberg.IdentityTransform); i < 0 || !ok || !same || column.Name != field.Name {
			return nil, nil, fmt.Errorf("the table is partitioned by %s of %s, and the dataset by %s; another program has changed the table: drop it, and publish again",
				field.Transform, field.Name, dataset.JoinKeys(d.keys))
		}
		value, err := partitionValue(column.Type, f.Values[i])
		if err == nil {
			err = checkConstant(column.ID, value, stats)
		}
		if err != nil {
			return nil, nil, fmt.Errorf("%s: column %s: %w", f.Location, field.Name, err)
		}
		values[field.FieldID] = nil
		if value != nil {
			values[field.FieldID] = value.Any()
		}
		if _, ok := column.Type.(iceberg.DateType); ok {
			logical[field.FieldID] = "date"
		}
	}
	return values, logical, nil
}

// partitionValue parses the value of a partition key, and returns nil for an unknown one.
func partitionValue(t iceberg.Type, text string) (iceberg.Literal, error) {
	if text == "" {
		return nil, nil
	}
	switch t.(type) {
	case iceberg.StringType:
		return iceberg.NewLiteral(text), nil
	case iceberg.DateType:
		day, err := time.Parse(time.DateOnly, text)
		return iceberg.NewLiteral(iceberg.Date(day.Unix() / (24 * 60 * 60))), err
	case iceberg.Int32Type:
		n, err := strconv.ParseInt(text, 10, 32)
		return iceberg.NewLiteral(int32(n)), err
	}
	return nil, fmt.Errorf("type %s: want string, date or int for a partition key", t)
}

// checkConstant checks by the statistics of a file that all rows have the value. Readers take the value from the manifest, and would
// report another one without an error.
func checkConstant(id int, value iceberg.Literal, stats iceberg.DataFile) error {
	nulls, counted := stats.NullValueCounts()[id]
	low, high := stats.LowerBoundValues()[id], stats.UpperBoundValues()[id]
	if value == nil {
		if counted && nulls != stats.Count() {
			return fmt.Errorf("want NULL in all rows, as the directory states, got %d other values", stats.Count()-nulls)
		}
		return nil
	}
	want, err := value.(interface{ MarshalBinary() ([]byte, error) }).MarshalBinary()
	if err != nil {
		return err
	}
	if nulls > 0 || low != nil && !bytes.Equal(low, want) || high != nil && !bytes.Equal(high, want) {
		return fmt.Errorf("want %s in all rows, as the directory states, got others", value)
	}
	return nil
}

// liveFiles returns the data files of a snapshot by their locations. Without a snapshot there are none.
func liveFiles(s *table.Snapshot, fs iceio.IO) (map[string]iceberg.DataFile, error) {
	files := make(map[string]iceberg.DataFile)
	if s == nil {
		return files, nil
	}
	manifests, err := s.Manifests(fs)
	if err != nil {
		return nil, err
	}
	for _, m := range manifests {
		if m.ManifestContent() != iceberg.ManifestContentData {
			return nil, errDeletes
		}
		for e, err := range m.Entries(fs, true) {
			if err != nil {
				return nil, err
			}
			files[e.DataFile().FilePath()] = e.DataFile()
		}
	}
	return files, nil
}

// errDeletes means that a table hides rows of its files.
var errDeletes = errors.New("another program has deleted rows of the table, which ntconv cannot undo: drop the table, and publish again")
