// Package legacy converts the rows that only versions 3 to 5 of nettrace have between bytes and rows. Its functions
// follow the rules of package wire.
//
// These files are a sequence of FastSerialization objects after the stream header. A single tag byte ends them:
//
//	object   tag tag 1  i32 version  i32 minReader  i32 length  type name  6        [ParseObject]
//	         Trace: 48 bytes                                                        [ParseTrace]
//	         others: i32 size  padding  size bytes
//	         6                                                                      [ParseEndObject]
//	end      1
//
// The tag is 5, or 4 in version 3. Padding aligns the absolute offset in the decompressed input to a multiple of four,
// so every cursor must have the absolute offset. The bodies:
//
//	EventBlock     [wire.ParseEventBlockHeader], then events [ParseCompressed], [ParseUncompressed]
//	               version 3: [ParseEventV3]
//	MetadataBlock  the same; each payload is a row           [ParseMetadata]
//	StackBlock     [wire.ParseStackHeader], [wire.NextStack]
//	SPBlock        [ParseSequencePoint]
//
// "Version 5" is version 4 with metadata tags; its files contain the version number 4.
package legacy
