package streameq_test

import (
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/streameq"
	"github.com/ntconv/ntconv/ntconvtest"
)

// A model has a value in every member of the model: no member of a struct that it reaches is zero or empty. Each call
// makes new ones.
func model() *ntconvtest.Trace {
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

// overlooked are the members that a comparison of streams does not see, with the reason.
var overlooked = map[string]string{
	"Event.Offset":     "the place in a file is not part of the trace",
	"Info.Format":      "the name of a format is for display",
	"Type.layout":      "a cache of what the fields say",
	"Labels.overrides": "derived from the list", "Labels.opcode": "derived from the list", "Labels.level": "derived from the list",
	"Labels.version": "derived from the list", "Labels.keywords": "derived from the list",
}

// overlookedIn are members that some places of the model overlook.
func overlookedIn(m *member) string {
	empty := m.value.Kind() == reflect.Pointer && m.value.IsNil() && (m.name == "Event.Stack" || m.name == "Event.Labels")
	if empty {
		return "a missing stack or label list equals an empty one"
	}
	for _, define := range []string{"Events[4].", "Events[5]."} {
		field, ok := strings.CutPrefix(m.path, define)
		if ok && !strings.HasPrefix(field, "Type") && !strings.HasPrefix(field, "Thread") && field != "Kind" {
			return "where a type or a thread is declared depends on the format"
		}
	}
	return overlooked[m.name]
}

// A member is one of the model's values, within a trace.
type member struct {
	path, name string // from the trace on, and as Struct.Field
	value      reflect.Value
}

// isStruct reports whether the member has members of its own.
func (m *member) isStruct() bool {
	return m.value.Kind() == reflect.Struct && m.value.Type() != reflect.TypeFor[time.Time]()
}

// membersOf returns the members of the Info and the events of a trace.
func membersOf(tr *ntconvtest.Trace) (list []member) {
	seen := map[unsafe.Pointer]bool{}
	list = members(reflect.ValueOf(tr.Info).Elem(), "Info", "", seen)
	for i, e := range tr.Events {
		list = append(list, members(reflect.ValueOf(e).Elem(), fmt.Sprintf("Events[%d]", i), "", seen)...)
	}
	return list
}

// members returns what v reaches: numbers, strings, bools, pointers, and lists, each in one place.
func members(v reflect.Value, path, name string, seen map[unsafe.Pointer]bool) (list []member) {
	if v.Type() == reflect.TypeFor[time.Time]() {
		return []member{{path, name, v}}
	}
	switch v.Kind() {
	case reflect.Pointer:
		list = append(list, member{path, name, v})
		if !v.IsNil() && !seen[v.UnsafePointer()] {
			seen[v.UnsafePointer()] = true
			list = append(list, members(v.Elem(), path, name, seen)...)
		}
	case reflect.Struct:
		list = append(list, member{path, name, v})
		for i := range v.NumField() {
			f := v.Type().Field(i)
			field := reflect.NewAt(f.Type, unsafe.Pointer(v.Field(i).UnsafeAddr())).Elem() // unexported ones, too
			list = append(list, members(field, path+"."+f.Name, v.Type().Name()+"."+f.Name, seen)...)
		}
	case reflect.Slice:
		list = append(list, member{path + " (length)", name, v})
		fallthrough
	case reflect.Array:
		for i := range v.Len() {
			list = append(list, members(v.Index(i), fmt.Sprintf("%s[%d]", path, i), name, seen)...)
		}
	default:
		list = append(list, member{path, name, v})
	}
	return list
}

// change gives a member another value.
func change(m member) {
	v := m.value
	if x, ok := v.Interface().(time.Time); ok {
		v.Set(reflect.ValueOf(x.Add(time.Second)))
		return
	}
	if strings.HasSuffix(m.name, ".PointerSize") {
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

// TestEveryMember: a comparison sees a change of any member of the model, unless it is listed with a reason; no member
// is left out of the test; and every difference is printed for humans.
func TestEveryMember(t *testing.T) {
	list := membersOf(model())
	reached := map[string]bool{}
	for i, m := range list {
		reached[m.name] = true
		if m.isStruct() {
			continue // its members are changed
		}
		changed := model()
		change(membersOf(changed)[i])
		_, err := streameq.Streams(model().Source(), changed.Source(), nil)
		reason := overlookedIn(&m)
		var d *streameq.Difference
		switch {
		case reason != "" && err != nil:
			t.Errorf("%s is overlooked (%s), but: %v", m.path, reason, err)
		case reason == "" && !errors.As(err, &d):
			t.Errorf("%s (%s): a change is not seen: %v", m.path, m.name, err)
		case d != nil:
			checkReadable(t, m.path, d)
		}
	}
	for _, v := range []any{
		ntconv.Event{}, ntconv.Type{}, ntconv.Field{}, ntconv.FieldType{}, ntconv.Thread{}, ntconv.Process{}, ntconv.Mapping{}, ntconv.Stack{},
		ntconv.Frame{}, ntconv.Function{}, ntconv.Label{}, ntconv.Labels{}, ntconv.Mark{}, ntconv.ThreadSeq{}, ntconv.Info{}, ntconv.Clock{}, ntconv.Attr{},
	} {
		for f := range reflect.TypeOf(v).Fields() {
			if name := reflect.TypeOf(v).Name() + "." + f.Name; !reached[name] {
				t.Errorf("%s is not tested", name)
			}
		}
	}
}

// structs matches what formatting a Go value by itself prints, and a reader of a message cannot use.
var structs = regexp.MustCompile(`[{}&]|0xc[0-9a-f]{9}|<nil>|%!|map\[`)

// checkReadable checks that a difference has both values, or says that only one stream has it, in words.
func checkReadable(t *testing.T, path string, d *streameq.Difference) {
	t.Helper()
	if text := d.Error(); structs.MatchString(text) {
		t.Errorf("%s: the difference is printed as a Go value: %s", path, text)
	}
	if (d.A != "" || d.B != "") && d.A == d.B {
		t.Errorf("%s: both sides are printed as %s", path, d.A)
	}
	if d.A == "" && !slices.ContainsFunc([]string{"only", "several", "ends"}, func(w string) bool { return strings.Contains(d.What, w) }) {
		t.Errorf("%s: no values: %s", path, d.What)
	}
}
