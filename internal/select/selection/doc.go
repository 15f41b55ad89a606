// Package selection selects events of a trace by provider, event, process, thread, time and content, and by what was
// open when they were recorded.
//
// # Intervals
//
// A [DuringFilter] selects the events that were recorded while an interval was open for which an expression is true:
//
//	span.name =~ "GET /cart" && span.duration > 100ms
//	gc.generation == 2
//	pause
//	request.status >= 500
//	contention.duration > 10ms
//	pair.name == "TypeLoad" && pair.fields.LoadLevel == 3
//
// An expression describes one kind of interval, which its first word names. The name alone means any interval of the
// kind. Several expressions about one kind must be true for the same interval; an event must be during an interval of
// each kind.
//
// The kinds are those of kinds. Spans, requests and the pairs of event sources cover the events that package
// span/active links to them; all other intervals cover those of package interval. The kind pair comprises every
// schema.Pair.
//
// # Spans
//
// A [SpanCondition] selects spans by an expression in the language of package where:
//
//	span.name =~ "GET /cart" && span.duration > 100ms
//	span.status == "error" || span.attributes."http.response.status_code" >= 500
//
// The properties are span.name, kind, status, duration, start, scope, trace_id, span_id, parent_span_id and
// attributes.KEY.
package selection
