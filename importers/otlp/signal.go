package otlp

import (
	"google.golang.org/protobuf/encoding/protowire"
)

// A signal is a kind of OTLP data. The messages of all signals have the same outer levels: ResourceX{Resource,
// []ScopeX} and ScopeX{InstrumentationScope, []item}.
type signal uint8

const (
	traces signal = iota
	metrics
	logs
	profiles
	numSignals
)

// messageNames are the names of the messages of a signal and of their fields in OTLP/JSON.
var messageNames = [numSignals]struct {
	resources, scopes string    // messages
	fields            [2]string // of the outermost object
	scopeFields       [2]string // of an element of it
	elementFields     [2]string // of an element of that
	element           string    // for display
}{
	traces: {
		"ResourceSpans", "ScopeSpans", [2]string{"resourceSpans", "resource_spans"}, [2]string{"scopeSpans", "scope_spans"},
		[2]string{"spans", "spans"}, "span",
	},
	metrics: {
		"ResourceMetrics", "ScopeMetrics", [2]string{"resourceMetrics", "resource_metrics"}, [2]string{"scopeMetrics", "scope_metrics"},
		[2]string{"metrics", "metrics"}, "metric",
	},
	logs: {
		"ResourceLogs", "ScopeLogs", [2]string{"resourceLogs", "resource_logs"}, [2]string{"scopeLogs", "scope_logs"},
		[2]string{"logRecords", "log_records"}, "log record",
	},
	profiles: {
		"ResourceProfiles", "ScopeProfiles", [2]string{"resourceProfiles", "resource_profiles"}, [2]string{"scopeProfiles", "scope_profiles"},
		[2]string{"profiles", "profiles"}, "profile",
	},
}

// signalOfField returns the signal whose outermost object has a field with this name.
func signalOfField(name string) (s signal, ok bool) {
	for s := range messageNames {
		if is(name, messageNames[s].fields) {
			return signal(s), true
		}
	}
	return 0, false
}

// is reports whether name is one of the two names of a field: in OTLP/JSON, and in the definition of the message.
func is(name string, names [2]string) bool { return name == names[0] || name == names[1] }

// none is the wire type of field numbers that a message does not use.
const none = protowire.Type(-1)

// itemFields are the wire types of an item's fields, from number 1: Span (trace.proto), Metric (metrics.proto),
// LogRecord (logs.proto), Profile (profiles.proto, v1development).
var itemFields = [numSignals][]protowire.Type{
	traces:   {lenType, lenType, lenType, lenType, lenType, varint, fixed64, fixed64, lenType, varint, lenType, varint, lenType, varint, lenType, fixed32},
	metrics:  {lenType, lenType, lenType, none, lenType, none, lenType, none, lenType, lenType, lenType, lenType},
	logs:     {fixed64, varint, lenType, none, lenType, lenType, varint, fixed32, lenType, lenType, fixed64, lenType},
	profiles: {lenType, lenType, fixed64, varint, lenType, varint, lenType, varint, lenType, lenType, lenType},
}

// signalOf returns the signal of an item. The wire types of its fields decide if possible: every span with a kind or a
// time, every log record with a time and every profile with a time has a field that no other item has. Otherwise the
// contents decide (see confirmed). An item without a name and without the IDs of a span may only be a log record. ok is
// false for an item that is empty or corrupt, which could be any.
func signalOf(item []byte) (s signal, ok bool) {
	possible := [numSignals]bool{true, true, true, true}
	ids := true // field lengths are those of a span's IDs
	m := message{b: item, end: len(item)}
	for m.next() {
		for s := range possible {
			i := int(m.num) - 1
			possible[s] = possible[s] && i < len(itemFields[s]) && itemFields[s][i] == m.typ
		}
		ids = ids && !(m.is(1, lenType) && m.to-m.from != 16 || m.is(2, lenType) && m.to-m.from != 8)
	}
	switch {
	case m.corrupt:
		return traces, false
	case possible[logs]: // spans with IDs, metrics and profiles have other types of fields 1 and 2
		return logs, len(item) > 0
	}
	if possible[profiles] && (!possible[traces] && !possible[metrics] || confirmed(profiles, item, ids)) {
		return profiles, true
	}
	if possible[metrics] && (!possible[traces] || confirmed(metrics, item, ids)) {
		return metrics, true
	}
	return traces, true
}

// confirmed reports whether an item that could be a span by its wire types belongs to signal s.
func confirmed(s signal, item []byte, ids bool) bool {
	m := message{b: item, end: len(item)}
	for m.next() {
		if data := m.sub(); s == metrics && !ids && m.typ == lenType && metricKinds[m.num] != 0 && hasField(&data, 1, lenType) {
			return true // a span would be invalid
		}
		switch {
		case s == metrics && m.is(5, lenType): // Gauge, or the name of a span
			if hasPoints(m.sub()) {
				return true
			}
		case s == metrics && m.is(9, lenType): // Histogram with its temporality, or KeyValue
			if sub := m.sub(); hasField(&sub, 2, varint) {
				return true
			}
		case s == metrics && m.is(11, lenType): // Summary, or Event
			if sub := m.sub(); hasField(&sub, 1, lenType) {
				return true
			}
		case s == profiles && m.is(1, lenType) && !ids: // ValueType, or a trace ID of a wrong length
			if sub := m.sub(); hasField(&sub, 1, varint) || hasField(&sub, 2, varint) {
				return true
			}
		}
	}
	return false
}

// hasField reports whether a message is valid and has this field.
func hasField(m *message, num protowire.Number, typ protowire.Type) bool {
	has := false
	for sub := *m; ; {
		if !sub.next() {
			return has && !sub.corrupt
		}
		has = has || sub.is(num, typ)
	}
}

// hasPoints reports whether a message consists of data points (NumberDataPoint) that all have a time.
func hasPoints(m message) bool {
	n := 0
	for ; m.next(); n++ {
		if sub := m.sub(); !m.is(1, lenType) || !hasField(&sub, 3, fixed64) {
			return false
		}
	}
	return n > 0 && !m.corrupt
}
