// Package jsonio reads and writes JSON text.
//
// In memory, Skip validates a value and returns its end. Members and Elements iterate over text that Skip has
// validated, and a Scanner moves over text and decodes only what its caller asks for. A Reader reads large text
// forward, value by value: it bounds the size of a value in memory and reports errors with line, column and path. The
// reader of a format walks the text with Object and Array and reads the values that it knows; it skips unknown members,
// which cost no memory.
//
// Objects may have duplicate names, and strings may contain invalid UTF-8. In all other respects Skip and the Reader
// require text that conforms to RFC 8259. All functions are safe for concurrent use.
//
// Strings are written by jsontext, which is as fast as a loop of our own, and text of unknown size is read with its
// Decoder. Members takes 40% of the time of a Decoder, AppendUnquoted half the time of jsontext.AppendUnquote for names
// and a tenth for long strings, and AppendUint 60 to 90% of that of strconv.
package jsonio
