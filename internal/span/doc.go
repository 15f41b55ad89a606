// Package span defines spans of distributed tracing as in OTLP, and the events in which a trace stores imported spans.
//
// A Span is one operation: identity, times, attributes, events and links. Package tracker derives spans from the events
// of a trace, importers/otlp decodes them from OTLP, and exporters write them. An imported span is one event of the
// trace, or several if it is large. Encoder and Decoder convert between spans and these events, so spans round-trip
// from OTLP to nettrace and back.
package span
