// Package ntconv is the canonical model of a trace: a stream of events between readers and writers of trace formats.
//
// A trace is a stream of [Event] values. A [Source] yields events, a [Sink] consumes them, and [Copy] writes the events
// of a source to a sink. An event points to its [Type], [Thread], [Stack] and [Labels], which are immutable. A sink
// writes a definition when it first encounters the pointer, so Copy suffices to filter, merge and convert traces.
//
// # Ownership
//
// The Event and its Payload are borrowed until the next call of the source's Next. Everything else that the event
// points to is shared, immutable and may be kept. A sink must not keep the event or its payload; [Event.Clone] returns
// a copy. A *Stack keeps the memory of its whole stack block alive, so an aggregator copies the addresses instead.
//
// # Time
//
// Events have raw [Ticks]. [Info.Clock] converts them with 128-bit arithmetic. The model contains no nanoseconds and no
// floating-point times.
//
// # Meaning
//
// The model represents what was recorded, without interpretation. [Event.Fields] decodes payloads on demand if the
// trace describes the event. A [Namer] resolves addresses.
//
// # Losses
//
// Readers and conversions never drop data silently. They count what they drop, skip or cannot resolve in a [Report].
package ntconv
