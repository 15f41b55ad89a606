package parquet_test

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"github.com/ntconv/ntconv/internal/testing/laws"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/ntconv/ntconv"
	export "github.com/ntconv/ntconv/exporters/parquet"
	"github.com/ntconv/ntconv/importers/parquet"
	"github.com/ntconv/ntconv/internal/tables"
	"github.com/ntconv/ntconv/internal/tables/parquetreader"
	"github.com/ntconv/ntconv/internal/tables/parquetwriter"
	"github.com/ntconv/ntconv/internal/testing/corpus"
	"github.com/ntconv/ntconv/internal/trace/tracecmp"
	"github.com/ntconv/ntconv/ntconvtest"
	"github.com/ntconv/ntconv/symbol"
)

// rowsOf reads a table.
func rowsOf[T any](t testing.TB, b []byte) (rows []T) {
	t.Helper()
	f, err := parquetreader.Open(bytes.NewReader(b), int64(len(b)), nil)
	if err != nil {
		t.Fatal(err)
	}
	r, err := parquetreader.NewReader[T](f)
	if err != nil {
		t.Fatal(err)
	}
	rows = make([]T, f.Rows())
	if n, err := r.Read(rows); n != len(rows) {
		t.Fatalf("%d rows, %v", n, err)
	}
	return rows
}

// edited returns a table after a change of its rows, as another program writes it: without the metadata of ntconv.
func edited[T any](t testing.TB, b []byte, edit func([]T) []T) []byte {
	t.Helper()
	return fileOf(t, edit(rowsOf[T](t, b)))
}

// cpu returns the tables of a trace with samples.
func cpu(t testing.TB) (d directory, data []byte) {
	t.Helper()
	data = corpus.Trace(t, "cpu-env").Data
	return write(t, open(t, data), export.Options{}), data
}

// TestEditedTables reads tables that another program has changed: what they no longer contain is missing and counted,
// and the rest is unchanged.
func TestEditedTables(t *testing.T) {
	original, _ := cpu(t)
	const events = 1786
	for _, c := range []struct {
		name  string
		edit  func(directory)
		n     int // events
		codes []ntconv.Code
	}{
		{"as it is", func(directory) {}, events, nil},
		{"without optional tables", func(d directory) {
			for _, table := range []string{"samples", "spans", "intervals", "counters", "losses", "attributes", "frames"} {
				delete(d, table)
			}
		}, events, nil},
		{"without trace_info", func(d directory) { delete(d, "trace_info") }, events, nil},
		{"without threads", func(d directory) { delete(d, "threads") }, events, []ntconv.Code{ntconv.CodeUnknownThread}},
		{"without processes", func(d directory) { delete(d, "processes") }, events, []ntconv.Code{ntconv.CodeRepaired}},
		{"without stacks", func(d directory) { delete(d, "stacks") }, events, []ntconv.Code{ntconv.CodeUnknownStack}},
		{"without labels", func(d directory) { delete(d, "labels") }, events, []ntconv.Code{ntconv.CodeUnknownLabels}},
		{"without a type", func(d directory) {
			d["event_types"] = edited(t, d["event_types"], func(rows []tables.EventType) []tables.EventType { return rows[1:] })
		}, events, []ntconv.Code{ntconv.CodeUnknownType}},
		{"fewer events", func(d directory) {
			d["events"] = edited(t, d["events"], func(rows []tables.Event) []tables.Event { return rows[:100] })
		}, 100, nil},
		{"fewer events with metadata", func(d directory) {
			d["events"] = fileWith(t, rowsOf[tables.Event](t, d["events"])[:100])
		}, 100, []ntconv.Code{ntconv.CodeRepaired}},
		{"reversed events", func(d directory) {
			d["events"] = edited(t, d["events"], func(rows []tables.Event) []tables.Event { slices.Reverse(rows); return rows })
		}, events, nil},
		{"reversed stacks", func(d directory) {
			d["stacks"] = edited(t, d["stacks"], func(rows []tables.Stack) []tables.Stack { slices.Reverse(rows); return rows })
		}, events, nil},
		{"payloads of another layout", func(d directory) {
			d["events"] = edited(t, d["events"], func(rows []tables.Event) []tables.Event {
				rows[0].Payload, rows[1].Payload, rows[2].Payload = `{"no":1}`, `[`, `7`
				for i := range 3 {
					rows[i].PayloadRaw = nil
				}
				return rows
			})
		}, events, []ntconv.Code{ntconv.CodePayload}},
		{"a row twice", func(d directory) {
			d["threads"] = edited(t, d["threads"], func(rows []tables.Thread) []tables.Thread { return append(rows, rows[0]) })
		}, events, []ntconv.Code{ntconv.CodeRedefined}},
		{"sparse IDs", func(d directory) {
			d["event_types"] = edited(t, d["event_types"], func(rows []tables.EventType) []tables.EventType {
				for i := range rows {
					rows[i].TypeID = -rows[i].TypeID * 1e6
				}
				return rows
			})
			d["events"] = edited(t, d["events"], func(rows []tables.Event) []tables.Event {
				for i := range rows {
					rows[i].TypeID = -rows[i].TypeID * 1e6
				}
				return rows
			})
			d["marks"] = edited(t, d["marks"], func(rows []tables.Mark) []tables.Mark {
				for i := range rows {
					rows[i].TypeID = -rows[i].TypeID * 1e6
				}
				return rows
			})
		}, events, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := maps.Clone(original)
			c.edit(d)
			report := &ntconv.Report{}
			n := 0
			for _, e := range read(t, d, parquet.Options{Report: report}) {
				if e.Kind == ntconv.KindEvent {
					n++
				}
				for _, thread := range []*ntconv.Thread{e.Thread, e.Capture} { // sinks need one
					if thread != nil && thread.Process == nil {
						t.Fatalf("a thread without a process: %+v", thread)
					}
				}
			}
			var codes []ntconv.Code
			for _, e := range report.Entries() {
				codes = append(codes, e.Code)
			}
			if n != c.n || !slices.Equal(codes, c.codes) {
				t.Errorf("%d events, want %d; %v, want %v", n, c.n, report.Entries(), c.codes)
			}
		})
	}
}

// fileWith returns a file of the table events with the metadata of ntconv.
func fileWith(t testing.TB, rows []tables.Event) []byte {
	t.Helper()
	var b bytes.Buffer
	w := parquetwriter.NewWriter[tables.Event](&b, &parquetwriter.Options{Metadata: map[string]string{tables.VersionKey: fmt.Sprint(tables.Version)}})
	if err := w.Write(rows); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestCopiedTables checks that tables give the same trace after another program has copied all of their rows, in any
// order.
func TestCopiedTables(t *testing.T) {
	d, data := cpu(t)
	for _, sort := range []func(a, b tables.Event) int{
		func(a, b tables.Event) int { return cmp.Compare(a.EventID, b.EventID) },
		func(a, b tables.Event) int { return cmp.Compare(b.EventID, a.EventID) },
		func(a, b tables.Event) int { return cmp.Compare(a.TypeID, b.TypeID) },
	} {
		copied := maps.Clone(d)
		copied["events"] = edited(t, d["events"], func(rows []tables.Event) []tables.Event { slices.SortFunc(rows, sort); return rows })
		copied["marks"] = edited(t, d["marks"], func(rows []tables.Mark) []tables.Mark { slices.Reverse(rows); return rows })
		src, err := parquet.New(copied, nil)
		if err != nil {
			t.Fatal(err)
		}
		if n, err := tracecmp.Streams(open(t, data), ntconvtest.Poison(src), &tracecmp.Options{Errors: true}); err != nil {
			t.Errorf("after %d events: %v", n, err)
		}
	}
	d["events"] = edited(t, d["events"], func(rows []tables.Event) []tables.Event { slices.Reverse(rows); return rows })
	_, err := parquet.New(d, &parquet.Options{Limits: parquet.Limits{TableBytes: 400 << 10}})
	if err == nil || !strings.Contains(err.Error(), "ORDER BY event_id") {
		t.Errorf("no room for all rows: %v", err)
	}
}

// TestNamesOfSelection checks that stacks keep their names if the events that hold them are missing.
func TestNamesOfSelection(t *testing.T) {
	d, data := cpu(t)
	names := symbol.New(nil)
	full := map[string][]string{}
	key := func(e *ntconv.Event) string { return fmt.Sprint(e.Time, e.Thread.TID) }
	var samples []*ntconv.Event
	for e, err := range ntconv.Events(symbol.Watch(open(t, data), names)) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Stack != nil {
			samples = append(samples, e.Clone())
		}
	}
	for _, e := range samples {
		for _, f := range names.AppendFrames(nil, e.Thread.Process, e.Stack, e.Time) {
			full[key(e)] = append(full[key(e)], f.Func.Name)
		}
	}
	d["events"] = edited(t, d["events"], func(rows []tables.Event) []tables.Event {
		return slices.DeleteFunc(rows, func(row tables.Event) bool { return row.Event != "ThreadSample" })
	})
	n := 0
	for _, e := range read(t, d, parquet.Options{}) {
		if e.Kind != ntconv.KindEvent {
			continue
		}
		n++
		var got []string
		for _, f := range e.Stack.Frames {
			got = append(got, f.Func.Name)
		}
		if len(got) == 0 || !slices.Equal(got, full[key(e)]) || len(e.Stack.PCs) == 0 || e.Stack.Frames[0].PC != e.Stack.PCs[0] {
			t.Fatalf("%q, want %q", got, full[key(e)])
		}
	}
	if n != 194 {
		t.Errorf("%d samples", n)
	}
}

// TestRefused checks that errors of unreadable tables state the position and the next step.
func TestRefused(t *testing.T) {
	original, _ := cpu(t)
	type other struct {
		EventID string `parquet:"event_id"`
		TSNanos int64  `parquet:"ts_ns"`
		Thread  int32  `parquet:"thread_id"`
		Type    int32  `parquet:"type_id"`
	}
	type few struct {
		EventID int64 `parquet:"event_id"`
	}
	future := func(d directory) {
		var b bytes.Buffer
		w := parquetwriter.NewWriter[tables.TraceInfo](&b, &parquetwriter.Options{Metadata: map[string]string{tables.VersionKey: "99"}})
		if err := errors.Join(w.Write([]tables.TraceInfo{{}}), w.Close()); err != nil {
			t.Fatal(err)
		}
		d["trace_info"] = b.Bytes()
	}
	futureRow := func(d directory) { // as another program copies it, without metadata
		d["trace_info"] = edited(t, d["trace_info"], func(rows []tables.TraceInfo) []tables.TraceInfo {
			rows[0].SchemaVersion = tables.Version + 1
			return rows
		})
	}
	for _, c := range []struct {
		edit func(directory)
		is   error
		says string
	}{
		{func(d directory) { delete(d, "events") }, ntconv.ErrUnsupported, "the table events is missing; write the tables again"},
		{func(d directory) { d["events"] = fileOf(t, []few{{1}}) }, ntconv.ErrCorrupt, "table events: input is corrupt: the column ts_ns is missing"},
		{func(d directory) { d["events"] = fileOf(t, []other{{}}) }, ntconv.ErrUnsupported, "event_id"},
		{future, ntconv.ErrUnsupported, `table trace_info: not supported: version "99" of the tables, want at most 1; use a later version`},
		{futureRow, ntconv.ErrUnsupported, `table trace_info: not supported: version "2" of the tables, want at most 1; use a later version`},
		{func(d directory) { d["stacks"] = d["stacks"][:len(d["stacks"])-5] }, nil, "table stacks"},
		{func(d directory) {
			d["event_types"] = edited(t, d["event_types"], func(rows []tables.EventType) []tables.EventType {
				rows[3].RecordedFields = "{"
				return rows
			})
		}, ntconv.ErrCorrupt, "table event_types: column recorded_fields of type_id 4"},
		{func(d directory) {
			d["trace_info"] = edited(t, d["trace_info"], func(rows []tables.TraceInfo) []tables.TraceInfo { return append(rows, rows[0]) })
		}, ntconv.ErrUnsupported, "more than one row"},
	} {
		d := maps.Clone(original)
		c.edit(d)
		src, err := parquet.New(d, nil)
		if err == nil {
			_, err = ntconvtest.Record(src)
		}
		if err == nil || c.is != nil && !errors.Is(err, c.is) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%v, want %v: %s", err, c.is, c.says)
		}
	}
	src, err := parquet.New(original, &parquet.Options{Limits: parquet.Limits{TableBytes: 1 << 16}})
	if err == nil {
		_, err = ntconvtest.Record(src)
	}
	var limit *ntconv.LimitError
	if !errors.As(err, &limit) || limit.Limit != parquet.LimitTables {
		t.Error(err)
	}
	if _, err := parquet.New(original, &parquet.Options{Map: parquet.Mapping{"time": "ts"}}); err == nil || !strings.Contains(err.Error(), "need no mapping") {
		t.Error(err)
	}
}

// TestFileOrder checks that tables in file order are read in time order if requested, and in file order otherwise.
func TestFileOrder(t *testing.T) {
	for _, f := range corpus.Traces(t) {
		d := fileOrder(t, f.Data)
		for _, byTime := range []bool{false, true} {
			want := openOrder(t, f.Data, byTime)
			src, err := parquet.New(d, &parquet.Options{ByTime: byTime})
			if err != nil {
				t.Fatal(err)
			}
			if n, err := tracecmp.Streams(want, ntconvtest.Poison(src), &tracecmp.Options{Errors: true}); err != nil {
				t.Errorf("%s: by time %v: after %d events: %v", f.Name, byTime, n, err)
			}
		}
	}
}

// Tables of which one is damaged are read or refused: without a panic, an event without a type, or memory beyond the
// limits.
func TestDamagedTables(t *testing.T) {
	whole, _ := cpu(t)
	foreign := fileOf(t, []call{{Start: 1e15 + 5, Name: "a"}, {Start: 1e15, Name: "b"}})
	rng, allocs := rand.New(rand.NewPCG(5, 6)), laws.NewAllocs()
	for i := range 600 {
		d := []directory{maps.Clone(whole), {"events": whole["events"]}, {"x": foreign}}[i%3]
		names := slices.Sorted(maps.Keys(d))
		name := names[i/3%len(names)]
		d[name] = bytes.Clone(d[name])
		for range 1 + rng.IntN(3) {
			d[name][len(d[name])-1-rng.IntN(min(len(d[name]), 1000*(1+i%9)))] ^= 1 << rng.IntN(8)
		}
		allocs.Reset()
		opened, err := parquet.New(d, &parquet.Options{ByTime: i%2 == 0, TempDir: t.TempDir()})
		if err != nil {
			continue
		}
		for e, err := range ntconv.Events(ntconvtest.Poison(opened)) {
			if err == nil && e.Kind == ntconv.KindEvent && (e.Type == nil || e.Thread == nil || e.Capture == nil) {
				t.Fatalf("an event without type or thread: %+v", e)
			}
		}
		opened.Close()
		if n := allocs.Bytes(); n > 512<<20 {
			t.Errorf("%s, damage %d: %d bytes were allocated", name, i, n)
		}
	}
}
