package span

import "strconv"

// A JSON appends values as JSON without their types: strings, numbers, arrays and objects. Its functions append what
// formats write in different ways, and must be set unless stated otherwise.
type JSON struct {
	Text  func(dst []byte, s string) []byte // a string or a key, with quotes
	Int   func(dst []byte, n int64) []byte
	Float func(dst []byte, f float64) []byte
	Bytes func(dst, b []byte) []byte // with quotes
	Depth int                        // arrays and maps that are nested deeper are null
	// Omits reports whether member i of a list is omitted; nil omits none.
	Omits func(list []Attribute, i int) bool
}

// AppendValue appends a value. Empty and absent ones are null.
func (j *JSON) AppendValue(dst []byte, v *Value) []byte { return j.value(dst, v, j.Depth) }

// AppendObject appends attributes as an object.
func (j *JSON) AppendObject(dst []byte, list []Attribute) []byte { return j.object(dst, list, j.Depth) }

func (j *JSON) value(dst []byte, v *Value, depth int) []byte {
	switch {
	case v.kind == ValueString:
		return j.Text(dst, v.str)
	case v.kind == ValueBool:
		return strconv.AppendBool(dst, v.Bool())
	case v.kind == ValueInt:
		return j.Int(dst, v.Int())
	case v.kind == ValueFloat:
		return j.Float(dst, v.Float())
	case v.kind == ValueBytes:
		return j.Bytes(dst, []byte(v.str))
	case v.kind == ValueArray && depth > 0:
		dst = append(dst, '[')
		for i := range v.elems {
			dst = j.value(appendComma(dst, i), &v.elems[i], depth-1)
		}
		return append(dst, ']')
	case v.kind == ValueMap && depth > 0:
		return j.object(dst, v.members, depth-1)
	}
	return append(dst, "null"...)
}

func (j *JSON) object(dst []byte, list []Attribute, depth int) []byte {
	dst = append(dst, '{')
	n := 0
	for i := range list {
		if j.Omits != nil && j.Omits(list, i) {
			continue
		}
		dst = append(j.Text(appendComma(dst, n), list[i].Key), ':')
		dst = j.value(dst, &list[i].Value, depth)
		n++
	}
	return append(dst, '}')
}
