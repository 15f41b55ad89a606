package diagsource_test

import (
	"bytes"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/span"
	"github.com/ntconv/ntconv/internal/span/diagsource"
	"github.com/ntconv/ntconv/ntconvtest"
	"github.com/ntconv/ntconv/reader"
	"github.com/ntconv/ntconv/schema"
)

// decoded is the result of decoding a trace.
type decoded struct {
	spans   []*span.Span // in the order in which they ended
	started []*span.Span // as the Start events showed them
	counts  diagsource.Counts
	report  ntconv.Report
	lost    uint64 // events that the recorder lost
}

// byID returns the span with an ID, or nil.
func (d *decoded) byID(id span.ID) *span.Span {
	for _, s := range d.spans {
		if s.Context.ID == id {
			return s
		}
	}
	return nil
}

// decode returns the spans of a trace. It overwrites events as soon as they are no longer borrowed.
func decode(tb testing.TB, data []byte, o diagsource.Options) *decoded {
	tb.Helper()
	var read ntconv.Report
	src, err := reader.New(bytes.NewReader(data), &reader.Options{Report: &read})
	if err != nil {
		tb.Fatal(err)
	}
	d := decodeSource(tb, ntconvtest.Poison(src), o)
	d.lost = read.Count(ntconv.CodeEventsLost)
	return d
}

func decodeSource(tb testing.TB, src ntconv.Source, o diagsource.Options) *decoded {
	tb.Helper()
	out := new(decoded)
	o.Report = &out.report
	o.Started = func(_ *ntconv.Event, s *span.Span) { out.started = append(out.started, diagsource.Clone(s)) }
	d := diagsource.New(src.Info(), func(e *ntconv.Event, s *span.Span) {
		if (e == nil) != s.Unfinished {
			tb.Errorf("span %q: Unfinished is %t, and the event that ended it is %v", s.Name, s.Unfinished, e)
		}
		out.spans = append(out.spans, diagsource.Clone(s))
	}, &o)
	var table schema.Table
	for e, err := range ntconv.Events(src) {
		if err != nil {
			tb.Fatal(err)
		}
		d.Add(e, table.Of(e))
	}
	d.Finish()
	out.counts = d.Counts()
	return out
}
