// Package chromeevent converts events of Chrome's trace event format to events of a trace and back.
//
//	JSON ─→ Parser ─→ Event ─→ Encoder ─→ *ntconv.Event ─→ ... ─→ Decoder ─→ Event ─→ AppendJSON ─→ JSON
//
// One event of the format becomes one event of the trace, with its time in nanoseconds, on its thread. The Encoder
// creates one type per category, name, phase and shape of the args: the provider of the type is the category, and its
// name is the name. The first fields are the present members (dur_ns, tdur_ns, tts_ns, id, s and others), followed by
// the members of args. Filters, tables and printed lines therefore treat args like any other payload.
//
// # Values
//
//	integer of 64 bits                   varint
//	other number                         float64
//	true, false                          bool
//	string                               UTF-8 with a 16-bit length
//	array of one of these                array
//	object                               object
//	all other values                     JSON in a string; the layout of the type says so
//
// The other values are: null, empty arrays and objects, arrays of mixed classes or of objects, numbers that a float64
// does not restore, strings with unpaired surrogates, objects with duplicate names or more than 64 members, and values
// nested deeper than 8 levels. The text of a number may change but not its value: 1.50 becomes 1.5.
//
// # Limits
//
// A trace has at most 4,096 types of this package, and at most 64 per phase, category and name. Beyond these limits,
// args become one JSON field, and then name and category become fields too. If a name or a category has more than 1,024
// bytes or a zero character, the type states the start of it, and a field the whole. A payload has at most 65,000
// bytes, because TraceEvent cannot read larger ones. A larger event becomes several events of the trace: parts with its
// JSON first, then an event with only its times.
//
// # Processes and threads
//
// The process and the thread of an event have pid and tid as their IDs. If a member is not a number in canonical form,
// an attribute of the thread preserves its JSON. Owners creates processes and threads.
package chromeevent
