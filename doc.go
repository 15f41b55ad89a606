// Package ntconv is the canonical model of a trace: a stream of events between readers and writers of trace formats.
//
// A trace is a stream of [Event] values. A [Source] yields them, a [Sink] takes them, and [Copy] moves them from one to
// the other. Everything that an event refers to (its [Type], [Thread], [Stack] and [Labels]) hangs off it as a pointer
// to something immutable. A sink writes a definition the first time it meets the pointer, so filtering, merging and
// changing the format are all a Copy.
//
// # Ownership
//
// The Event and its Payload are borrowed until the next call of the source's Next; everything else it points to is
// shared, immutable and may be kept. A sink must not keep the event or its payload. Use [Event.Clone] to keep one.
// Keeping a *Stack pins the block of stacks that it was cut from: an aggregator copies the addresses instead.
//
// # Time
//
// Events carry raw [Ticks]. [Info.Clock] converts them exactly, with 128-bit arithmetic; the model holds no floating
// point number and no nanoseconds.
//
// # Meaning
//
// The model says what was recorded, not what it means. Payloads are decoded on demand by [Event.Fields] when the event
// describes itself. Names of addresses come from a [Namer].
//
// # Losses
//
// Nothing is lost in silence. Readers and conversions count what they drop, skip or cannot resolve in a [Report].
package ntconv
