package chromeevent

import (
	"strings"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/data/jsonio"
)

// The layout of a type states the meaning of its fields, one code per field. The codes of an object's members follow in
// braces. The order is: present members; other members, each codeOther and a class; args, as codeArgs and a class per
// member, or as codeWhole and one class.
const (
	codeDuration       = 'd'
	codeThreadDuration = 'D'
	codeThreadTime     = 't'
	codeTime           = 'T' // the member ts, if it differs from the time of the event
	codeID             = 'i' // for this and the next three codes, upper case means that the ID is a number
	codeLocalID        = 'l'
	codeGlobalID       = 'g'
	codeBindID         = 'x'
	codeName           = 'n' // the name, if the type cannot state it
	codeCategory       = 'C' // the category, if the type cannot state it
	codeIDScope        = 'c'
	codeScope          = 's'
	codeBindPoint      = 'p'
	codeFlowIn         = '<'
	codeFlowOut        = '>'
	codeOther          = 'o'
	codeOthers         = 'O' // all other members as JSON
	codeArgs           = '|'
	codeWhole          = '='
	codeParts          = '*' // number of parts of the event
	codePart           = '+' // two fields: number and data of a part
	codeGeneric        = '?' // five fields: an event whose type states only the phase
)

// A memberField is the name and type of the field of a member.
type memberField struct {
	name string
	typ  ntconv.FieldType
}

// fieldOf returns the field of a code. ok is false for codes that have no field of their own.
func fieldOf(code byte) (f memberField, ok bool) {
	switch code {
	case codeDuration:
		return memberField{"dur_ns", varintType}, true
	case codeThreadDuration:
		return memberField{"tdur_ns", varintType}, true
	case codeThreadTime:
		return memberField{"tts_ns", varintType}, true
	case codeTime:
		return memberField{"ts_ns", varintType}, true
	case codeID, upper(codeID):
		return memberField{"id", textType}, true
	case codeLocalID, upper(codeLocalID):
		return memberField{"id2_local", textType}, true
	case codeGlobalID, upper(codeGlobalID):
		return memberField{"id2_global", textType}, true
	case codeBindID, upper(codeBindID):
		return memberField{"bind_id", textType}, true
	case codeName:
		return memberField{"name", textType}, true
	case codeCategory:
		return memberField{"cat", textType}, true
	case codeIDScope:
		return memberField{"scope", textType}, true
	case codeScope:
		return memberField{"s", textType}, true
	case codeBindPoint:
		return memberField{"bp", textType}, true
	case codeFlowIn:
		return memberField{"flow_in", boolType}, true
	case codeFlowOut:
		return memberField{"flow_out", boolType}, true
	case codeOthers:
		return memberField{"members", textType}, true
	case codeParts:
		return memberField{"parts", varuintType}, true
	}
	return f, false
}

func upper(code byte) byte { return code - 'a' + 'A' }

// Types of fields. TraceEvent and dotnet-trace support all of them; they would reject a whole file for an unknown type.
var (
	varintType  = ntconv.FieldType{Code: ntconv.TypeVarInt}
	varuintType = ntconv.FieldType{Code: ntconv.TypeVarUint}
	boolType    = ntconv.FieldType{Code: ntconv.TypeBool32}
	floatType   = ntconv.FieldType{Code: ntconv.TypeFloat64}
	textType    = ntconv.FieldType{Code: ntconv.TypeArray, Elem: &ntconv.FieldType{Code: ntconv.TypeUTF8Unit}}
)

// typeOf returns the field type for values of a class. float selects between the two types of classNumber.
func typeOf(class byte, float bool) ntconv.FieldType {
	switch {
	case class == classBool:
		return boolType
	case class == classNumber && float:
		return floatType
	case class == classNumber, class == classInt:
		return varintType
	case class == classUint:
		return varuintType
	}
	return textType
}

// A fieldBuilder derives the fields and the layout of a type from a signature. It consumes sig.
type fieldBuilder struct {
	sig    []byte
	slot   int    // index of the next value; an array is one value
	floats []bool // by slot: the value is a float64
	layout strings.Builder
	// duplicates means that an object has two members with the same name.
	duplicates bool
}

// value appends the field of the next value.
func (b *fieldBuilder) value(fields []ntconv.Field, name string) []ntconv.Field {
	class := b.sig[0]
	b.sig = b.sig[1:]
	b.layout.WriteByte(class)
	f := ntconv.Field{Name: name}
	switch class {
	case classOpen:
		f.Type = ntconv.FieldType{Code: ntconv.TypeObject, Fields: b.members()}
		return append(fields, f)
	case classArray:
		elem := typeOf(b.sig[0], b.floats[b.slot])
		b.layout.WriteByte(b.sig[0])
		b.sig = b.sig[1:]
		f.Type = ntconv.FieldType{Code: ntconv.TypeArray, Elem: &elem}
	default:
		f.Type = typeOf(class, b.floats[b.slot])
	}
	b.slot++
	return append(fields, f)
}

// members returns the fields of an object's members. It consumes the signature up to the end of the object.
func (b *fieldBuilder) members() (fields []ntconv.Field) {
	for b.sig[0] != classClose {
		fields = b.member(fields)
	}
	b.sig = b.sig[1:]
	b.layout.WriteByte(classClose)
	b.unique(fields)
	return fields
}

// unique sets duplicates if two fields have the same name.
func (b *fieldBuilder) unique(fields []ntconv.Field) {
	for i := range fields {
		for k := range i {
			b.duplicates = b.duplicates || fields[i].Name == fields[k].Name
		}
	}
}

// member appends the field for a name and a value.
func (b *fieldBuilder) member(fields []ntconv.Field) []ntconv.Field {
	end := jsonio.End(b.sig, 0)
	name, _ := jsonio.AppendUnquoted(nil, b.sig[:end])
	b.sig = b.sig[end:]
	return b.value(fields, string(name))
}

// event returns the fields for a signature without its head.
func (b *fieldBuilder) event() (fields []ntconv.Field) {
	var others []ntconv.Field
	for len(b.sig) > 0 {
		code := b.sig[0]
		b.sig = b.sig[1:]
		b.layout.WriteByte(code)
		switch code {
		case codeArgs:
			b.sig = b.sig[1:]
			b.layout.WriteByte(classOpen)
			fields = append(fields, b.members()...)
		case codeWhole:
			fields = b.value(fields, "args")
		case codeOther:
			others = b.member(others)
			fields = append(fields, others[len(others)-1])
		case codePart:
			fields = append(fields, ntconv.Field{Name: "part", Type: varuintType}, ntconv.Field{Name: "data", Type: textType})
		case codeGeneric:
			for _, name := range [...]string{"ph", "cat", "name", "members", "args"} {
				fields = append(fields, ntconv.Field{Name: name, Type: textType})
			}
		default:
			f, _ := fieldOf(code)
			fields = append(fields, ntconv.Field{Name: f.name, Type: f.typ})
			b.slot++
		}
	}
	b.unique(others)
	return fields
}
