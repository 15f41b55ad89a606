package secretgen

import (
	"fmt"
	"time"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/events/clr"
)

// layout appends an event of a layout, and one with bytes after its fields.
func (t *Trace) layout(l *clr.Layout) {
	g := generator{t, l.Provider}
	payload, err := ntconv.AppendFields(nil, l.Fields, g.members(l.Fields, l.Name()), 8)
	if err != nil {
		panic(fmt.Sprintf("%s/%s: %v", l.Provider, l.Name(), err))
	}
	typ := &ntconv.Type{Provider: l.Provider, ID: l.ID, Version: l.Version}
	if l.Provider == clr.UniversalSystem || l.Provider == clr.UniversalEvents {
		typ.Name = l.Name()
	}
	t.event(typ, payload)
	t.event(typ, append(payload, t.Word(l.Provider, l.Name()+".tail")...))
}

// selfDescribing appends events of a type with all codes of files, and undecodable ones.
func (t *Trace) selfDescribing() {
	elem := func(c ntconv.TypeCode) *ntconv.FieldType { return &ntconv.FieldType{Code: c} }
	var fields []ntconv.Field
	add := func(f ntconv.FieldType) {
		fields = append(fields, ntconv.Field{Name: fmt.Sprintf("F%d", len(fields)), Type: f})
	}
	for c := ntconv.TypeBool32; c <= ntconv.TypeUTF16String; c++ {
		if c != 2 && c != ntconv.TypeBool32 && c != ntconv.TypeDecimal {
			add(ntconv.FieldType{Code: c})
		}
	}
	for _, c := range []ntconv.TypeCode{
		ntconv.TypeUTF16Unit, ntconv.TypeUTF8Unit, ntconv.TypeUint8, ntconv.TypeInt8, ntconv.TypeUTF16String, ntconv.TypeInt32,
	} {
		add(ntconv.FieldType{Code: ntconv.TypeArray, Elem: elem(c)})
	}
	object := ntconv.FieldType{Code: ntconv.TypeObject, Fields: []ntconv.Field{
		{Name: "Name", Type: *elem(ntconv.TypeUTF16String)}, {Name: "N", Type: *elem(ntconv.TypeVarInt)},
	}}
	add(object)
	add(ntconv.FieldType{Code: ntconv.TypeArray, Elem: &object})
	add(ntconv.FieldType{Code: ntconv.TypeFixedArray, Count: 12, Elem: elem(ntconv.TypeUTF16Unit)})
	for _, c := range []ntconv.TypeCode{ntconv.TypeRelLoc, ntconv.TypeDataLoc} {
		for _, unit := range []ntconv.TypeCode{ntconv.TypeUTF16Unit, ntconv.TypeUTF8Unit, ntconv.TypeUint8, ntconv.TypeInt32} {
			add(ntconv.FieldType{Code: c, Elem: elem(unit)})
		}
	}
	const provider, name = "Shop-Orders", "Placed"
	payload, err := ntconv.AppendFields(nil, fields, generator{t, provider}.members(fields, name), 8)
	if err != nil {
		panic(err)
	}
	typ := &ntconv.Type{Provider: provider, ID: 1, Name: name, Fields: fields, HasOpcode: true}
	t.event(typ, payload)
	t.event(typ, append(payload, t.Word(provider, name+".tail")...))
	t.event(&ntconv.Type{Provider: provider, ID: 2, Name: "Opaque"}, []byte(t.Word(provider, "Opaque.payload")))
	short := []ntconv.Field{{Name: "S", Type: *elem(ntconv.TypeUTF16String)}}
	t.event(&ntconv.Type{Provider: provider, ID: 3, Name: "Short", Fields: short}, []byte(t.Word(provider, "Short.S")))
}

// pairs appends events with lists of pairs that have the given keys.
func (t *Trace) pairs(keys []string) {
	str := ntconv.FieldType{Code: ntconv.TypeUTF16String}
	pair := ntconv.FieldType{Code: ntconv.TypeObject, Fields: []ntconv.Field{{Name: "Key", Type: str}, {Name: "Value", Type: str}}}
	fields := []ntconv.Field{
		{Name: "SourceName", Type: str}, {Name: "ActivityName", Type: str},
		{Name: "Arguments", Type: ntconv.FieldType{Code: ntconv.TypeArray, Elem: &pair}},
	}
	for _, provider := range []string{clr.DiagnosticSource, "Shop-Orders"} {
		var list []ntconv.Value
		for _, key := range append(keys, "") {
			if key == "" {
				key = t.Word(provider, "ActivityStart.Arguments.Key")
			}
			value := t.Text(provider, "ActivityStart.Arguments.Value."+key)
			if key == "Tags" {
				value = "[http.request.method, " + value + "],[" + t.Word(provider, "tag") + ", 1]"
			}
			list = append(list, ntconv.ObjectValue(ntconv.StringValue(key), ntconv.StringValue(value)))
		}
		values := []ntconv.Value{
			ntconv.StringValue(t.Text(provider, "ActivityStart.SourceName")),
			ntconv.StringValue(t.Text(provider, "ActivityStart.ActivityName")), ntconv.ListValue(list...),
		}
		payload, err := ntconv.AppendFields(nil, fields, values, 8)
		if err != nil {
			panic(err)
		}
		t.event(&ntconv.Type{Provider: provider, ID: 11, Name: "ActivityStart", Fields: fields}, payload)
	}
}

// A generator generates the values of one event.
type generator struct {
	*Trace
	provider string
}

// members generates one value per field.
func (g generator) members(fields []ntconv.Field, path string) []ntconv.Value {
	out := make([]ntconv.Value, len(fields))
	for i := range fields {
		out[i] = g.value(&fields[i].Type, path+"."+fields[i].Name)
	}
	for i := range fields {
		if t := &fields[i].Type; t.Code == ntconv.TypeCounted {
			n := uint64(2)
			switch out[i].Kind() {
			case ntconv.ValueBytes:
				n = uint64(len(out[i].Bytes()))
			case ntconv.ValueString:
				n = uint64(len(out[i].String()))
			}
			out[t.Count] = ntconv.UintValue(n)
		}
	}
	return out
}

func (g generator) value(t *ntconv.FieldType, path string) ntconv.Value {
	switch t.Code {
	case ntconv.TypeObject:
		return ntconv.ObjectValue(g.members(t.Fields, path)...)
	case ntconv.TypeArray, ntconv.TypeCounted, ntconv.TypeRelLoc, ntconv.TypeDataLoc, ntconv.TypeFixedArray:
		return g.elements(t, path)
	case ntconv.TypePad64:
		return ntconv.Value{}
	case ntconv.TypeRest:
		return ntconv.BytesValue([]byte(g.Word(g.provider, path)))
	case ntconv.TypeUTF16String, ntconv.TypeANSIString:
		return ntconv.StringValue(g.Text(g.provider, path))
	}
	return number(t.Code)
}

func (g generator) elements(t *ntconv.FieldType, path string) ntconv.Value {
	switch t.Elem.Code {
	case ntconv.TypeUTF16Unit, ntconv.TypeUTF8Unit:
		if t.Code == ntconv.TypeFixedArray {
			return ntconv.StringValue(g.Word(g.provider, path))
		}
		return ntconv.StringValue(g.Text(g.provider, path))
	case ntconv.TypeUint8:
		return ntconv.BytesValue([]byte(g.Word(g.provider, path)))
	case ntconv.TypeInt8:
		var list []ntconv.Value
		for _, b := range []byte(g.Word(g.provider, path)) {
			list = append(list, ntconv.IntValue(int64(b)))
		}
		return ntconv.ListValue(list...)
	}
	n := 2
	if t.Code == ntconv.TypeFixedArray {
		n = int(t.Count)
	}
	list := make([]ntconv.Value, n)
	for i := range list {
		list[i] = g.value(t.Elem, path)
	}
	return ntconv.ListValue(list...)
}

// number returns a value of a scalar code.
func number(c ntconv.TypeCode) ntconv.Value {
	switch c {
	case ntconv.TypeBool8, ntconv.TypeBool32:
		return ntconv.BoolValue(true)
	case ntconv.TypeFloat32, ntconv.TypeFloat64:
		return ntconv.FloatValue(1.5)
	case ntconv.TypeDateTime:
		return ntconv.TimeValue(time.Unix(1e9, 0))
	case ntconv.TypeGUID:
		return ntconv.GUIDValue(ntconv.GUID{1, 2, 3})
	case ntconv.TypeUTF8Unit, ntconv.TypeUTF16Unit:
		return ntconv.StringValue("q")
	}
	return ntconv.UintValue(3)
}
