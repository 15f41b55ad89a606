package tracker_test

import (
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/events/clr"
	"github.com/ntconv/ntconv/internal/span"
	"github.com/ntconv/ntconv/internal/span/tracker"
)

// BenchmarkAdd measures Add with events in memory, which is the cost of a tracker in addition to reading the trace.
func BenchmarkAdd(b *testing.B) {
	build := newTrace(b)
	threads := [4]*ntconv.Thread{build.thread(1), build.thread(2), build.thread(3), build.thread(4)}
	sample := &ntconv.Type{Provider: clr.SampleProfiler, ID: 0}
	tick := &ntconv.Type{Provider: clr.Runtime, ID: 10, Version: 4}
	cases := []struct {
		name  string
		build func(i int64, th *ntconv.Thread)
	}{
		{"samples", func(i int64, th *ntconv.Thread) { build.addType(i, th, sample, 0) }},
		{"samples and allocations", func(i int64, th *ntconv.Thread) {
			build.addType(i, th, []*ntconv.Type{sample, tick}[i/3%2], 0, activityLabel(ntconv.GUID{byte(i / 100)}))
		}},
		{"pairs", func(i int64, th *ntconv.Thread) {
			build.add(i, th, []string{"OrderStart", "OrderStop"}[i/4%2], int32(i/8%1000))
		}},
		{"pairs by activity", func(i int64, th *ntconv.Thread) {
			build.add(i, th, []string{"OrderStart", "OrderStop"}[i/4%2], int32(i/8%1000), activityLabel(ntconv.GUID{byte(i / 8), byte(th.TID)}))
		}},
		{"labels", func(i int64, th *ntconv.Thread) {
			build.add(i, th, []string{"OrderStart", "Note", "Note", "OrderStop"}[i/4%4], int32(i/16%1000), traceLabel(byte(i/16)), spanLabel(byte(th.TID)+byte(i/4096)<<2))
		}},
	}
	for _, c := range cases {
		b.Run(c.name, func(b *testing.B) {
			build.events = nil
			for i := range int64(1 << 14) {
				c.build(i, threads[i%4])
			}
			tr := tracker.New(build.info, func(*span.Span) {}, &tracker.Options{MaxOpen: 1000})
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				if e := build.events[i%len(build.events)]; e.Labels != nil && i >= len(build.events) && c.name == "labels" {
					e.Labels.List()[0].ID[8] = byte(i >> 14) // otherwise the spans of the first round would match
				}
				tr.Add(build.events[i%len(build.events)])
				i++
			}
			b.ReportMetric(float64(tr.Counts().Spans)/float64(i), "spans/op")
		})
	}
}
