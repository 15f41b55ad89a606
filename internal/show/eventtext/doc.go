// Package eventtext formats events as lines, JSON objects for programs or human-readable text, and tables of their
// totals.
//
// A JSON line holds one event. Its keys are, in this order and omitted if they have no value:
//
//	ticks                                 raw value of the trace's clock
//	time                                  RFC 3339 in UTC with nanoseconds; absent if the trace has no wall clock
//	pid, tid, cpu                         absent where not recorded
//	provider, id, version, name, opcode, level
//	keywords                              hexadecimal text: "0x8000"
//	activity_id, related_activity_id      GUID text
//	trace_id, span_id                     hexadecimal digits of the bytes in file order
//	labels                                the other labels; a key that occurs more than once has a list
//	size                                  bytes of the payload
//	crc32, payload_hex                    with Options.CRC and Options.Hex
//	payload                               see below
//	stack                                 with Options.Stacks, leaf first: addresses, or [address, module, name]
//
// The payload is an object of the event's fields. Integers and pointers are numbers, regardless of their size. GUIDs,
// times, infinities and NaN are strings; byte arrays are strings that begin with "hex:". A field that cannot be decoded
// is an object {"error": "why"}. A field beyond the end of the payload, as in older versions of an event, is null. If
// several fields of an object have the same name, all but the first get a suffix, so that every line conforms to
// RFC 7493.
//
// # Totals
//
// [StatsSink] groups the events of a trace by the values of fields and properties, and computes for each group
// the number of events, the bytes of their payloads, and the distribution of a numeric field. Package distribution
// states which of these numbers are exact.
//
// Memory grows with the number of groups, and up to distribution.MaxExact with the values of a group, but not with the
// number of events.
package eventtext
