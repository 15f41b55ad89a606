package parquet_test

import (
	"bytes"
	"fmt"
	"io"
	"testing"

	"github.com/ntconv/ntconv"
	export "github.com/ntconv/ntconv/exporters/parquet"
	"github.com/ntconv/ntconv/importers/parquet"
	"github.com/ntconv/ntconv/internal/testing/corpus"
)

// drain reads all events of tables and returns their number.
func drain(b *testing.B, in parquet.Tables) (n int) {
	b.Helper()
	src, err := parquet.New(in, nil)
	for err == nil {
		_, err = src.Next()
		n++
	}
	if err != io.EOF {
		b.Fatal(err)
	}
	return n - 1
}

func perRow(b *testing.B, n int) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/event")
}

// repeated returns the events of a source that many times.
type repeated struct {
	events []*ntconv.Event
	info   *ntconv.Info
	next   int
	times  int
}

func (r *repeated) Info() *ntconv.Info { return r.info }

func (r *repeated) Next() (*ntconv.Event, error) {
	if r.next == len(r.events) {
		if r.times--; r.times <= 0 {
			return nil, io.EOF
		}
		r.next = 0
	}
	r.next++
	return r.events[r.next-1], nil
}

// BenchmarkTrace reads the tables of a trace of 180,000 events.
func BenchmarkTrace(b *testing.B) {
	for name, o := range map[string]export.Options{"json": {}, "raw": {Raw: true}} {
		b.Run(name, func(b *testing.B) {
			src := open(b, corpus.Trace(b, "cpu-env").Data)
			r := &repeated{info: src.Info(), times: 100}
			for e, err := range ntconv.Events(src) {
				if err != nil {
					b.Fatal(err)
				}
				r.events = append(r.events, e.Clone())
			}
			d := write(b, r, o)
			n := 0
			b.ReportAllocs()
			for b.Loop() {
				n = drain(b, d)
			}
			perRow(b, n)
		})
	}
}

// BenchmarkForeign reads rows with a duration and eight columns, two events each.
func BenchmarkForeign(b *testing.B) {
	var sorted, unsorted []call
	for i := range 200_000 {
		d := int64(i % 50)
		c := call{Start: 1e15 + int64(i), Duration: &d, Name: fmt.Sprint("op", i%20), PID: 1, TID: int64(i % 8), Amount: int64(i)}
		sorted = append(sorted, c)
		c.Start += int64(i * 7919 % 1000)
		unsorted = append(unsorted, c)
	}
	for name, rows := range map[string][]call{"sorted": sorted, "unsorted": unsorted} {
		b.Run(name, func(b *testing.B) {
			file := fileOf(b, rows)
			n := 0
			b.ReportAllocs()
			for b.Loop() {
				n = drain(b, parquet.File("x", bytes.NewReader(file), int64(len(file))))
			}
			perRow(b, n)
		})
	}
}
