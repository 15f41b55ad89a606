package assembly

// A Table is the number of a metadata table (II.22, Portable PDB format).
type Table uint8

// The tables that packages of this module read.
const (
	TypeRef                Table = 0x01
	TypeDef                Table = 0x02
	MethodDef              Table = 0x06
	MemberRef              Table = 0x0a
	ModuleRef              Table = 0x1a
	TypeSpec               Table = 0x1b
	Assembly               Table = 0x20
	AssemblyRef            Table = 0x23
	NestedClass            Table = 0x29
	Document               Table = 0x30
	MethodDebugInformation Table = 0x31

	module Table = 0x00
)

const numTables = 0x38

// Columns of the tables above, in the order of the specification.
const (
	ModuleMVID = 2

	TypeRefScope, TypeRefName, TypeRefNamespace       = 0, 1, 2
	TypeDefName, TypeDefNamespace, TypeDefMethodList  = 1, 2, 5
	MethodDefName, MethodDefSignature                 = 3, 4
	MemberRefClass, MemberRefName, MemberRefSignature = 0, 1, 2
	TypeSpecSignature                                 = 0
	NestedClassNested, NestedClassEnclosing           = 0, 1
	AssemblyName, AssemblyRefName                     = 7, 6
	DocumentName                                      = 0
	MethodDebugDocument, MethodDebugPoints            = 0, 1
)

// schemas holds the columns of each table, one letter each: 1, 2 and 4 are constants of that many bytes, S, G and B are
// indexes into the heaps of strings, GUIDs and blobs, T is the index of a row of the table whose hexadecimal number
// follows, and other letters are coded indexes.
var schemas = [numTables]string{
	0x00: "2SGGG", 0x01: "rSS", 0x02: "4SStT04T06", 0x03: "T04", 0x04: "2SB", 0x05: "T06", 0x06: "422SBT08", 0x07: "T08",
	0x08: "22S", 0x09: "T02t", 0x0a: "pSB", 0x0b: "2cB", 0x0c: "auB", 0x0d: "mB", 0x0e: "2dB", 0x0f: "24T02",
	0x10: "4T04", 0x11: "B", 0x12: "T02T14", 0x13: "T14", 0x14: "2St", 0x15: "T02T17", 0x16: "T17", 0x17: "2SB",
	0x18: "2T06s", 0x19: "T02oo", 0x1a: "S", 0x1b: "B", 0x1c: "2fST1a", 0x1d: "4T04", 0x1e: "44", 0x1f: "4",
	0x20: "422224BSS", 0x21: "4", 0x22: "444", 0x23: "22224BSSB", 0x24: "4T23", 0x25: "444T23", 0x26: "4SB", 0x27: "44SSi",
	0x28: "44Si", 0x29: "T02T02", 0x2a: "22gS", 0x2b: "oB", 0x2c: "T2at",
	0x30: "BGBG", 0x31: "T30B", 0x32: "T06T35T33T3444", 0x33: "22S", 0x34: "SB", 0x35: "T35B", 0x36: "T06T06", 0x37: "hGB",
}

const noTable = 0xff // an unused value of a tag

// Coded indexes (II.24.2.6): the low bits of the value, the tag, select a table.
var (
	typeDefOrRef    = []Table{TypeDef, TypeRef, TypeSpec}
	memberRefParent = []Table{TypeDef, TypeRef, ModuleRef, MethodDef, TypeSpec}
	methodDefOrRef  = []Table{MethodDef, MemberRef}
	resolutionScope = []Table{module, ModuleRef, AssemblyRef, TypeRef}
	hasCustomInfo   = []Table{
		0x06, 0x04, 0x01, 0x02, 0x08, 0x09, 0x0a, 0x00, 0x0e, 0x17, 0x14, 0x11, 0x1a, 0x1b, 0x20, 0x23, 0x26, 0x27, 0x28,
		0x2a, 0x2c, 0x2b, 0x30, 0x32, 0x33, 0x34, 0x35, // those from 0x30 on are only parents of custom debug information
	}
)

// coded returns the tables that a coded index may refer to, and the number of bits of its tag.
func coded(letter byte) (tables []Table, bits int) {
	switch letter {
	case 't':
		return typeDefOrRef, 2
	case 'r':
		return resolutionScope, 2
	case 'p':
		return memberRefParent, 3
	case 'o':
		return methodDefOrRef, 1
	case 'c':
		return []Table{0x04, 0x08, 0x17}, 2
	case 'a':
		return hasCustomInfo[:22], 5
	case 'h':
		return hasCustomInfo, 5
	case 'm':
		return []Table{0x04, 0x08}, 1
	case 'd':
		return []Table{0x02, 0x06, 0x20}, 2
	case 's':
		return []Table{0x14, 0x17}, 1
	case 'f':
		return []Table{0x04, 0x06}, 1
	case 'i':
		return []Table{0x26, 0x23, 0x27}, 2
	case 'u':
		return []Table{noTable, noTable, 0x06, 0x0a}, 3
	case 'g':
		return []Table{0x02, 0x06}, 1
	}
	return nil, 0
}
