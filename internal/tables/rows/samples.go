package rows

import (
	"encoding/binary"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/profile"
	"github.com/ntconv/ntconv/internal/profile/meters"
	"github.com/ntconv/ntconv/internal/span/active"
	"github.com/ntconv/ntconv/internal/tables"
	"github.com/ntconv/ntconv/sample"
)

// samples writes the table samples, with one row per sample and sample type.
type samples struct {
	sink   *Sink
	stream *profile.Stream[tables.Sample]
	rows   *sorted[tables.Sample]
	active func(*ntconv.Event) (traceID [16]byte, spanID [8]byte, ok bool) // nil: only labels contain span IDs
	ids    idTexts
	labels labelMaps
}

// labelMaps turns the labels of a sample to a map. Samples with equal labels share one map.
type labelMaps struct {
	known map[string]map[string]string // by the labels as text
	key   []byte
}

// maxLabelMaps bounds the memory of labelMaps: the maps that rows refer to are freed with the rows.
const maxLabelMaps = 1 << 16

// of returns the labels as a map, nil if there are none. It borrows list.
func (m *labelMaps) of(list []ntconv.Label) map[string]string {
	if len(list) == 0 {
		return nil
	}
	m.key = m.key[:0]
	for _, l := range list {
		m.key = append(binary.AppendUvarint(m.key, uint64(len(l.Key))), l.Key...)
		m.key = append(binary.AppendUvarint(m.key, uint64(len(l.Str))), l.Str...)
	}
	labels := m.known[string(m.key)]
	if labels == nil {
		if m.known == nil || len(m.known) >= maxLabelMaps {
			m.known = map[string]map[string]string{}
		}
		labels = make(map[string]string, len(list))
		for _, l := range list {
			labels[valid(l.Key)] = valid(l.Str)
		}
		m.known[string(m.key)] = labels
	}
	return labels
}

// SourceName returns the name of the events that a sample was computed from, "" if its kind has only one source.
func SourceName(k sample.Kind, source uint8) string {
	names, _ := meters.SourcesOf(k, nil)
	if int(source) >= len(names) || len(names) < 2 {
		return ""
	}
	return names[source]
}

func newSamples(s *Sink) (Part, error) {
	rows, err := newSorted[tables.Sample](s.out)
	if err != nil {
		return nil, err
	}
	if rows.table.discard && s.o.OnSample == nil {
		return omitted{}, nil
	}
	p := &samples{sink: s, rows: rows, active: s.o.Active}
	p.stream = profile.NewStream(s.info, p.add, &profile.StreamOptions{
		Kinds: s.o.Kinds, Options: s.o.KindOptions, Window: s.o.Window, Report: s.o.Report,
		TypeName: meters.TypeNameOf(s.namer),
	})
	return p, nil
}

// evidence returns the evidence that linked the latest event to a span, 0 if it is unknown.
func (p *samples) evidence() (by active.Evidence) {
	if p.sink.o.Evidence != nil {
		by, _ = active.ParseEvidence(p.sink.o.Evidence())
	}
	return by
}

func (p *samples) Watch(e *ntconv.Event) { p.stream.Watch(e) }

// Write hands a sample to the stream, which returns it to add as soon as its weight is known: for wall-clock time, at
// the next sample of the thread.
func (p *samples) Write(e *ntconv.Event, it *Item) error {
	if !p.stream.IsSample(e) {
		p.stream.Watch(e)
		return nil
	}
	row := tables.Sample{
		EventID: it.ID, TS: it.Micros, TSNanos: it.Nanos, ProcessID: it.Process, PID: it.PID, ThreadID: it.Thread, TID: it.TID,
		StackID: it.Stack, TraceID: it.TraceID, SpanID: it.SpanID,
	}
	var by active.Evidence
	if p.active != nil {
		if traceID, spanID, ok := p.active(e); ok {
			row.TraceID, row.SpanID = p.ids.of(traceID, spanID)
			by = p.evidence()
		}
	} else if row.SpanID != "" {
		by = active.Label
	}
	p.sink.done.Links.Add(by)
	p.stream.Add(e, row)
	return nil
}

// add adds the rows of a sample whose weight is known.
func (p *samples) add(w *profile.Weighed[tables.Sample]) {
	row := &w.Subject
	row.Kind, row.State, row.Subject = w.Kind.String(), w.State(), valid(w.About)
	if p.sink.o.OnSample != nil {
		p.sink.o.OnSample(w)
		return
	}
	row.Source, row.Labels = "", nil
	if w.Kind > sample.Imported {
		row.Source, row.Labels = SourceName(w.Kind, w.Source), p.labels.of(w.Labels)
	}
	if row.SpanID != "" {
		p.sink.done.Linked += int64(len(w.Types))
	}
	for i, v := range w.Types {
		row.SampleType, row.Unit, row.Value = valid(v.Type), valid(v.Unit), w.Values[i]
		p.rows.add(row, row.TSNanos, row.EventID, 0)
	}
}

func (p *samples) Close() error {
	p.stream.Finish()
	p.sink.done.Long = p.stream.Long(sample.Wall)
	err := p.rows.close()
	p.sink.done.Samples = p.rows.table.count
	return err
}

func (p *samples) Abort() error { return nil }

// omitted is a Part whose tables are not selected.
type omitted struct{}

func (omitted) Watch(*ntconv.Event)              {}
func (omitted) Write(*ntconv.Event, *Item) error { return nil }
func (omitted) Close() error                     { return nil }
func (omitted) Abort() error                     { return nil }
