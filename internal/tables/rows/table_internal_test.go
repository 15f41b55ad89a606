package rows

import (
	"bytes"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/ntconv/ntconv/internal/tables"
)

// A recorder is a Receiver and Writer that keeps copies of what it gets from one table.
type recorder[T any] struct {
	table   tables.Table
	rows    []T
	batches []int // rows per call of Write
	groups  []int // rows per group
	copy    func(T) T
	delay   time.Duration
}

func (r *recorder[T]) Open(t tables.Table) (Writer, error) {
	r.table = t
	return r, nil
}

func (r *recorder[T]) Write(rows any, _ int) error {
	time.Sleep(r.delay)
	list := rows.([]T)
	r.batches = append(r.batches, len(list))
	for _, row := range list {
		if r.copy != nil {
			row = r.copy(row)
		}
		r.rows = append(r.rows, row)
	}
	return nil
}

func (r *recorder[T]) EndGroup() error {
	r.groups = append(r.groups, len(r.rows))
	return nil
}

func (*recorder[T]) Unsorted()     {}
func (*recorder[T]) Finish() error { return nil }
func (*recorder[T]) Close() error  { return nil }

// The rows and batches of a table do not depend on the scheduling of its goroutine and the producer: batches may be
// reused or new, but have the same rows. Pages of Parquet files end with batches.
func TestBatchesDoNotDependOnTiming(t *testing.T) {
	const rows = 60_000
	fast, slow := new(recorder[tables.Event]), &recorder[tables.Event]{delay: 2 * time.Millisecond}
	for _, r := range []*recorder[tables.Event]{fast, slow} {
		r.copy = func(e tables.Event) tables.Event {
			e.Payload, e.PayloadRaw = string([]byte(e.Payload)), bytes.Clone(e.PayloadRaw)
			return e
		}
		events, err := newTable[tables.Event](&output{receiver: r, ordered: true})
		if err != nil {
			t.Fatal(err)
		}
		for i := range rows {
			row := events.row()
			row.EventID, row.TSNanos = int64(i), int64(i)
			row.Payload = events.end(fmt.Appendf(events.begin(), "%0*d", 100+i%300, i*i))
			row.PayloadRaw = events.bytes([]byte(row.Payload[:i%50]))
		}
		if err := events.close(); err != nil {
			t.Fatal(err)
		}
	}
	if len(fast.rows) != rows || !slices.Equal(fast.batches, slow.batches) {
		t.Errorf("%d rows in batches of %v and %v rows", len(fast.rows), fast.batches, slow.batches)
	}
	for i := range min(len(fast.rows), len(slow.rows)) {
		a, b := &fast.rows[i], &slow.rows[i]
		if a.EventID != b.EventID || a.Payload != b.Payload || !bytes.Equal(a.PayloadRaw, b.PayloadRaw) {
			t.Fatalf("row %d differs", i)
		}
	}
}

// A table knows from the start that it may be unsorted, or learns it from its rows.
func TestSortOrderOfTables(t *testing.T) {
	for _, c := range []struct {
		ordered bool
		want    string
	}{{true, "ts_ns"}, {false, ""}} {
		events, intervals := new(recorder[tables.Event]), new(recorder[tables.Interval])
		out := &output{receiver: events, ordered: c.ordered}
		a, err := newTable[tables.Event](out)
		if err != nil {
			t.Fatal(err)
		}
		out.receiver = intervals
		b, err := newTable[tables.Interval](out)
		if err != nil {
			t.Fatal(err)
		}
		if events.table.Sort != c.want || intervals.table.Sort != "ts_ns" {
			t.Errorf("ordered %v: events sorted by %q, intervals by %q", c.ordered, events.table.Sort, intervals.table.Sort)
		}
		if out.ordered = false; a.unsorted() != c.ordered || b.unsorted() {
			t.Errorf("ordered %v, then not: unsorted() is %v for events, %v for intervals", c.ordered, a.unsorted(), b.unsorted())
		}
		if err := out.abort(); err != nil {
			t.Error(err)
		}
	}
}
