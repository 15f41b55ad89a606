package parquet_test

import (
	"math"
	"os"
	"runtime"
	"testing"
	"time"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/exporters/parquet"
	"github.com/ntconv/ntconv/internal/events/recording"
	"github.com/ntconv/ntconv/internal/tables"
	"github.com/ntconv/ntconv/internal/testing/corpus"
)

// The table counters has every value of every counter, with the event that states it.
func TestCounters(t *testing.T) {
	files := []corpus.File{corpus.Trace(t, "counters")}
	if _, err := corpus.Find("data"); err == nil {
		files = append(files, corpus.SharedTrace(t, "own/metrics"), corpus.SharedTrace(t, "own/metrics-limits"), corpus.SharedTrace(t, "nettrace/countercow-aspnet-net9"))
	}
	for _, f := range files {
		m, events, info, _ := exported(t, f.Data, parquet.Options{})
		rows := rowsOf[tables.Counter](t, m, "counters")
		r := recording.NewCounterReader()
		n := 0
		for i, e := range events {
			r.Read(e, func(v *recording.CounterValue) {
				if n == len(rows) {
					t.Fatalf("%s: more than %d values", f.Name, n)
				}
				row := rows[n]
				n++
				if row.EventID != int64(i+1) || row.TSNanos != info.Clock.Time(e.Time).UnixNano() || row.PID != int64(e.Thread.Process.PID) ||
					row.Provider != v.Provider || row.Name != v.Name || row.DisplayName != v.DisplayName || row.Unit != v.Unit || row.Kind != v.Kind ||
					row.Statistic != v.Statistic || row.IntervalSecs != v.Interval || len(row.Tags) != len(v.Tags) {
					t.Fatalf("%s: row %+v, want %+v", f.Name, row, *v)
				}
				if (row.Value != nil) != v.OK || v.OK && math.Float64bits(*row.Value) != math.Float64bits(v.Value) {
					t.Fatalf("%s: row %+v has the value %v, want %v", f.Name, row, row.Value, v.Value)
				}
				for _, tag := range v.Tags {
					if row.Tags[tag.Key] != tag.Value {
						t.Fatalf("%s: tags %v, want %v", f.Name, row.Tags, v.Tags)
					}
				}
			})
		}
		if n != len(rows) || n == 0 {
			t.Errorf("%s: %d rows, want %d", f.Name, len(rows), n)
		}
	}
}

// Abort ends the goroutines, closes all files and removes the temporary file. It does nothing after Abort or Close.
func TestAbort(t *testing.T) {
	src, names := reading(t, corpus.Trace(t, "cpu-default").Data)
	m, dir, before := memory{}, t.TempDir(), runtime.NumGoroutine()
	sink, err := parquet.New(m.create, src.Info(), names, &parquet.Options{TempDir: dir})
	if err != nil {
		t.Fatal(err)
	}
	for e := range ntconv.Events(src) {
		if err := sink.Write(e); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		if err := sink.Abort(); err != nil {
			t.Fatal(err)
		}
	}
	for name, f := range m {
		if !f.closed {
			t.Errorf("%s is open", name)
		}
	}
	for i := 0; runtime.NumGoroutine() > before && i < 100; i++ {
		time.Sleep(time.Millisecond)
	}
	if n := runtime.NumGoroutine(); n > before {
		t.Errorf("%d goroutines are left", n-before)
	}
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("%d temporary files are left", len(left))
	}
}
