// Package span defines spans of distributed tracing as in OTLP, and the attributes, scopes and resources that all
// signals of OTLP share.
//
// A Span is one operation: identity, times, attributes, events and links. Package tracker derives spans from the events
// of a trace, importers/otlp decodes them from OTLP, and exporters write them. Package stored defines the events in
// which a trace stores imported spans.
package span
