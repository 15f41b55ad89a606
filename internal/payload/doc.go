// Package payload converts payloads of events to JSON and back, and decodes them for columns of tables.
//
// A payload is one JSON object with a member per field, in the order of the layout and spelled as ntconv print --json
// spells it:
//
//	bool                      true, false
//	integer, pointer          a number, up to 2^64-1
//	float                     the shortest number that restores it, or "NaN", "Infinity", "-Infinity"
//	string, characters        a string; what is not Unicode becomes U+FFFD
//	GUID                      its text
//	time                      "2026-11-21T15:04:05.1234567Z"
//	bytes                     "hex:" and two digits per byte
//	list                      an array
//	object                    an object
//	after the payload's end   null
//	does not decode           {"error":"..."}
//
// Padding has no member. If an earlier member of an object has the name of a field, the field's position is appended to
// its name. DuckDB casts all three strings of floats to DOUBLE.
//
// The JSON of most payloads restores their bytes, and the Encoder reports which. A Decoder needs the layout for it:
// keep what Encoder.Layout returns with the JSON.
package payload
