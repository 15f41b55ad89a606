package parquet_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"slices"
	"testing"

	pq "github.com/parquet-go/parquet-go"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/exporters/parquet"
	"github.com/ntconv/ntconv/internal/tables"
	"github.com/ntconv/ntconv/internal/testing/corpus"
	"github.com/ntconv/ntconv/ntconvtest"
	"github.com/ntconv/ntconv/reader"
	"github.com/ntconv/ntconv/symbol"
)

// memory is a directory of tables.
type memory map[string]*file

type file struct {
	bytes.Buffer
	closed bool
}

func (f *file) Close() error {
	f.closed = true
	return nil
}

func (m memory) create(table string) (io.WriteCloser, error) {
	m[table] = new(file)
	return m[table], nil
}

// rowsOf reads a table with parquet-go, which checks the checksums and encodings.
func rowsOf[T any](t testing.TB, m memory, name string) []T {
	t.Helper()
	f := m[name]
	if f == nil {
		t.Fatalf("there is no table %s", name)
	}
	rows, err := pq.Read[T](bytes.NewReader(f.Bytes()), int64(f.Len()))
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return rows
}

// exported writes the tables of a trace, in time order and with symbols. It returns the events as they were.
func exported(t testing.TB, data []byte, o parquet.Options) (memory, []*ntconv.Event, *ntconv.Info, parquet.Summary) {
	t.Helper()
	src, err := reader.New(bytes.NewReader(data), &reader.Options{Order: reader.ByTime})
	if err != nil {
		t.Fatal(err)
	}
	names := symbol.New(nil)
	m := memory{}
	o.Ordered, o.TempDir = true, t.TempDir()
	sink, err := parquet.New(m.create, src.Info(), names, &o)
	if err != nil {
		t.Fatal(err)
	}
	var events []*ntconv.Event
	for e, err := range ntconv.Events(ntconvtest.Poison(symbol.Watch(src, names))) {
		if err != nil {
			break // damaged traces end early
		}
		events = append(events, e.Clone())
		if err := sink.Write(e); err != nil {
			t.Fatal(err)
		}
	}
	if err := sink.Close(); err != nil {
		t.Fatal(err)
	}
	for name, f := range m {
		if !f.closed {
			t.Errorf("%s was not closed", name)
		}
	}
	if left, _ := os.ReadDir(o.TempDir); len(left) > 0 {
		t.Errorf("%d temporary files are left", len(left))
	}
	return m, events, src.Info(), sink.Summary()
}

// exportTo writes the tables of a trace and returns the first error.
func exportTo(t testing.TB, data []byte, create func(string) (io.WriteCloser, error)) error {
	t.Helper()
	src, err := reader.New(bytes.NewReader(data), &reader.Options{Order: reader.ByTime})
	if err != nil {
		t.Fatal(err)
	}
	names := symbol.New(nil)
	sink, err := parquet.New(create, src.Info(), names, &parquet.Options{Ordered: true, TempDir: t.TempDir()})
	if err != nil {
		return err
	}
	_, err = ntconv.Copy(sink, symbol.Watch(src, names))
	return errors.Join(err, sink.Close())
}

// traces returns the traces of testdata, and those of the reference data unless tests are short.
func traces(t *testing.T) []corpus.File {
	list := corpus.Traces(t)
	if _, err := corpus.Find("data"); err == nil && !testing.Short() {
		list = append(list, corpus.SharedTraces(t)...)
	}
	return list
}

// TestDerivedColumns checks what the importer, which restores all events (see its TestRestores), does not read: numbers of
// rows, times in microseconds, names and depths of stacks, and counts.
func TestDerivedColumns(t *testing.T) {
	if testing.Short() {
		t.Skip("short mode: other tests run these goroutines with less data")
	}
	for _, f := range traces(t) {
		t.Run(f.Name, func(t *testing.T) {
			m, events, info, done := exported(t, f.Data, parquet.Options{})
			rows, raw := rowsOf[tables.Event](t, m, "events"), int64(0)
			ids := make([]int64, 0, len(events))
			for i := range rows {
				row := &rows[i]
				e := events[row.EventID-1]
				if ids = append(ids, row.EventID); row.PayloadRaw != nil && len(e.Payload) > 0 && len(row.PayloadRaw) > 0 {
					raw++
				}
				if wall := info.Clock.Time(e.Time); row.Ticks == nil && !wall.IsZero() && (row.TSNanos != wall.UnixNano() || row.TS != wall.UnixMicro()) {
					t.Fatalf("event %d at %d and %d, want %v", row.EventID, row.TS, row.TSNanos, wall)
				}
			}
			for _, row := range rowsOf[tables.Loss](t, m, "losses") {
				ids = append(ids, row.EventID)
			}
			for _, row := range rowsOf[tables.Mark](t, m, "marks") {
				ids = append(ids, row.EventID)
			}
			slices.Sort(ids)
			if len(slices.Compact(ids)) != len(events) {
				t.Errorf("%d rows have a number, want %d", len(ids), len(events))
			}
			checkStacks(t, m)
			var byType, byThread, byProcess int64
			for _, row := range rowsOf[tables.EventType](t, m, "event_types") {
				byType += row.EventCount
			}
			for _, row := range rowsOf[tables.Thread](t, m, "threads") {
				byThread += row.EventCount
			}
			for _, row := range rowsOf[tables.Process](t, m, "processes") {
				byProcess += row.EventCount
			}
			total := rowsOf[tables.TraceInfo](t, m, "trace_info")[0].EventCount
			if total != done.Events || byType != total || byThread != total || byProcess > total || raw != done.Raw {
				t.Errorf("%d events of types, %d of threads, %d of processes, %d in all, %d raw: want %+v", byType, byThread, byProcess, total, raw, done)
			}
		})
	}
}

// checkStacks checks that stacks have names, and columns that fit their frames.
func checkStacks(t *testing.T, m memory) {
	t.Helper()
	frames := rowsOf[tables.Frame](t, m, "frames")
	for i, row := range rowsOf[tables.Stack](t, m, "stacks") {
		if row.StackID != int64(i+1) || int(row.Depth) != len(row.Frames) || row.LeafID != row.Frames[0] {
			t.Fatalf("stack %d: %+v", i+1, row)
		}
		for _, f := range row.Frames {
			if f < 1 || int(f) > len(frames) || frames[f-1].FrameID != f || frames[f-1].Name == "" {
				t.Fatalf("stack %d has frame %d of %d, or it has no name", i+1, f, len(frames))
			}
		}
	}
}

// TestBytesAreDeterministic: two exports of a trace are identical.
func TestBytesAreDeterministic(t *testing.T) {
	for _, f := range append(spanTraces(t)[:2], corpus.Trace(t, "cpu-env")) {
		a, _, _, _ := exported(t, f.Data, parquet.Options{})
		b, _, _, _ := exported(t, f.Data, parquet.Options{})
		if len(a) != len(b) || len(a) == 0 {
			t.Fatalf("%d and %d tables", len(a), len(b))
		}
		for name := range a {
			if !bytes.Equal(a[name].Bytes(), b[name].Bytes()) {
				t.Errorf("%s: %s differs", f.Name, name)
			}
		}
	}
}
