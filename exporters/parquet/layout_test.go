package parquet_test

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"testing"
	"time"

	pq "github.com/parquet-go/parquet-go"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/exporters/parquet"
	"github.com/ntconv/ntconv/internal/tables"
	"github.com/ntconv/ntconv/internal/testing/corpus"
)

var (
	testClock   = ntconv.Clock{Freq: 1e9, Wall: time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)}
	testProcess = &ntconv.Process{PID: 42, PointerSize: 8}
	testThread  = &ntconv.Thread{TID: 7, Process: testProcess}
	testType    = &ntconv.Type{Provider: "P", ID: 1, Name: "E"}
)

// written writes the tables of events.
func written(t testing.TB, info *ntconv.Info, o *parquet.Options, events ...*ntconv.Event) memory {
	t.Helper()
	m := memory{}
	o.TempDir = t.TempDir()
	sink, err := parquet.New(m.create, info, nil, o)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range events {
		if err := sink.Write(e); err != nil {
			t.Fatal(err)
		}
	}
	if err := sink.Close(); err != nil {
		t.Fatal(err)
	}
	return m
}

func event(at ntconv.Ticks) *ntconv.Event {
	return &ntconv.Event{Type: testType, Thread: testThread, Capture: testThread, CPU: ntconv.CPUUnknown, Time: at}
}

func openTable(t testing.TB, m memory, name string) *pq.File {
	t.Helper()
	f, err := pq.OpenFile(bytes.NewReader(m[name].Bytes()), int64(m[name].Len()))
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return f
}

// TestTimeFiltersPrune: the page index of ts has bounds by which a reader can skip most pages for a time range, and so
// have row groups.
func TestTimeFiltersPrune(t *testing.T) {
	const n = 300_000
	events := make([]*ntconv.Event, n)
	for i := range events {
		events[i] = event(ntconv.Ticks(i * 1000))
	}
	m := written(t, &ntconv.Info{Clock: testClock}, &parquet.Options{Ordered: true, Tables: []string{"events"}}, events...)
	f := openTable(t, m, "events")
	group := f.RowGroups()[0]
	if s := group.SortingColumns(); len(s) != 1 || s[0].Path()[0] != "ts_ns" {
		t.Errorf("the file states no order by ts_ns: %v", s)
	}
	for i, name := range []string{"ts", "ts_ns"} {
		leaf, _ := f.Schema().Lookup(name)
		index, err := group.ColumnChunks()[leaf.ColumnIndex].ColumnIndex()
		if err != nil {
			t.Fatal(err)
		}
		unit := []int64{1000, 1}[i]
		want := (testClock.Wall.UnixNano() + n/2*1000) / unit
		hits := 0
		for p := range index.NumPages() {
			if index.MinValue(p).Int64() <= want && want <= index.MaxValue(p).Int64() {
				hits++
			}
		}
		if index.NumPages() < 4 || hits != 1 {
			t.Errorf("%s: %d of %d pages hold one time, want 1 of at least 4", name, hits, index.NumPages())
		}
	}
}

// TestOrderIsStatedWhereItIsTrue: after a late event the files no longer declare time order; they contain all rows.
func TestOrderIsStatedWhereItIsTrue(t *testing.T) {
	for _, c := range []struct {
		times   []ntconv.Ticks
		ordered bool
		want    bool
	}{
		{[]ntconv.Ticks{1, 2, 2, 3}, true, true},
		{[]ntconv.Ticks{1, 3, 2}, true, false},
		{[]ntconv.Ticks{1, 2, 3}, false, false},
	} {
		var events []*ntconv.Event
		for _, at := range c.times {
			events = append(events, event(at))
		}
		m := written(t, &ntconv.Info{Clock: testClock}, &parquet.Options{Ordered: c.ordered, Typed: []string{"all"}}, events...)
		for name := range m {
			f := openTable(t, m, name)
			for _, g := range f.RowGroups() {
				byTime := slices.ContainsFunc(g.SortingColumns(), func(s pq.SortingColumn) bool { return s.Path()[0] == "ts_ns" })
				if g.NumRows() > 0 && byTime && !c.want {
					t.Errorf("%v: %s states an order by time", c.times, name)
				}
				if name == "events" && byTime != c.want {
					t.Errorf("%v: %s: order by time is %t, want %t", c.times, name, byTime, c.want)
				}
			}
		}
		if rows := rowsOf[tables.Event](t, m, "events"); len(rows) != len(c.times) {
			t.Errorf("%v: %d rows", c.times, len(rows))
		}
		if info := rowsOf[tables.TraceInfo](t, m, "trace_info"); info[0].Ordered != c.want {
			t.Errorf("%v: trace_info.ordered is %t", c.times, info[0].Ordered)
		}
	}
}

// TestTicksAreKeptWhereTimeDoesNotRestoreThem: clocks above 1 GHz and times out of range have ticks, others have none.
func TestTicksAreKeptWhereTimeDoesNotRestoreThem(t *testing.T) {
	far := []ntconv.Ticks{-1 << 63, -1, 0, 1, 12345, 1<<63 - 1}
	for _, c := range []ntconv.Clock{
		{Freq: 1e9}, {Freq: 1e7, Tick: 5}, {Freq: 3_000_000_001, Tick: -7, Wall: testClock.Wall}, {Freq: 1, Wall: testClock.Wall},
		{Freq: 1e9, Wall: time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)},
	} {
		var events []*ntconv.Event
		for _, at := range far {
			events = append(events, event(at))
		}
		m := written(t, &ntconv.Info{Clock: c}, &parquet.Options{Ordered: true}, events...)
		start := rowsOf[tables.TraceInfo](t, m, "trace_info")[0].StartNanos
		ticks := 0
		for i, row := range rowsOf[tables.Event](t, m, "events") {
			got := c.TicksAt(time.Duration(row.TSNanos - start))
			if row.Ticks != nil {
				got = ntconv.Ticks(*row.Ticks)
				ticks++
			}
			if got != far[i] {
				t.Errorf("%+v: %d is restored as %d", c, far[i], got)
			}
		}
		if c.Freq == 1e7 && ticks > 2 {
			t.Errorf("%+v: %d events have ticks, want those out of range only", c, ticks)
		}
	}
}

// TestTables: only the tables that are selected are created, as for one type of events to one file.
func TestTables(t *testing.T) {
	f := corpus.Trace(t, "cpu-env")
	all, _, _, done := exported(t, f.Data, parquet.Options{})
	for _, table := range tables.All() {
		if all[table.Name] == nil {
			t.Errorf("there is no table %s", table.Name)
		}
	}
	if len(all) != len(done.Tables) || !slices.IsSorted(slices.Compact(slices.Sorted(slices.Values(done.Tables)))) {
		t.Errorf("%d tables, %d in the summary", len(all), len(done.Tables))
	}
	one, _, _, _ := exported(t, f.Data, parquet.Options{Tables: []string{parquet.Typed}, Typed: []string{"*/ThreadSample"}})
	if len(one) != 1 {
		t.Errorf("%d tables, want the one of ThreadSample", len(one))
	}
	for name := range one {
		if all[name] != nil && !bytes.Equal(one[name].Bytes(), all[name].Bytes()) {
			t.Errorf("%s differs from the one of a whole export", name)
		}
	}
}

// A fullDisk fails after a number of bytes.
type fullDisk struct{ room int }

var errFull = errors.New("no space left")

func (f *fullDisk) Write(b []byte) (int, error) {
	if f.room -= len(b); f.room < 0 {
		return 0, errFull
	}
	return len(b), nil
}

func (*fullDisk) Close() error { return nil }

// TestErrorsOfFilesAreReturned: if any file cannot be created or written, New, Write or Close returns the error, and
// nothing hangs.
func TestErrorsOfFilesAreReturned(t *testing.T) {
	m, _, _, _ := exported(t, corpus.Trace(t, "cpu-env").Data, parquet.Options{})
	for broken := range m {
		for _, refuse := range []bool{true, false} {
			create := func(table string) (io.WriteCloser, error) {
				if table != broken {
					return new(file), nil
				}
				if refuse {
					return nil, errFull
				}
				return &fullDisk{room: 10}, nil
			}
			if err := exportTo(t, corpus.Trace(t, "cpu-env").Data, create); !errors.Is(err, errFull) {
				t.Errorf("%s (refused: %t): got %v, want the error of the file", broken, refuse, err)
			}
		}
	}
}

// An event without a thread or type is an error, and closing or aborting twice does nothing.
func TestSinksAreHardToMisuse(t *testing.T) {
	info := &ntconv.Info{Clock: testClock}
	directory, err := parquet.New(memory{}.create, info, nil, &parquet.Options{TempDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	single, err := parquet.NewSingle(io.Discard, info, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, sink := range []interface {
		ntconv.Sink
		Abort() error
	}{directory, single} {
		if err := sink.Write(event(1)); err != nil {
			t.Error(err)
		}
		for _, e := range []*ntconv.Event{{Type: testType}, {Thread: testThread}} {
			if sink.Write(e) == nil {
				t.Errorf("%T: no error for %+v", sink, e)
			}
		}
		if err := errors.Join(sink.Close(), sink.Close(), sink.Abort(), sink.Close()); err != nil {
			t.Error(err)
		}
	}
}

// The output of an aborted sink is not a complete file.
func TestAbortedFileIsIncomplete(t *testing.T) {
	var out bytes.Buffer
	sink, err := parquet.NewSingle(&out, &ntconv.Info{Clock: testClock}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(sink.Write(event(1)), sink.Abort()); err != nil {
		t.Fatal(err)
	}
	if bytes.HasSuffix(out.Bytes(), []byte("PAR1")) && out.Len() > 4 {
		t.Error("the file has a footer")
	}
}

// The bounds of pages are correct: a reader that skips pages by them misses no value. parquet-go can omit bounds; it
// then writes empty bounds, by which readers skip pages that they need.
func TestBoundsOfPages(t *testing.T) {
	long := &ntconv.Type{Provider: "P", ID: 2, Name: "Long", Fields: []ntconv.Field{{Name: "Text", Type: ntconv.FieldType{Code: ntconv.TypeUTF16String}}}}
	var events []*ntconv.Event
	for i := range 2000 {
		e := event(ntconv.Ticks(i))
		e.Type = long
		for range i%50 + 1 {
			e.Payload = append(e.Payload, byte('a'+i%26), 0)
		}
		e.Payload = append(e.Payload, 0, 0)
		events = append(events, e)
	}
	for _, o := range []*parquet.Options{{Ordered: true}, {Ordered: true, Raw: true}} {
		m := written(t, &ntconv.Info{Clock: testClock}, o, events...)
		for name := range m {
			f := openTable(t, m, name)
			for _, group := range f.RowGroups() {
				for i, chunk := range group.ColumnChunks() {
					checkBounds(t, name+"."+f.Schema().Columns()[i][0], chunk)
				}
			}
		}
	}
}

// checkBounds compares the values of all pages of a column with the bounds of their page.
func checkBounds(t *testing.T, name string, chunk pq.ColumnChunk) {
	t.Helper()
	index, err := chunk.ColumnIndex()
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	pages := chunk.Pages()
	defer pages.Close()
	for n := 0; ; n++ {
		page, err := pages.ReadPage()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		values := make([]pq.Value, page.NumValues())
		if _, err := page.Values().ReadValues(values); err != nil && !errors.Is(err, io.EOF) {
			t.Fatalf("%s: %v", name, err)
		}
		for _, v := range values {
			if v.IsNull() {
				continue
			}
			if index.NullPage(n) || chunk.Type().Compare(index.MinValue(n), v) > 0 || chunk.Type().Compare(index.MaxValue(n), v) < 0 {
				t.Fatalf("%s: page %d is said to hold %q to %q, and holds %q", name, n, index.MinValue(n), index.MaxValue(n), v)
			}
		}
		pq.Release(page)
	}
}
