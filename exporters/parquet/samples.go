package parquet

import (
	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/profile"
	"github.com/ntconv/ntconv/internal/tables"
)

// samples writes the table samples, with one row per sample and sample type.
type samples struct {
	sink   *Sink
	stream *profile.Stream[tables.Sample]
	rows   *sorted[tables.Sample]
	active func(*ntconv.Event) (traceID [16]byte, spanID [8]byte, ok bool) // nil: only labels contain span IDs
	ids    idTexts
}

func newSamples(s *Sink) (derived, error) {
	rows, err := newSorted[tables.Sample](s.files)
	if err != nil {
		return nil, err
	}
	if rows.table.discard {
		return omitted{}, nil
	}
	p := &samples{sink: s, rows: rows, active: s.o.Active}
	p.stream = profile.NewStream(s.info, p.add, &profile.StreamOptions{Report: s.o.Report})
	return p, nil
}

func (p *samples) watch(e *ntconv.Event) { p.stream.Watch(e) }

// write hands a sample to the stream, which returns it to add as soon as its weight is known: for wall-clock time, at
// the next sample of the thread.
func (p *samples) write(e *ntconv.Event, it *item) error {
	if !p.stream.IsSample(e) {
		p.stream.Watch(e)
		return nil
	}
	row := tables.Sample{
		EventID: it.id, TS: it.micros, TSNanos: it.nanos, ProcessID: it.process, PID: it.pid, ThreadID: it.thread, TID: it.tid,
		StackID: it.stack, TraceID: it.traceID, SpanID: it.spanID,
	}
	if p.active != nil {
		if traceID, spanID, ok := p.active(e); ok {
			row.TraceID, row.SpanID = p.ids.of(traceID, spanID)
		}
	}
	p.stream.Add(e, row)
	return nil
}

// add adds the rows of a sample whose weight is known.
func (p *samples) add(w *profile.Weighed[tables.Sample]) {
	row := &w.Subject
	row.Kind, row.State = w.Kind.String(), w.State()
	if row.SpanID != "" {
		p.sink.done.Linked += int64(len(w.Types))
	}
	for i, v := range w.Types {
		row.SampleType, row.Unit, row.Value = valid(v.Type), valid(v.Unit), w.Values[i]
		p.rows.add(row, row.TSNanos, row.EventID, 0)
	}
}

func (p *samples) close() error {
	p.stream.Finish()
	err := p.rows.close()
	p.sink.done.Samples = p.rows.table.count
	return err
}

func (p *samples) abort() error { return nil }

// omitted is a derived whose tables are not selected.
type omitted struct{}

func (omitted) watch(*ntconv.Event)              {}
func (omitted) write(*ntconv.Event, *item) error { return nil }
func (omitted) close() error                     { return nil }
func (omitted) abort() error                     { return nil }
