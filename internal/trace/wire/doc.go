// Package wire converts nettrace version 6 between bytes and rows. It consists of pairs of Parse and Append functions
// without state; they do not interpret events. Rows that older versions share (stacks, types, the trace object) are
// here too. Package legacy has the layouts of versions 3 to 5 only.
//
// A file is a stream header followed by blocks:
//
//	stream    "Nettrace" u32 0  u32 major  u32 minor
//	block     u24 size  u8 kind  size bytes                       [Kinds]
//	  Trace          clock, pointer size, key/values              [ParseTrace]
//	  Event          header, then (compressed or not) events      [ParseEventBlockHeader], [EventHeader]
//	  Metadata       header, then rows                            [ParseMetadata]
//	  SequencePoint  time, flags, threads                         [ParseSequencePoint]
//	  Stack          first ID, count, then stacks                 [ParseStackHeader], [NextStack]
//	  Thread         rows                                         [ParseThread]
//	  RemoveThread   (index, sequence number) pairs               [ParseThreadSeq]
//	  LabelList      first ID, count, then lists                  [ParseLabelHeader], [NextLabels], [ParseLabels]
//
// The tables [Versions], [Kinds], [TypeCodes], [OptionalKinds], [ThreadKinds] and [LabelKinds] list all versions and
// codes with their layouts. Parsers, printers and tests use these tables.
//
// Byte slices in results (Extra, the result of NextStack) alias the input. Strings are copies.
//
// # Errors
//
// A Parse function takes a [bin.Cursor] at the start of the row and leaves it after the row. Rows that contain their
// own size (metadata, fields, threads) return an error without failing the cursor: a lenient caller may count the
// error, use the parsed part of the row and continue with the next one. If the cursor itself has an error, the rest of
// the block cannot be parsed. Every error is a [*bin.Error] that wraps one of its sentinels.
package wire
