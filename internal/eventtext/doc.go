// Package eventtext turns events into lines: JSON objects for programs and text for people.
//
// A JSON line holds one event. Its keys are, in this order and only where they mean something:
//
//	ticks                                 raw value of the trace's clock
//	time                                  RFC 3339 in UTC with nanoseconds; absent if the trace has no wall clock
//	pid, tid, cpu                         absent where not recorded
//	provider, id, version, name, opcode, level
//	keywords                              hexadecimal text: "0x8000"
//	activity_id, related_activity_id      GUID text
//	trace_id, span_id                     hexadecimal digits of the bytes in the order of the file
//	labels                                the other labels; a key that occurs twice has a list
//	size                                  bytes of the payload
//	crc32, payload_hex                    on demand
//	payload                               see below
//	stack                                 on demand: addresses, or [address, module, name] with names; leaf first
//
// The payload is an object of the event's fields. Integers and pointers are numbers, whatever their size; GUIDs, times,
// infinities and NaN are text, byte arrays text that begins with "hex:". A field that cannot be decoded is an object
// {"error": "why"}; one that the payload is too short for, as older versions of an event are, is null. Of several
// fields with one name in one object, all but the first get a suffix, so that every line is valid under RFC 7493 too.
package eventtext
