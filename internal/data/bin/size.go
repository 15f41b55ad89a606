package bin

// sizes holds the bytes of a value by type code (nettrace-v6, "MetadataBlock", Type format). Where TraceEvent differs
// from the specification, sizes follows TraceEvent: a DateTime has 8 bytes, and Decimal exists.
var sizes = [256]uint8{
	3:  4,  // Boolean32
	4:  2,  // UTF16CodeUnit
	5:  1,  // SByte
	6:  1,  // Byte
	7:  2,  // Int16
	8:  2,  // UInt16
	9:  4,  // Int32
	10: 4,  // UInt32
	11: 8,  // Int64
	12: 8,  // UInt64
	13: 4,  // Single
	14: 8,  // Double
	15: 16, // Decimal
	16: 8,  // DateTime
	17: 16, // Guid
	23: 1,  // UTF8CodeUnit
	24: 4,  // RelLoc: position and size of its elements
	25: 4,  // DataLoc: the same
	26: 1,  // Boolean8
}

// FixedSize returns the size in bytes of a value with this type code. It returns 0 if the size depends on the value or
// on the rest of the type, or if the code is not defined.
func FixedSize(typeCode uint8) int { return int(sizes[typeCode]) }

// MaxLocated returns the limit on what the locations of a payload of the given size in bytes may refer to in total: a
// location has 4 bytes and refers to up to 65,535, several may refer to the same, and those may contain further
// locations. Locations that share no bytes need the size of the payload.
func MaxLocated(payload int) int { return LocatedPerByte*payload + 4096 }

// LocatedPerByte is the part of MaxLocated per byte of the payload.
const LocatedPerByte = 16
