package otlp

import (
	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/data/bin"
	"github.com/ntconv/ntconv/internal/span"
	"github.com/ntconv/ntconv/internal/span/logs"
)

// newLogs returns the reader of log records, nil if they are not written.
func (s *Sink) newLogs(info *ntconv.Info) *logs.Reader {
	if !s.o.Signals.Has(Logs) {
		return nil
	}
	return logs.NewReader(info, s.addRecord, &logs.Options{Select: s.o.LogProviders, Active: s.tracker.Active, Report: s.o.Report})
}

// addRecord adds a log record.
func (s *Sink) addRecord(r *logs.Record) {
	s.put(Logs, r.Time, origin{resource: r.Resource, process: r.Process, scope: r.Scope}, func(e *encoder) { e.record(r) })
}

// record appends a log record as an element of a ScopeLogs message (logs.proto).
func (e *encoder) record(r *logs.Record) {
	message := e.begin(2)
	e.fixed64(1, r.Time)
	e.varint(2, uint64(int64(r.Severity)))
	e.text(3, r.SeverityText)
	if r.Body.Kind() != span.ValueAbsent {
		body := e.begin(5)
		e.value(&r.Body)
		e.end(body)
	}
	e.attributes(6, r.Attributes)
	e.varint(7, uint64(r.DroppedAttributes))
	if r.Flags != 0 {
		e.tag(8, wireFixed32)
		e.b = bin.AppendU32(e.b, r.Flags)
	}
	if !r.TraceID.IsZero() {
		e.length(9, len(r.TraceID))
		e.b = append(e.b, r.TraceID[:]...)
	}
	if !r.Context.ID.IsZero() {
		e.length(10, len(r.Context.ID))
		e.b = append(e.b, r.Context.ID[:]...)
	}
	e.fixed64(11, r.Observed)
	e.text(12, r.EventName)
	e.end(message)
}
