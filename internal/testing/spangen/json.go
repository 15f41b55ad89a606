package spangen

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"math"
	"strconv"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// A Style is a variant of OTLP/JSON.
type Style struct {
	Snake   bool // names in snake_case
	Upper   bool // hexadecimal digits in upper case
	Numbers bool // 64-bit integers as numbers, not strings
	Names   bool // enum values by name if they have one
	Nulls   bool // absent fields as null
	Indent  string
}

// JSON returns a message as OTLP/JSON, encoded by encoding/json.
func JSON(data proto.Message, s Style) []byte {
	object := s.message(data.ProtoReflect())
	b, err := json.Marshal(object)
	if s.Indent != "" {
		b, err = json.MarshalIndent(object, "", s.Indent)
	}
	if err != nil {
		panic(err) // the object contains only types that encoding/json supports
	}
	return b
}

func (s Style) message(m protoreflect.Message) map[string]any {
	out := map[string]any{}
	for i := range m.Descriptor().Fields().Len() {
		f := m.Descriptor().Fields().Get(i)
		name := f.JSONName()
		if s.Snake {
			name = string(f.Name())
		}
		switch v := m.Get(f); {
		case !m.Has(f):
			// Only profiles have a dictionary of strings.
			if s.Nulls && f.ContainingOneof() == nil && !strings.HasSuffix(name, "ndex") {
				out[name] = nil
			}
		case f.IsList():
			var list []any
			for k := range v.List().Len() {
				list = append(list, s.value(f, v.List().Get(k)))
			}
			out[name] = list
		default:
			out[name] = s.value(f, v)
		}
	}
	return out
}

func (s Style) value(f protoreflect.FieldDescriptor, v protoreflect.Value) any {
	switch f.Kind() {
	case protoreflect.MessageKind:
		return s.message(v.Message())
	case protoreflect.EnumKind:
		if e := f.Enum().Values().ByNumber(v.Enum()); e != nil && s.Names {
			return string(e.Name())
		}
		return int32(v.Enum())
	case protoreflect.BytesKind:
		return s.bytes(v.Bytes(), f.Name() == "bytes_value")
	case protoreflect.DoubleKind:
		return double(v.Float())
	case protoreflect.Int64Kind, protoreflect.Fixed64Kind:
		if !s.Numbers {
			return v.String()
		}
	}
	return v.Interface()
}

// bytes returns a value in base64, or an ID in hexadecimal.
func (s Style) bytes(b []byte, value bool) string {
	switch {
	case value && s.Snake:
		return base64.RawURLEncoding.EncodeToString(b)
	case value:
		return base64.StdEncoding.EncodeToString(b)
	case s.Upper:
		return strings.ToUpper(hex.EncodeToString(b))
	}
	return hex.EncodeToString(b)
}

func double(f float64) any {
	switch {
	case f != f:
		return "NaN"
	case math.IsInf(f, 0):
		return strings.Replace(strconv.FormatFloat(f, 'g', -1, 64), "+", "", 1) + "inity"
	case f == 0 && math.Signbit(f):
		return json.Number("-0")
	}
	return f
}
