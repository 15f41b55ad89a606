// Package clr knows what .NET events mean: layouts of the runtime's own events, which carry neither names nor fields in
// a trace, layouts of well-known providers whose metadata may lack them, and of machine-wide traces (Universal.*).
//
// Package schema is what other packages decode events by: it combines the layouts of this package with the metadata of
// a trace. The views ([ParseMethod], [ParseSymbol], [ParseSample], ...) read events that come by the hundred thousand,
// and their siblings with the same cursor, without a layout: projections of their fields take seven times as long or
// longer. [ClassOf] says which view fits; it depends on the type only, so that consumers may keep the answer per type.
//
// Everything that a view or a value refers to is borrowed from the event's payload. No function keeps an event, and all
// of them may be called from several goroutines.
//
// The tables are generated from the texts in gen: go generate ./internal/clr.
package clr

//go:generate go run ./gen
