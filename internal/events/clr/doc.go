// Package clr contains the layouts of .NET events: of the runtime's own events, which have neither names nor fields in
// a trace, of well-known providers whose metadata may be missing, and of machine-wide traces (Universal.*).
//
// Other packages decode events with package schema, which combines these layouts with the metadata of a trace. The
// views ([ParseMethod], [ParseSymbol], [ParseSample], ...) read the events that appear in hundreds of thousands, and
// their siblings with the same cursor, without a layout; a projection of their fields takes at least seven times as
// long. [ClassOf] returns which view applies. It depends only on the type, so consumers may cache it per type.
//
// All that a view or a value refers to is borrowed from the event's payload. No function keeps an event, and all of
// them are safe for concurrent use.
//
// The text files in events are the tables. They are part of the program, and parsed when an event first needs them.
package clr
