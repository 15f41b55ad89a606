// Package stored converts between items of OTLP signals and the events in which a trace stores imported items, so that
// they round-trip from OTLP to nettrace and back.
//
// An item, such as a span, is one event of the provider otlp, or several if it is large. A Kind describes how the items
// of one signal are stored: the fields at the start of their events and the lists that follow. Everything else is the
// same for all signals: scope, resource, attributes, the labels TraceId and SpanId, and the division of large items.
package stored
