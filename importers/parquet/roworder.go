package parquet

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/tables"
	"github.com/ntconv/ntconv/internal/tables/parquetreader"
)

// A rowOrder is the order of a table of events: ascending values of an integer column.
type rowOrder[T any] struct {
	column string
	key    func(*T) int64
	size   func(*T) int // bytes of strings and lists in a row
}

// sort sorts the rows if necessary. Call it before head. Files that ntconv wrote are sorted; their metadata identifies
// them. Another program may have written the rows in any order, as DuckDB does after joins. All rows are then in
// memory, at most Limits.TableBytes.
func (r *rows[T]) sort(f *files, o rowOrder[T]) error {
	if !f.has(r.table) {
		return nil
	}
	file, err := f.file(r.table)
	if err != nil {
		return err
	}
	if _, original := file.Metadata(tables.VersionKey); original || inOrder(file, o.column) {
		return nil
	}
	var all []T
	m := memory{limit: f.o.Limits.TableBytes}
	err = r.each(func(row *T) error {
		all = append(all, *row)
		return m.add(rowBytes + o.size(row))
	})
	var limit *ntconv.LimitError
	if errors.As(err, &limit) && limit.Limit == LimitTables {
		return inTable(r.table, &ntconv.AdviceError{
			Err:    fmt.Errorf("rows that are not in the order of %s: %w", o.column, err),
			Advice: "write the table with ORDER BY " + o.column,
		})
	}
	if err != nil && len(all) == 0 {
		return err
	}
	slices.SortStableFunc(all, func(a, b T) int { return cmp.Compare(o.key(&a), o.key(&b)) })
	r.batch, r.next, r.err = all, 0, err
	if err == nil {
		r.err = io.EOF
	}
	return nil
}

// inOrder reports whether the values of a column never decrease. It returns true for a file that cannot be read:
// reading its rows returns the error after the rows that precede it.
func inOrder(file *parquetreader.File, column string) bool {
	at := columnAt(file, column)
	if at < 0 {
		return true
	}
	last, sorted := int64(math.MinInt64), true
	_ = eachInt(file, at, func(n int64) bool {
		sorted, last = n >= last, n
		return sorted
	})
	return sorted
}

// eachInt calls visit for the values of an integer column that is not nested, until visit returns false.
func eachInt(file *parquetreader.File, column int, visit func(int64) bool) error {
	r := parquetreader.NewColumnsReader(file, []int{column})
	defer r.Close()
	var batch parquetreader.Columns
	for {
		if err := r.Read(&batch, batchRows); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		for i := range batch.Rows {
			if !visit(batch.Row(0, i)[0].Int64()) {
				return nil
			}
		}
	}
}

// sortRows sorts events, losses and marks by their position in the trace.
func (t *trace) sortRows() error {
	f := t.d.f
	return cmp.Or(
		t.events.sort(f, rowOrder[eventRow]{
			"event_id", func(row *eventRow) int64 { return row.EventID }, func(row *eventRow) int { return len(row.Payload) + len(row.PayloadRaw) },
		}),
		t.losses.sort(f, rowOrder[tables.Loss]{
			"event_id", func(row *tables.Loss) int64 { return row.EventID }, func(*tables.Loss) int { return 0 },
		}),
		t.marks.sort(f, rowOrder[tables.Mark]{
			"event_id", func(row *tables.Mark) int64 { return row.EventID }, func(row *tables.Mark) int { return len(row.PayloadRaw) + 16*len(row.Threads) },
		}),
	)
}
