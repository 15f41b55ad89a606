// Package span describes spans of distributed tracing as OTLP does, and the event that a trace holds an imported span
// in.
//
// A Span is one operation: identity, times, attributes, events and links. Package tracker makes spans of the events of
// a trace, importers/otlp decodes them from OTLP, and exporters write them. An imported span is one event of the trace,
// or several if it is large. Encoder and Decoder convert between the two, so converting OTLP to nettrace and back
// yields the same spans.
package span
