package rows

import (
	"errors"
	"math"
	"slices"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/events/operation"
	"github.com/ntconv/ntconv/internal/span"
	"github.com/ntconv/ntconv/internal/span/tracker"
	"github.com/ntconv/ntconv/internal/tables"
)

// Attribute of the tracker that has a column of its own.
const attrSynthetic = "ntconv.synthetic"

// spans writes the tables spans and intervals.
type spans struct {
	sink      *Sink
	tracker   *tracker.Tracker
	spans     *sorted[tables.Span]
	intervals *sorted[tables.Interval]
	ids       idTexts
	scratch   []byte
}

func newSpans(s *Sink) (Part, error) {
	p := &spans{sink: s}
	var err error
	if p.spans, err = newSorted[tables.Span](s.out); err != nil {
		return nil, err
	}
	if p.intervals, err = newSorted[tables.Interval](s.out); err != nil {
		return nil, err
	}
	if p.spans.table.discard && p.intervals.table.discard {
		return omitted{}, nil
	}
	o := &tracker.Options{Sources: operation.Default, Unfinished: tracker.OpenUnfinished, Report: s.o.Report}
	if !p.intervals.table.discard {
		o.Sources |= operation.Runtime | operation.Suspensions
	}
	o.Active = s.active()
	p.tracker = tracker.New(s.info, p.add, o)
	return p, nil
}

// active returns Options.Active as a function that returns a Context, nil if it is nil.
func (s *Sink) active() func(*ntconv.Event) (span.Context, bool) {
	active := s.o.Active
	if active == nil {
		return nil
	}
	return func(e *ntconv.Event) (c span.Context, ok bool) {
		c.TraceID, c.ID, ok = active(e)
		return c, ok
	}
}

// Watch passes marks to the tracker, which must know when threads end. A selection does not omit marks.
func (p *spans) Watch(e *ntconv.Event) {
	if e.Kind != ntconv.KindEvent {
		p.tracker.Add(e)
	}
}

func (p *spans) Write(e *ntconv.Event, _ *Item) error {
	p.tracker.Add(e)
	return nil
}

func (p *spans) Close() error {
	p.tracker.Finish()
	err := errors.Join(p.spans.close(), p.intervals.close())
	p.sink.done.Spans = p.spans.table.count
	return err
}

func (p *spans) Abort() error { return nil }

// add adds a row for a span whose end is known.
func (p *spans) add(s *span.Span) {
	if s.Evidence == span.FromRuntime {
		p.addInterval(s)
	} else {
		p.addSpan(s)
	}
}

// addSpan adds a row to the table spans. The span is reused after the call, so the row contains copies.
func (p *spans) addSpan(s *span.Span) {
	row := tables.Span{
		TraceID: s.TraceID.String(), SpanID: s.ID.String(), Name: valid(s.Name), Kind: s.Kind.String(), Status: s.Status.String(),
		StatusMessage: valid(s.StatusMessage), Source: sourceNames[s.Evidence], Scope: valid(s.Scope.Name),
		ScopeVersion: valid(s.Scope.Version), TraceState: valid(s.TraceState), MadeID: s.MadeID,
	}
	if !s.ParentID.IsZero() {
		row.ParentSpanID = s.ParentID.String()
	}
	row.TS, row.TSNanos, row.EndTS, row.DurationNanos = times(s)
	row.ProcessID, row.PID, row.ThreadID, row.TID = p.sink.owner(s.Process, s.Thread)
	var bytes int
	row.Attributes, bytes = attributeMap(s.Attributes, attrSynthetic)
	if s.Resource != nil {
		var more int
		row.Resource, more = attributeMap(s.Resource.Attributes, "")
		bytes += more
	}
	if len(s.Events) > 0 {
		p.scratch = appendEvents(p.scratch[:0], s.Events)
		row.Events = string(p.scratch)
	}
	if len(s.Links) > 0 {
		p.scratch = appendLinks(p.scratch[:0], s.Links)
		row.Links = string(p.scratch)
	}
	bytes += rowBytes + len(row.Events) + len(row.Links) + len(row.Name) + len(row.StatusMessage)
	p.spans.add(&row, row.TSNanos, 0, bytes)
}

// rowBytes is the memory of a row of spans or intervals without its strings, in bytes.
const rowBytes = 512

func (p *spans) addInterval(s *span.Span) {
	row := tables.Interval{Kind: s.Operation.Name, Name: s.Name}
	row.TS, row.TSNanos, row.EndTS, row.DurationNanos = times(s)
	row.ProcessID, row.PID, row.ThreadID, row.TID = p.sink.owner(s.Process, s.Thread)
	if !s.Active.ID.IsZero() {
		row.TraceID, row.SpanID = p.ids.of(s.Active.TraceID, s.Active.ID)
	}
	attributes := s.Attributes
	if gc := p.tracker.Collection(); gc != nil { // a pause has the generation and the reason of its collection
		attributes = slices.Concat(attributes, gc)
	}
	var bytes int
	row.Attributes, bytes = attributeMap(attributes, attrSynthetic)
	p.intervals.add(&row, row.TSNanos, 0, bytes+rowBytes)
}

// owner returns the columns of a process and a thread, either of which may be nil. An unknown tid is -1.
func (s *Sink) owner(p *ntconv.Process, t *ntconv.Thread) (process int32, pid int64, thread int32, tid int64) {
	tid = -1
	if p != nil {
		process, pid = s.process(p), int64(p.PID)
	}
	if t != nil {
		thread = s.thread(t)
		if t.TID != ntconv.TIDUnknown {
			tid = int64(t.TID)
		}
	}
	return process, pid, thread, tid
}

// times returns the columns of a span's start and end. end and duration are nil if the trace does not contain the end.
func times(s *span.Span) (micros, nanos int64, end, duration *int64) {
	nanos = int64(s.Start)
	if s.End == 0 || s.Unfinished {
		return microsOf(nanos), nanos, nil, nil
	}
	e, d := microsOf(int64(s.End)), int64(s.End)-nanos
	if d < 0 && int64(s.End) > nanos { // overflow
		d = math.MaxInt64
	}
	return microsOf(nanos), nanos, &e, &d
}

// microsOf converts nanoseconds to microseconds, rounded down.
func microsOf(nanos int64) int64 {
	micros := nanos / 1000
	if nanos%1000 < 0 {
		micros--
	}
	return micros
}

var sourceNames = [...]string{
	span.FromOTLP: "imported", span.FromLabels: "labels", span.FromActivity: "activities", span.FromPair: "pairs", span.FromRuntime: "runtime",
	span.FromChrome: "chrome",
}
