// Package fileio has the inputs and outputs of the command: inputs that detect and decompress compressed data within
// limits, outputs that become visible only when they are complete, and locks of files.
//
// An [Input] is a file, standard input or an io.Reader. Its Stream is the decompressed content; the compression is
// detected by magic number, never by extension. A stream delivers bytes as they arrive and blocks only if it has none,
// so that a live session over a pipe is visible event by event.
//
// An [Output] writes to a temporary file next to the destination. Commit syncs and renames it, and Abort removes it. If
// a step fails, the destination keeps its content.
//
// [Outputs] is the set of members that one conversion writes: one file, or a directory that appears as a whole in the
// same way. Inputs have members, too: the files of a directory or of a zip archive are opened through the handle of
// that input and share its limits.
//
// The package handles bytes only. It does not know formats or events.
package fileio
