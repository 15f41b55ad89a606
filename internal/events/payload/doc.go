// Package payload converts payloads of events to JSON and back, and decodes them for columns of tables.
//
// A payload is one JSON object with one member per field, in the order of the layout and in the format of ntconv print
// --json:
//
//	bool                      true, false
//	integer, pointer          a number, up to 2^64-1
//	float                     the shortest number that restores it, or "NaN", "Infinity", "-Infinity"
//	string, characters        a string; invalid Unicode becomes U+FFFD
//	GUID                      a string
//	time                      "2026-11-21T15:04:05.1234567Z"
//	bytes                     "hex:" and two digits per byte
//	list                      an array
//	object                    an object
//	beyond the payload        null
//	cannot be decoded         {"error":"..."}
//
// Padding has no member. If an earlier member of the object has the name of a field, the position of the field is
// appended to its name. DuckDB casts the three strings of floats to DOUBLE.
//
// Most payloads can be restored from their JSON byte for byte; the Encoder reports which. A Decoder needs the layout:
// store the result of Encoder.Layout with the JSON.
package payload
