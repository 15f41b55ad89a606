package main

import (
	"maps"
	"os"
	"path/filepath"
	"testing"

	pq "github.com/parquet-go/parquet-go"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/testing/corpus"
	"github.com/ntconv/ntconv/reader"
	"github.com/ntconv/ntconv/schema"
)

const trace, event = "alloc-verbose.nettrace.zst", "GCAllocationTick"

// totals holds what the test compares about all events of the type.
type totals struct {
	rows, bytes, size int64
	names             map[string]int
}

// wantTotals adds up the fields of the events in the trace.
func wantTotals(t *testing.T) totals {
	file, err := os.Open(corpus.Path(trace))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	src, err := reader.New(file, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := totals{names: map[string]int{}}
	for e, err := range ntconv.Events(schema.Describe(src)) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Kind != ntconv.KindEvent || e.Type.Name != event {
			continue
		}
		want.rows++
		amount, _ := e.Field("AllocationAmount64")
		size, _ := e.Field("ObjectSize")
		name, _ := e.Field("TypeName")
		want.bytes += amount.Int()
		want.size += size.Int()
		want.names[name.String()]++
	}
	return want
}

// TestParquet reads the table with the Parquet library and compares it with the fields of the events.
func TestParquet(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ticks.parquet")
	if err := run([]string{corpus.Path(trace), "Microsoft-Windows-DotNETRuntime/" + event, path}); err != nil {
		t.Fatal(err)
	}
	rows, err := pq.ReadFile[struct {
		AllocationAmount64 int64
		ObjectSize         int64
		TypeName           string
	}](path)
	if err != nil {
		t.Fatal(err)
	}
	got, want := totals{rows: int64(len(rows)), names: map[string]int{}}, wantTotals(t)
	for _, row := range rows {
		got.bytes += row.AllocationAmount64
		got.size += row.ObjectSize
		got.names[row.TypeName]++
	}
	if want.rows < 50 || want.bytes == 0 || want.size == 0 || len(want.names) < 2 {
		t.Fatalf("the trace has %d events with %d bytes of %d types: too few for a test", want.rows, want.bytes, len(want.names))
	}
	if got.rows != want.rows || got.bytes != want.bytes || got.size != want.size || !maps.Equal(got.names, want.names) {
		t.Errorf("table has %v, want %v", got, want)
	}
}

// TestParquetErrors checks that a failed run leaves no file.
func TestParquetErrors(t *testing.T) {
	for _, c := range []struct{ event, want string }{
		{"Microsoft-Windows-DotNETRuntime/NoSuchEvent", "no events match Microsoft-Windows-DotNETRuntime/NoSuchEvent"},
		{"*/GC*", "events of several types match: want one table, got event_clr_GCAllocationTick and event_clr_GCCreateSegment"},
	} {
		path := filepath.Join(t.TempDir(), "table.parquet")
		if err := run([]string{corpus.Path(trace), c.event, path}); err == nil || err.Error() != c.want {
			t.Errorf("%s: error %v, want %s", c.event, err, c.want)
		}
		if _, err := os.Stat(path); err == nil {
			t.Errorf("%s: a file remains", c.event)
		}
	}
}
