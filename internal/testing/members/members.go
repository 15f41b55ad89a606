// Package members lists and changes the members of the model: each field of each struct that an event or an Info refers
// to. Tests use it to show that a comparison, a digest or a format covers all of them.
package members

import (
	"fmt"
	"reflect"
	"strings"
	"time"
	"unsafe"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/ntconvtest"
)

// Trace returns a new trace in which every member of the model has a value, except members that depend on the kind of
// an event.
func Trace() *ntconvtest.Trace {
	attrs := func() ntconv.Attrs { return ntconv.Attrs{{Key: "key", Value: "value"}} }
	mapping := func() *ntconv.Mapping {
		return &ntconv.Mapping{Start: 0x1000, Limit: 0x2000, Offset: 16, File: "/a", BuildID: "ab", Flags: ntconv.MappingMain}
	}
	process := &ntconv.Process{PID: 7, Host: "h", Name: "p", PointerSize: 8, Attrs: attrs(), Mappings: []*ntconv.Mapping{mapping()}}
	threads := []*ntconv.Thread{
		{TID: 1, Name: "one", Process: process, Attrs: attrs()}, {TID: 2, Name: "two", Process: process, Attrs: attrs()},
		{TID: 3, Name: "unused", Process: &ntconv.Process{PID: 8, Host: "g", Name: "q", PointerSize: 4, Attrs: attrs(), Mappings: []*ntconv.Mapping{mapping()}}, Attrs: attrs()},
	}
	makeType := func(name string) *ntconv.Type {
		field := func() ntconv.Field {
			elem := &ntconv.FieldType{Code: ntconv.TypeObject, Fields: []ntconv.Field{{Name: "x", Type: ntconv.FieldType{Code: ntconv.TypeInt8}, Extra: []byte{1}}}}
			return ntconv.Field{Name: "f", Type: ntconv.FieldType{Code: ntconv.TypeFixedArray, Count: 1, Elem: elem}, Extra: []byte{2}}
		}
		return &ntconv.Type{
			Provider: "P", GUID: ntconv.GUID{1}, ID: 4, Name: name, Version: 1, Level: 2, Opcode: 3, HasOpcode: true, Keywords: 8,
			Fields: []ntconv.Field{field()}, Message: "m", Description: "d", Attrs: attrs(), Extra: []byte{3}, OptionalExtra: []byte{4},
		}
	}
	stack := &ntconv.Stack{PCs: []uint64{0x1001}, Frames: []ntconv.Frame{{
		Func:    &ntconv.Function{Name: "f", SystemName: "_f", File: "f.go", StartLine: 3},
		Mapping: mapping(), PC: 0x1001, Line: 4, Column: 5, Flags: ntconv.FrameInlined,
	}}}
	labels := ntconv.NewLabels([]ntconv.Label{
		{Kind: ntconv.LabelString, Key: "k", Str: "s"}, {Kind: ntconv.LabelInt, Key: "n", Num: 6, Unit: "u"},
		{Kind: ntconv.LabelSpanID, ID: [16]byte{9}},
	})
	point := &ntconv.Mark{Kind: ntconv.MarkSequencePoint, Flags: ntconv.MarkFlushTypes, Threads: []ntconv.ThreadSeq{{Thread: threads[0], Seq: 5}}}
	return &ntconvtest.Trace{
		Info: &ntconv.Info{
			Format: "f", PointerSize: 8, Attrs: attrs(), Aggregate: true,
			Clock: ntconv.Clock{Freq: 1e9, Tick: 1, Wall: time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)},
		},
		Events: []*ntconv.Event{
			{
				Kind: ntconv.KindEvent, Flags: ntconv.FlagSorted, CPU: 2, Seq: 5, Time: 20, Offset: 1, Type: makeType("used"),
				Thread: threads[0], Capture: threads[1], Stack: stack, Labels: labels, Payload: []byte{1},
			},
			{Kind: ntconv.KindLost, CPU: -1, Lost: 2, Time: 21, Offset: 2, Capture: threads[0]},
			{Kind: ntconv.KindMark, CPU: -1, Time: 22, Offset: 3, Mark: point},
			{Kind: ntconv.KindOpaque, CPU: -1, Seq: 77, Time: 23, Offset: 4, Payload: []byte{5}},
			{Kind: ntconv.KindDefine, CPU: -1, Offset: 5, Type: makeType("unused")},
			{Kind: ntconv.KindDefine, CPU: -1, Offset: 6, Thread: threads[2]},
		},
	}
}

// A Member is a value of the model in a trace.
type Member struct {
	Path  string // path from the trace: "Events[0].Type.Fields[0].Name"
	Name  string // "Field.Name"; empty for the whole Info and for whole events
	Value reflect.Value
}

// IsStruct reports whether the member itself has members.
func (m *Member) IsStruct() bool {
	return m.Value.Kind() == reflect.Struct && m.Value.Type() != reflect.TypeFor[time.Time]()
}

// Of returns the members of the Info and the events of a trace.
func Of(tr *ntconvtest.Trace) (list []Member) {
	seen := map[unsafe.Pointer]bool{}
	list = members(reflect.ValueOf(tr.Info).Elem(), "Info", "", seen)
	for i, e := range tr.Events {
		list = append(list, members(reflect.ValueOf(e).Elem(), fmt.Sprintf("Events[%d]", i), "", seen)...)
	}
	return list
}

// members returns all values that v refers to: numbers, strings, bools, pointers and lists. It lists each of them once.
func members(v reflect.Value, path, name string, seen map[unsafe.Pointer]bool) (list []Member) {
	if v.Type() == reflect.TypeFor[time.Time]() {
		return []Member{{path, name, v}}
	}
	switch v.Kind() {
	case reflect.Pointer:
		list = append(list, Member{path, name, v})
		if !v.IsNil() && !seen[v.UnsafePointer()] {
			seen[v.UnsafePointer()] = true
			list = append(list, members(v.Elem(), path, name, seen)...)
		}
	case reflect.Struct:
		list = append(list, Member{path, name, v})
		for i := range v.NumField() {
			f := v.Type().Field(i)
			// Including unexported fields.
			field := reflect.NewAt(f.Type, unsafe.Pointer(v.Field(i).UnsafeAddr())).Elem()
			list = append(list, members(field, path+"."+f.Name, v.Type().Name()+"."+f.Name, seen)...)
		}
	case reflect.Slice:
		list = append(list, Member{path + " (length)", name, v})
		fallthrough
	case reflect.Array:
		for i := range v.Len() {
			list = append(list, members(v.Index(i), fmt.Sprintf("%s[%d]", path, i), name, seen)...)
		}
	default:
		list = append(list, Member{path, name, v})
	}
	return list
}

// Change sets a member to another value.
func Change(m Member) {
	v := m.Value
	if x, ok := v.Interface().(time.Time); ok {
		v.Set(reflect.ValueOf(x.Add(time.Second)))
		return
	}
	if strings.HasSuffix(m.Name, ".PointerSize") {
		size := reflect.ValueOf(4) // instead of 8
		if v.Equal(size.Convert(v.Type())) {
			size = reflect.ValueOf(8)
		}
		v.Set(size.Convert(v.Type()))
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			v.Set(reflect.New(v.Type().Elem()))
		} else {
			v.SetZero()
		}
	case reflect.Slice:
		if v.Len() == 0 {
			v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		} else {
			v.Set(v.Slice(0, v.Len()-1))
		}
	case reflect.Bool:
		v.SetBool(!v.Bool())
	case reflect.String:
		v.SetString(v.String() + "x")
	case reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint(v.Uint() ^ 1)
	case reflect.Int, reflect.Int32, reflect.Int64:
		v.SetInt(v.Int() ^ 1)
	default:
		panic("a member of kind " + v.Kind().String())
	}
}
