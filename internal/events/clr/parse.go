package clr

import (
	"strconv"
	"strings"

	"github.com/ntconv/ntconv"
)

// scalars maps the names of types in the text files.
var scalars = map[string]ntconv.FieldType{
	"Boolean": {Code: ntconv.TypeBool32}, "Int32": {Code: ntconv.TypeInt32}, "UInt8": {Code: ntconv.TypeUint8},
	"UInt16": {Code: ntconv.TypeUint16}, "UInt32": {Code: ntconv.TypeUint32}, "Int64": {Code: ntconv.TypeInt64},
	"UInt64": {Code: ntconv.TypeUint64}, "Double": {Code: ntconv.TypeFloat64}, "Pointer": {Code: ntconv.TypePointer},
	"UnicodeString": {Code: ntconv.TypeUTF16String}, "AnsiString": {Code: ntconv.TypeANSIString},
	"GUID": {Code: ntconv.TypeGUID}, "FILETIME": {Code: ntconv.TypeDateTime}, "VarUInt": {Code: ntconv.TypeVarUint},
	"UTF8String": {Code: ntconv.TypeArray, Elem: &ntconv.FieldType{Code: ntconv.TypeUTF8Unit}},
}

// parseLayout parses the line of an event after its name:
//
//	task=NAME(VALUE) opcode=VALUE level=N keywords=A|B : fields
func (p *provider) parseLayout(e *entry) *Layout {
	l := &Layout{
		Provider: p.name, ID: uint32(e.id), Version: e.version, Symbol: e.symbol, name: unversioned(e.symbol),
	}
	head, fields, _ := strings.Cut(e.text, " : ")
	for word := range strings.SplitSeq(head, " ") {
		key, value, _ := strings.Cut(word, "=")
		switch key {
		case "task":
			l.Task, _, _ = strings.Cut(value, "(")
		case "opcode":
			l.Opcode = number8(value)
		case "level":
			l.Level = number8(value)
		case "keywords":
			for name := range strings.SplitSeq(value, "|") {
				l.Keywords |= p.mask(name)
			}
		}
	}
	l.Fields = l.fields(p, fields, " ")
	return l
}

func number8(text string) uint8 {
	n, _ := strconv.ParseUint(text, 10, 8)
	return uint8(n)
}

// fields parses a list of fields:
//
//	field = name ":" type [ "<" map ">" ]
//	type  = scalar
//	      | "Binary{" count "}"
//	      | type "[" count "]"
//	      | "struct(" fields ")"
//
// A count is a number, the name of an earlier field, or empty: then 16 bits before the elements contain it. Fields are
// separated by spaces, those of a structure by a comma and a space. Tests parse all lines, so there are no
// errors.
func (l *Layout) fields(p *provider, text, separator string) (list []ntconv.Field) {
	for text != "" {
		var field string
		field, text = cutField(text, separator)
		name, typ, _ := strings.Cut(field, ":")
		if !strings.HasPrefix(typ, "struct(") {
			var of string
			typ, of, _ = strings.Cut(typ, "<")
			if m, ok := p.maps[strings.TrimSuffix(of, ">")]; ok {
				l.maps = append(l.maps, fieldMap{name, m})
			}
		}
		if name == "Padding64" {
			list = append(list, ntconv.Field{Name: name, Type: ntconv.FieldType{Code: ntconv.TypePad64}})
			continue
		}
		list = append(list, ntconv.Field{Name: name, Type: l.fieldType(p, typ, list)})
	}
	return list
}

// cutField returns the text before the first separator outside parentheses, and the text after it.
func cutField(text, separator string) (field, rest string) {
	depth := 0
	for i := range len(text) {
		switch {
		case text[i] == '(':
			depth++
		case text[i] == ')':
			depth--
		case depth == 0 && strings.HasPrefix(text[i:], separator):
			return text[:i], text[i+len(separator):]
		}
	}
	return text, ""
}

// fieldType parses a type. before are the earlier fields of the same list.
func (l *Layout) fieldType(p *provider, typ string, before []ntconv.Field) ntconv.FieldType {
	if count, ok := strings.CutPrefix(typ, "Binary{"); ok {
		typ = "UInt8[" + strings.TrimSuffix(count, "}") + "]"
	}
	if array, ok := strings.CutSuffix(typ, "]"); ok {
		at := strings.LastIndexByte(array, '[')
		elem := l.fieldType(p, array[:at], nil)
		return arrayOf(&elem, array[at+1:], before)
	}
	if list, ok := strings.CutPrefix(typ, "struct("); ok {
		return ntconv.FieldType{Code: ntconv.TypeObject, Fields: l.fields(p, strings.TrimSuffix(list, ")"), ", ")}
	}
	return scalars[typ]
}

func arrayOf(elem *ntconv.FieldType, count string, before []ntconv.Field) ntconv.FieldType {
	if count == "" {
		return ntconv.FieldType{Code: ntconv.TypeArray, Elem: elem}
	}
	for i := range before {
		if before[i].Name == count {
			return ntconv.FieldType{Code: ntconv.TypeCounted, Count: uint16(i), Elem: elem}
		}
	}
	n, _ := strconv.ParseUint(count, 10, 16)
	return ntconv.FieldType{Code: ntconv.TypeFixedArray, Count: uint16(n), Elem: elem}
}
