// Package chromeevent says what an event of Chrome's trace event format is as an event of a trace.
//
//	JSON ─→ Parser ─→ Event ─→ Encoder ─→ *ntconv.Event ─→ ... ─→ Decoder ─→ Event ─→ AppendJSON ─→ JSON
//
// One event of the format is one event of the trace, with its time in nanoseconds, on its thread. Its type is made for
// its category, name, phase and the shape of its args: the provider is the category, the name is the name, and the
// fields are first those of the members that are present (dur_ns, tdur_ns, tts_ns, id, s and others), then those of
// args. An expression on fields, a table of an event or a printed line therefore treat args as they treat every
// payload.
//
// # Values
//
//	integer of 64 bits                   varint
//	other number                         float64
//	true, false                          bool
//	string                               UTF-8 with a 16-bit length
//	array of one of these                array
//	object                               object
//	everything else                      JSON, as a string, and the type says so
//
// Everything else is: null, empty arrays and objects, arrays of several kinds or of objects, numbers that float64 does
// not restore, strings with surrogates that have no partner, objects in which a name occurs twice or that have more
// than 64 members, and what nests deeper than 8 levels. A number may change its spelling but not its value: 1.50
// becomes 1.5.
//
// # Bounds
//
// A trace has at most 4,096 types of this package, and an event of a phase, category and name at most 64. Beyond that
// args are one field of JSON, and then name and category are fields, too. A payload has at most 65,000 bytes, because
// TraceEvent reads no larger ones. A larger event is several events of the trace: parts with its JSON first, then an
// event with the members other than args.
//
// # Processes and threads
//
// The process and the thread of an event have the numbers of pid and tid. Attributes of the thread say how the file
// spells them where this is not clear from the numbers. Owners makes them.
package chromeevent
