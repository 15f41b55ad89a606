// Package bin reads and writes the primitives of nettrace: little-endian integers, LEB128 numbers, and the two string
// encodings. Rows and event payloads share them, so both the wire packages and the model use this package.
//
// A [Cursor] reads from a byte slice that it does not own. Its getters return plain values. The cursor keeps the first
// error with its offset ([Error]) and becomes empty, so straight-line code needs one check at the end, and every loop
// over [Cursor.Len] ends. The Append functions are the inverses, in the style of package strconv.
//
// A [Reader] is a smaller Cursor for records that a package has written itself, and for payloads.
//
// Every function compares a length field with the bytes that are present before it allocates or slices.
package bin
