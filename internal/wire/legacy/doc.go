// Package legacy converts what only versions 3 to 5 of nettrace have between bytes and rows, in the manner of package
// wire.
//
// These files are a sequence of FastSerialization objects behind the stream header, ended by a single tag byte:
//
//	object   tag tag 1  i32 version  i32 minReader  i32 length  type name  6        [ParseObject]
//	         Trace: 48 bytes                                                        [ParseTrace]
//	         others: i32 size  padding  size bytes
//	         6                                                                      [ParseEndObject]
//	end      1
//
// The tag is 5, and 4 in version 3. Padding brings the absolute offset in the decompressed input to a multiple of four,
// so every cursor must know its offset. The bodies:
//
//	EventBlock     [wire.ParseEventBlockHeader], then events [ParseCompressed], [ParseUncompressed]; version 3: [ParseEventV3]
//	MetadataBlock  the same, each payload a row              [ParseMetadata]
//	StackBlock     [wire.ParseStackHeader], [wire.NextStack]
//	SPBlock        [ParseSequencePoint]
//
// "Version 5" is version 4 with metadata tags; the files still say 4.
package legacy
