package tracegen_test

import (
	"bytes"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/span"
	"github.com/ntconv/ntconv/internal/span/tracker"
	"github.com/ntconv/ntconv/internal/testing/tracegen"
	"github.com/ntconv/ntconv/internal/trace/wire"
	"github.com/ntconv/ntconv/reader"
)

// TestWriteSpans checks that a generated trace is valid for the strict reader and contains the specified spans:
// distinct IDs, existing parents, and tags.
func TestWriteSpans(t *testing.T) {
	for _, o := range []tracegen.SpanOptions{
		{Spans: 0}, {Spans: 1}, {Spans: 25_000}, {Spans: 25_000, Starts: 4}, {Version: wire.V6, Spans: 25_000, Starts: 1, Threads: 3, Sources: 2, Tags: 1},
	} {
		var trace bytes.Buffer
		stats, err := tracegen.WriteSpans(&trace, o)
		if err != nil || stats.Bytes != int64(trace.Len()) || stats.Samples != o.Spans {
			t.Fatalf("%+v: %v, %+v, %d bytes", o, err, stats, trace.Len())
		}
		report := new(ntconv.Report)
		src, err := reader.New(&trace, &reader.Options{Strict: true, Report: report})
		if err != nil {
			t.Fatal(err)
		}
		parents := map[span.Context]span.ID{}
		wrong := 0
		tr := tracker.New(src.Info(), func(s *span.Span) {
			parents[s.Context] = s.ParentID
			if s.End <= s.Start || len(s.Attributes) != max(o.Tags, 1) && len(s.Attributes) != 6 || s.Scope.Version != "1.2" || s.MadeID {
				wrong++
			}
		}, &tracker.Options{Report: report})
		events := int64(0)
		for e, err := range ntconv.Events(src) {
			if err != nil {
				t.Fatalf("%+v: %v", o, err)
			}
			if tr.Add(e); e.Kind == ntconv.KindEvent {
				events++
			}
		}
		tr.Finish()
		for c, parent := range parents {
			if _, ok := parents[span.Context{TraceID: c.TraceID, ID: parent}]; !ok && !parent.IsZero() {
				wrong++
			}
		}
		if int64(len(parents)) != o.Spans || wrong > 0 || events != stats.Events || len(report.Entries()) > 0 {
			t.Errorf("%+v: %d spans, %d wrong, %d events of %d, %v", o, len(parents), wrong, events, stats.Events, report.Entries())
		}
	}
}
