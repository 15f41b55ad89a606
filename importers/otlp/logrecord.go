package otlp

import (
	"fmt"
	"strconv"

	"github.com/ntconv/ntconv"
	logdata "github.com/ntconv/ntconv/internal/span/logs"
)

// logRecord decodes a LogRecord (logs.proto) into d.record. It returns false and counts the record if it is invalid.
func (d *decoder) logRecord(b []byte) bool {
	m := newMessage(b)
	r := &d.record
	var ids idLengths
	for m.next() {
		switch {
		case m.is(1, fixed64):
			r.Time = m.n
		case m.is(2, varint):
			r.Severity = logdata.Severity(m.n)
		case m.is(3, lenType):
			r.SeverityText = d.valid(m.str())
		case m.is(5, lenType):
			sub := m.sub()
			r.Body = d.anyValue(r.Body, &sub, d.limits.Depth)
			m.corrupt = m.corrupt || sub.corrupt
		case m.is(6, lenType):
			d.own = d.keyValue(d.own, m.sub(), &m)
		case m.is(7, varint):
			r.DroppedAttributes = uint32(m.n)
		case m.is(8, fixed32):
			r.Flags = uint32(m.n)
		case m.is(9, lenType):
			ids.trace = fill(r.TraceID[:], m.bytes())
		case m.is(10, lenType):
			ids.span = fill(r.Context.ID[:], m.bytes())
		case m.is(11, fixed64):
			r.Observed = m.n
		case m.is(12, lenType):
			r.EventName = d.valid(m.str())
		default:
			d.unknownField("LogRecord", &m)
		}
	}
	if m.corrupt {
		d.skip("not a valid message")
		return false
	}
	d.finishRecord(ids)
	return true
}

// finishRecord completes a record whose message has been read. An ID of a wrong length is omitted, because logs.proto
// says that the record then belongs to no span.
func (d *decoder) finishRecord(ids idLengths) {
	r := &d.record
	r.Attributes = d.own
	if ids.trace != 0 && ids.trace != len(r.TraceID) || ids.span != 0 && ids.span != len(r.Context.ID) {
		what := fmt.Sprintf("%v: IDs of %d and %d bytes; want 16 for the trace and 8 for the span", d.place, ids.trace, ids.span)
		d.report.Note(ntconv.CodeNotCarried, 1, d.place.offset, what)
	}
}

// logRecordJSON decodes an element of logRecords into d.record. It returns false and counts the record if it is invalid.
func (d *decoder) logRecordJSON(text []byte) bool {
	d.json.reset(text)
	var ids idLengths
	ok := true
	if !d.json.members(func(key string) bool {
		if !d.recordFieldJSON(key, &ids) && ok {
			ok = false
			d.skip(key + " is not valid")
		}
		return ok
	}) {
		return false
	}
	d.finishRecord(ids)
	return true
}

// recordFieldJSON decodes a field of a log record. It returns false if the value is invalid; an unknown field is valid
// and counted.
func (d *decoder) recordFieldJSON(key string, ids *idLengths) (ok bool) {
	r := &d.record
	switch key {
	case "timeUnixNano", "time_unix_nano":
		return d.setUint64(&r.Time)
	case "observedTimeUnixNano", "observed_time_unix_nano":
		return d.setUint64(&r.Observed)
	case "severityNumber", "severity_number":
		n, ok := d.enum(severityNames)
		return set(&r.Severity, logdata.Severity(n), ok)
	case "severityText", "severity_text":
		return d.setString(&r.SeverityText)
	case "body":
		if d.json.null() {
			return true
		}
		r.Body, ok = d.anyValueJSON(d.limits.Depth)
		return ok
	case "attributes":
		return d.attributesJSON(&d.own, d.limits.Depth)
	case "droppedAttributesCount", "dropped_attributes_count":
		return d.setUint32(&r.DroppedAttributes)
	case "flags":
		return d.setUint32(&r.Flags)
	case "traceId", "trace_id":
		return d.setHex(r.TraceID[:], &ids.trace)
	case "spanId", "span_id":
		return d.setHex(r.Context.ID[:], &ids.span)
	case "eventName", "event_name":
		return d.setString(&r.EventName)
	}
	return d.unknownJSON("logRecord." + key)
}

// severityNames are the names of SeverityNumber in logs.proto.
var severityNames = func() []string {
	names := []string{"SEVERITY_NUMBER_UNSPECIFIED"}
	for _, level := range [...]string{"TRACE", "DEBUG", "INFO", "WARN", "ERROR", "FATAL"} {
		for i := 1; i <= 4; i++ {
			name := "SEVERITY_NUMBER_" + level
			if i > 1 {
				name += strconv.Itoa(i)
			}
			names = append(names, name)
		}
	}
	return names
}()
