// Package wire converts nettrace version 6 between bytes and rows: pairs of Parse and Append functions without state,
// that know nothing of what events mean. Rows that older versions share (stacks, types, the trace object) are here too;
// what only versions 3 to 5 have is in package legacy.
//
// A file is a stream header followed by blocks:
//
//	stream    "Nettrace" u32 0  u32 major  u32 minor
//	block     u24 size  u8 kind  size bytes                       [Kinds]
//	  Trace          clock, pointer size, key/values              [ParseTrace]
//	  Event          header, then (compressed or not) events      [ParseEventBlockHeader], [EventHeader]
//	  Metadata       header, then rows                            [ParseMetadata]
//	  SequencePoint  time, flags, threads                         [ParseSequencePoint]
//	  Stack          first id, count, then stacks                 [ParseStackHeader], [NextStack]
//	  Thread         rows                                         [ParseThread]
//	  RemoveThread   (index, sequence number) pairs               [ParseThreadSeq]
//	  LabelList      first id, count, then lists                  [ParseLabelHeader], [NextLabels], [ParseLabels]
//
// The tables [Versions], [Kinds], [TypeCodes], [OptionalKinds], [ThreadKinds] and [LabelKinds] say what exists since
// when and how it is laid out; parsers, printers and tests all read them.
//
// Byte slices in results (Extra, what NextStack returns) alias the input. Strings are copies.
//
// # Errors
//
// Parse functions take a [bin.Cursor] positioned at the row and leave it behind the row. Rows that carry their own size
// (metadata, fields, threads) return an error without spoiling the cursor: a lenient caller may count it and go on with
// the next row, keeping whatever the returned value already holds. If the cursor itself has an error, the block ends
// there. Every error is a [*bin.Error].
package wire
