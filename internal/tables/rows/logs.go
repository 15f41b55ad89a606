package rows

import (
	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/span/logs"
	"github.com/ntconv/ntconv/internal/tables"
)

// records writes the table logs.
type records struct {
	sink   *Sink
	reader *logs.Reader
	rows   *sorted[tables.Log]
	ids    idTexts
}

func newLogs(s *Sink) (Part, error) {
	rows, err := newSorted[tables.Log](s.out)
	if err != nil {
		return nil, err
	}
	if rows.table.discard {
		return omitted{}, nil
	}
	p := &records{sink: s, rows: rows}
	p.reader = logs.NewReader(s.info, p.add, &logs.Options{Active: s.active(), Report: s.o.Report})
	return p, nil
}

func (p *records) Watch(*ntconv.Event) {}

func (p *records) Write(e *ntconv.Event, _ *Item) error {
	p.reader.Add(e)
	return nil
}

// add adds a row. The record is reused after the call, so the row contains copies.
func (p *records) add(l *logs.Record) {
	nanos := int64(l.Unix())
	row := tables.Log{
		TS: microsOf(nanos), TSNanos: nanos, Severity: valid(l.SeverityText), SeverityNumber: int32(l.Severity), Scope: valid(l.Scope.Name),
		EventName: valid(l.EventName), Message: valueText(l.Body),
	}
	row.ProcessID, row.PID, row.ThreadID, row.TID = p.sink.owner(l.Process, l.Thread)
	row.TraceID, row.SpanID = p.ids.of(l.TraceID, l.Context.ID)
	var bytes int
	row.Attributes, bytes = attributeMap(l.Attributes, "")
	if l.Resource != nil {
		var more int
		row.Resource, more = attributeMap(l.Resource.Attributes, "")
		bytes += more
	}
	p.rows.add(&row, nanos, 0, bytes+rowBytes+len(row.Message))
}

func (p *records) Close() error {
	p.reader.Finish()
	err := p.rows.close()
	p.sink.done.Logs = p.rows.table.count
	return err
}

func (p *records) Abort() error { return nil }
