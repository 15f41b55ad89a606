package spangen

import (
	"fmt"
	"reflect"

	"github.com/ntconv/ntconv/internal/span"
	"github.com/ntconv/ntconv/internal/span/logs"
	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	logspb "go.opentelemetry.io/proto/otlp/logs/v1"
	"pgregory.net/rapid"
)

// Record generates log records with this scope and resource. Any field may be absent, but not all of them: a message
// without fields may be of any signal.
func Record(s *span.Scope, r *span.Resource) *rapid.Generator[*logs.Record] {
	return rapid.Custom(func(t *rapid.T) *logs.Record {
		maybe := func(what string) bool { return rapid.Bool().Draw(t, what) }
		l := &logs.Record{
			Severity: logs.Severity(rapid.OneOf(rapid.Int32Range(0, 24), rapid.Int32()).Draw(t, "severity")), SeverityText: Text().Draw(t, "text"),
			EventName: Text().Draw(t, "event"), Body: Value(3).Draw(t, "body"), Attributes: attributes(3).Draw(t, "attributes"),
			Observed: rapid.Uint64Min(1).Draw(t, "observed"), Scope: s, Resource: r,
		}
		if maybe("has time") {
			l.Time = rapid.Uint64().Draw(t, "time")
		}
		if maybe("has trace") {
			l.TraceID = TraceID().Draw(t, "trace")
		}
		if maybe("has span") {
			l.Context.ID = ID().Draw(t, "span")
		}
		if maybe("has counts") {
			l.Flags, l.DroppedAttributes = rapid.Uint32().Draw(t, "flags"), rapid.Uint32().Draw(t, "dropped")
		}
		return l
	})
}

// Records generates log records in an order that OTLP can represent, like Spans.
func Records() *rapid.Generator[[]*logs.Record] {
	return rapid.Custom(func(t *rapid.T) (records []*logs.Record) {
		for _, r := range rapid.SliceOfN(Resource(), 1, 2).Draw(t, "resources") {
			for _, s := range rapid.SliceOfN(Scope(), 1, 2).Draw(t, "scopes") {
				records = append(records, rapid.SliceOfN(Record(s, r), 0, 3).Draw(t, "records")...)
			}
		}
		return records
	})
}

// LogsProto is Proto for log records.
func LogsProto(records []*logs.Record) *logspb.LogsData {
	data := &logspb.LogsData{}
	var rl *logspb.ResourceLogs
	var sl *logspb.ScopeLogs
	for i, l := range records {
		if i == 0 || l.Resource != records[i-1].Resource {
			rl, sl = &logspb.ResourceLogs{Resource: resource(l.Resource), SchemaUrl: l.Resource.SchemaURL}, nil
			data.ResourceLogs = append(data.ResourceLogs, rl)
		}
		if sl == nil || l.Scope != records[i-1].Scope {
			sl = &logspb.ScopeLogs{Scope: scope(l.Scope), SchemaUrl: l.Scope.SchemaURL}
			rl.ScopeLogs = append(rl.ScopeLogs, sl)
		}
		p := &logspb.LogRecord{
			TimeUnixNano: l.Time, ObservedTimeUnixNano: l.Observed, SeverityNumber: logspb.SeverityNumber(l.Severity), SeverityText: l.SeverityText,
			Attributes: keyValues(l.Attributes), DroppedAttributesCount: l.DroppedAttributes, Flags: l.Flags, EventName: l.EventName,
		}
		if l.Body.Kind() != span.ValueAbsent {
			p.Body = anyValue(l.Body)
		}
		if !l.TraceID.IsZero() {
			p.TraceId = l.TraceID[:]
		}
		if !l.Context.ID.IsZero() {
			p.SpanId = l.Context.ID[:]
		}
		sl.LogRecords = append(sl.LogRecords, p)
	}
	return data
}

// RecordsFromProto is the inverse of LogsProto. IDs of a wrong length are absent.
func RecordsFromProto(data *logspb.LogsData) (records []*logs.Record) {
	for _, rl := range data.ResourceLogs {
		r := resourceFrom(rl.Resource, rl.SchemaUrl)
		for _, sl := range rl.ScopeLogs {
			s := scopeFrom(sl.Scope, sl.SchemaUrl)
			for _, p := range sl.LogRecords {
				l := &logs.Record{
					Time: p.TimeUnixNano, Observed: p.ObservedTimeUnixNano, Severity: logs.Severity(p.SeverityNumber), SeverityText: p.SeverityText,
					Attributes: fromKeyValues(p.Attributes), DroppedAttributes: p.DroppedAttributesCount, Flags: p.Flags, EventName: p.EventName,
					Scope: s, Resource: r,
				}
				if p.Body != nil {
					l.Body = fromAnyValue(p.Body)
				}
				if len(p.TraceId) == len(l.TraceID) {
					copy(l.TraceID[:], p.TraceId)
				}
				if len(p.SpanId) == len(l.Context.ID) {
					copy(l.Context.ID[:], p.SpanId)
				}
				records = append(records, l)
			}
		}
	}
	return records
}

func scopeFrom(p *commonpb.InstrumentationScope, url string) *span.Scope {
	s := &span.Scope{SchemaURL: url, Absent: p == nil}
	if p != nil {
		s.Name, s.Version, s.Attributes, s.DroppedAttributes = p.Name, p.Version, fromKeyValues(p.Attributes), p.DroppedAttributesCount
	}
	return s
}

// CloneRecord returns a deep copy of a record, which may be retained. Absent lists are nil.
func CloneRecord(l *logs.Record) *logs.Record {
	c := *l
	c.Attributes, c.Body = cloneAttributes(l.Attributes), cloneValue(l.Body)
	origin := Clone(&span.Span{Scope: l.Scope, Resource: l.Resource})
	c.Scope, c.Resource = origin.Scope, origin.Resource
	return &c
}

// EqualRecords returns an error with the first difference between two lists of records, nil if there is none. It compares
// the fields of OTLP, doubles by their bits.
func EqualRecords(want, got []*logs.Record) error {
	if len(want) != len(got) {
		return fmt.Errorf("want %d records, got %d", len(want), len(got))
	}
	for i := range want {
		x, y := CloneRecord(want[i]), CloneRecord(got[i])
		x.Process, x.Thread, y.Process, y.Thread = nil, nil, nil, nil
		a, b := reflect.ValueOf(*x), reflect.ValueOf(*y)
		for k := range a.NumField() {
			if x, y := a.Field(k).Interface(), b.Field(k).Interface(); !reflect.DeepEqual(x, y) {
				return fmt.Errorf("record %d: %s: want %+v, got %+v", i, a.Type().Field(k).Name, deref(x), deref(y))
			}
		}
	}
	return nil
}
