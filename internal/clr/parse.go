package clr

import (
	"strings"

	"github.com/ntconv/ntconv"
)

// letters maps the letters of the compact form in layoutText to types.
var letters = [128]ntconv.TypeCode{
	'?': ntconv.TypeBool32, 'i': ntconv.TypeInt32, 'B': ntconv.TypeUint8, 'H': ntconv.TypeUint16, 'I': ntconv.TypeUint32,
	'l': ntconv.TypeInt64, 'L': ntconv.TypeUint64, 'd': ntconv.TypeFloat64, 'P': ntconv.TypePointer,
	'S': ntconv.TypeUTF16String, 'A': ntconv.TypeANSIString, 'G': ntconv.TypeGUID, 'T': ntconv.TypeDateTime,
	'v': ntconv.TypeVarUint, '_': ntconv.TypePad64,
}

// A layoutParser parses the compact form:
//
//	fields = field { " " field }
//	field  = name ":" type [ "<" map ">" ]
//	type   = letter                 a scalar
//	       | "s"                    UTF-8 with a 16-bit byte count
//	       | "*" index element      counted by the field with that index in the same list
//	       | "#" number element     exactly that many
//	       | "@" element            with a 16-bit count
//	       | "(" fields ")"
//
// The generator writes the text, so it is known to be valid and there are no errors.
type layoutParser struct {
	text string
	maps int
	l    *Layout
}

func (p *layoutParser) fields() []ntconv.Field {
	var out []ntconv.Field
	for p.text != "" && p.text[0] != ')' {
		name, rest, _ := strings.Cut(p.text, ":")
		p.text = rest
		out = append(out, ntconv.Field{Name: name, Type: p.fieldType()})
		if p.take('<') {
			p.l.maps = append(p.l.maps, newFieldMap(name, mapLine(p.maps+p.number())))
			p.take('>')
		}
		p.take(' ')
	}
	return out
}

func (p *layoutParser) fieldType() ntconv.FieldType {
	c := p.text[0]
	p.text = p.text[1:]
	switch c {
	case 's':
		return ntconv.FieldType{Code: ntconv.TypeArray, Elem: &ntconv.FieldType{Code: ntconv.TypeUTF8Unit}}
	case '*':
		n := p.number()
		return ntconv.FieldType{Code: ntconv.TypeCounted, Count: uint16(n), Elem: p.element()}
	case '#':
		n := p.number()
		return ntconv.FieldType{Code: ntconv.TypeFixedArray, Count: uint16(n), Elem: p.element()}
	case '@':
		return ntconv.FieldType{Code: ntconv.TypeArray, Elem: p.element()}
	case '(':
		t := ntconv.FieldType{Code: ntconv.TypeObject, Fields: p.fields()}
		p.take(')')
		return t
	}
	return ntconv.FieldType{Code: letters[c]}
}

func (p *layoutParser) element() *ntconv.FieldType {
	t := p.fieldType()
	return &t
}

func (p *layoutParser) number() int {
	n := 0
	for p.text != "" && '0' <= p.text[0] && p.text[0] <= '9' {
		n = n*10 + int(p.text[0]-'0')
		p.text = p.text[1:]
	}
	return n
}

// take skips the character c if it is next.
func (p *layoutParser) take(c byte) bool {
	if p.text == "" || p.text[0] != c {
		return false
	}
	p.text = p.text[1:]
	return true
}

func mapLine(n int) string { return textLine(mapText, n) }

// textLine returns line n of a text, without its newline.
func textLine(text string, n int) string {
	for range n {
		_, text, _ = strings.Cut(text, "\n")
	}
	line, _, _ := strings.Cut(text, "\n")
	return line
}
