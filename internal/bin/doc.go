// Package bin reads and writes the primitives of nettrace: little-endian integers, LEB128 numbers, and the two string
// forms. Rows and event payloads share them, so both the wire packages and the model use this package.
//
// A [Cursor] walks over a byte slice it does not own. Its getters return plain values; the first failure sticks, is
// located ([Error]) and empties the cursor, so that straight-line code needs one check at the end and every loop over
// [Cursor.Len] ends by itself. The Append functions are the inverses, in the style of package strconv.
//
// No function here allocates what a length field claims: a length is compared with the bytes present before it is used.
package bin
