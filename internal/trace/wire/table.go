package wire

import "fmt"

// A Version is a major version of the format as in the name of the format. Versions 1 and 2 are not supported.
type Version uint8

// The versions of the format. Files of version 5 contain the version number 4; they differ by metadata tags only.
const (
	V3 Version = 3 // netperf, .NET Core 2.1
	V4 Version = 4 // .NET Core 3.0
	V5 Version = 5 // .NET 5 and later
	V6 Version = 6 // one-collect, dotnet-trace collect-linux
)

// Versions lists the supported versions, oldest first.
var Versions = [...]VersionSpec{
	{V3, "netperf 3", false, true},
	{V4, "nettrace 4", true, true},
	{V5, "nettrace 5", true, true},
	{V6, "nettrace 6", true, false},
}

// A VersionSpec describes one version of the format.
type VersionSpec struct {
	Version Version
	Name    string
	Magic   bool // the stream starts with [Magic]
	Objects bool // the stream is a sequence of FastSerialization objects instead of blocks
}

func (v Version) String() string {
	for _, s := range Versions {
		if s.Version == v {
			return s.Name
		}
	}
	return fmt.Sprintf("version %d", uint8(v))
}

// A Kind is the kind of a block. Versions 3 to 5 store the name of an object type instead.
type Kind uint8

// The kinds of blocks.
const (
	KindEnd           Kind = 0
	KindTrace         Kind = 1
	KindEvent         Kind = 2
	KindMetadata      Kind = 3
	KindSequencePoint Kind = 4
	KindStack         Kind = 5
	KindThread        Kind = 6
	KindRemoveThread  Kind = 7
	KindLabelList     Kind = 8
)

// A KindSpec describes one kind of block.
type KindSpec struct {
	Name   string
	Object string // the object's type name in versions before 6; empty if there is none
	Since  Version
}

// Kinds is indexed by [Kind]. See "Blocks" in the version 6 specification.
var Kinds = [...]KindSpec{
	KindEnd:           {"EndOfStream", "", V6},
	KindTrace:         {"Trace", "Trace", V3},
	KindEvent:         {"Event", "EventBlock", V3},
	KindMetadata:      {"Metadata", "MetadataBlock", V4},
	KindSequencePoint: {"SequencePoint", "SPBlock", V4},
	KindStack:         {"Stack", "StackBlock", V4},
	KindThread:        {"Thread", "", V6},
	KindRemoveThread:  {"RemoveThread", "", V6},
	KindLabelList:     {"LabelList", "", V6},
}

// Known reports whether the specification defines k.
func (k Kind) Known() bool { return int(k) < len(Kinds) }

func (k Kind) String() string {
	if k.Known() {
		return Kinds[k].Name
	}
	return fmt.Sprintf("Block(%d)", uint8(k))
}

// A Shape is the layout of the value that follows a kind byte in thread rows, label lists and optional metadata.
type Shape uint8

// The shapes of values, with the members of [Value] that they use.
const (
	ShapeNone      Shape = iota
	ShapeU8              // one byte: Num
	ShapeU64             // eight bytes: Num
	ShapeVaruint         // LEB128: Num
	ShapeID8             // eight bytes in file order: ID[:8]
	ShapeID16            // sixteen bytes in file order: ID
	ShapeString          // length-prefixed UTF-8: Str
	ShapeKeyString       // two such strings: Key, Str
	ShapeKeyNumber       // such a string and a zigzag LEB128: Key, Num
)

// An AttrSpec describes one kind of optional element of a row. A spec without a name is that of an undefined kind.
type AttrSpec struct {
	Name  string
	Shape Shape
	Since Version
}

// An OptionalKind is the kind of an optional element of a metadata row.
type OptionalKind uint8

// The kinds of optional metadata. Kind 2 was V2Params in version 5.
const (
	OptOpcode       OptionalKind = 1
	OptKeywords     OptionalKind = 3
	OptMessage      OptionalKind = 4
	OptDescription  OptionalKind = 5
	OptKeyValue     OptionalKind = 6
	OptProviderGUID OptionalKind = 7
	OptLevel        OptionalKind = 8
	OptVersion      OptionalKind = 9
)

// OptionalKinds is indexed by [OptionalKind]. See "MetadataBlock" in the version 6 specification.
var OptionalKinds = [...]AttrSpec{
	OptOpcode:       {"opcode", ShapeU8, V5},
	OptKeywords:     {"keywords", ShapeU64, V6},
	OptMessage:      {"message", ShapeString, V6},
	OptDescription:  {"description", ShapeString, V6},
	OptKeyValue:     {"kv", ShapeKeyString, V6},
	OptProviderGUID: {"guid", ShapeID16, V6},
	OptLevel:        {"level", ShapeU8, V6},
	OptVersion:      {"version", ShapeU8, V6},
}

func (k OptionalKind) String() string { return attrName(OptionalKinds[:], uint8(k)) }

// A ThreadKind is the kind of an optional element of a thread row.
type ThreadKind uint8

// The kinds of thread information.
const (
	ThreadName     ThreadKind = 1
	ThreadPID      ThreadKind = 2
	ThreadTID      ThreadKind = 3
	ThreadKeyValue ThreadKind = 4
)

// ThreadKinds is indexed by [ThreadKind]. See "ThreadBlock" in the version 6 specification.
var ThreadKinds = [...]AttrSpec{
	ThreadName:     {"name", ShapeString, V6},
	ThreadPID:      {"pid", ShapeVaruint, V6},
	ThreadTID:      {"tid", ShapeVaruint, V6},
	ThreadKeyValue: {"kv", ShapeKeyString, V6},
}

func (k ThreadKind) String() string { return attrName(ThreadKinds[:], uint8(k)) }

// A LabelKind is the kind of a label, without the bit that marks the last label.
type LabelKind uint8

// The kinds of labels.
const (
	LabelActivityID        LabelKind = 1
	LabelRelatedActivityID LabelKind = 2
	LabelTraceID           LabelKind = 3
	LabelSpanID            LabelKind = 4
	LabelString            LabelKind = 5
	LabelNumber            LabelKind = 6
	LabelOpcode            LabelKind = 7
	LabelKeywords          LabelKind = 8
	LabelLevel             LabelKind = 9
	LabelVersion           LabelKind = 10
)

// LabelKinds is indexed by [LabelKind]. See "LabelListBlock" in the version 6 specification.
var LabelKinds = [...]AttrSpec{
	LabelActivityID:        {"activity", ShapeID16, V6},
	LabelRelatedActivityID: {"related", ShapeID16, V6},
	LabelTraceID:           {"trace", ShapeID16, V6},
	LabelSpanID:            {"span", ShapeID8, V6},
	LabelString:            {"str", ShapeKeyString, V6},
	LabelNumber:            {"num", ShapeKeyNumber, V6},
	LabelOpcode:            {"opcode", ShapeU8, V6},
	LabelKeywords:          {"keywords", ShapeU64, V6},
	LabelLevel:             {"level", ShapeU8, V6},
	LabelVersion:           {"version", ShapeU8, V6},
}

func (k LabelKind) String() string { return attrName(LabelKinds[:], uint8(k)) }

// attrSpec returns the spec of a kind byte, or the zero spec if the kind is not defined.
func attrSpec(table []AttrSpec, kind uint8) AttrSpec {
	if int(kind) < len(table) {
		return table[kind]
	}
	return AttrSpec{}
}

// attrName returns the name of a kind byte, or its number if it is not defined.
func attrName(table []AttrSpec, kind uint8) string {
	if s := attrSpec(table, kind); s.Name != "" {
		return s.Name
	}
	return fmt.Sprintf("kind %d", kind)
}
