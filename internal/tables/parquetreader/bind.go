package parquetreader

import (
	"fmt"
	"reflect"
	"strings"
	"unsafe"

	"github.com/ntconv/ntconv"
)

// bind returns the fields of the struct type t for which the file has columns, and adds these columns to b.
func bind(t reflect.Type, b *batcher) ([]field, error) {
	var fields []field
	for i := range t.NumField() {
		sf := t.Field(i)
		name := columnName(sf)
		n := b.file.root.child(name)
		if former := sf.Tag.Get("former"); n == nil && former != "" {
			n = b.file.root.child(former)
		}
		if n == nil || name == "-" {
			continue
		}
		f, err := bindField(sf, n, b)
		if err != nil {
			return nil, err
		}
		if f != nil {
			fields = append(fields, f)
		}
	}
	return fields, nil
}

// columnName returns the column name in the parquet tag of a field.
func columnName(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("parquet"), ",")
	if name == "" {
		name = f.Name
	}
	return name
}

// bindField returns the field for the top-level node n, or nil if the file lacks columns for it.
func bindField(sf reflect.StructField, n *node, b *batcher) (field, error) {
	switch {
	case sf.Type.Kind() == reflect.Map:
		return bindMap(sf, n, b)
	case sf.Type.Kind() == reflect.Slice && sf.Type.Elem().Kind() != reflect.Uint8:
		return bindList(sf, n, b)
	}
	return bindScalar(sf, n, b, 0, 0)
}

// mismatch returns the error for a node whose type does not fit the field.
func mismatch(sf reflect.StructField, n *node, b *batcher, want string) error {
	got := "a group"
	if n.leaf >= 0 {
		got = b.file.columns[n.leaf].TypeName()
	}
	if n.repeats == repeated {
		got = "a list of " + got
	}
	return fmt.Errorf("parquet: %w: column %s has type %s, want %s", ntconv.ErrUnsupported, columnName(sf), got, want)
}

// scalarTypes lists the column types that can be read into each kind of field.
var scalarTypes = map[reflect.Kind]struct {
	kind     kind
	physical Physical
}{
	reflect.Int32:   {kindInt32, Int32},
	reflect.Int64:   {kindInt64, Int64},
	reflect.Bool:    {kindBool, Boolean},
	reflect.Float64: {kindFloat64, Double},
	reflect.String:  {kindString, ByteArray},
	reflect.Slice:   {kindBytes, ByteArray},
}

// bindScalar returns the field for a column inside the given number of lists. element is scalar.element.
func bindScalar(sf reflect.StructField, n *node, b *batcher, lists int, element uint8) (*scalar, error) {
	t := sf.Type
	pointer := t.Kind() == reflect.Pointer
	if pointer {
		t = t.Elem()
	}
	types, ok := scalarTypes[t.Kind()]
	if !ok || pointer && !types.physical.isNumber() || t.Kind() == reflect.Slice && t.Elem().Kind() != reflect.Uint8 {
		return nil, fmt.Errorf("parquet: %w: field %s of type %v", ntconv.ErrUnsupported, sf.Name, sf.Type)
	}
	want := types.physical.String()
	unit := timestampUnit(sf)
	if unit > 0 {
		want += " TIMESTAMP in " + unitNames[unit]
	}
	if n.leaf < 0 || n.physical != types.physical || n.repetition != lists {
		return nil, mismatch(sf, n, b, want)
	}
	if c := &b.file.columns[n.leaf]; c.Unit != unit && c.Logical == Timestamp && unit > 0 ||
		unit > 0 && c.Logical != Timestamp && c.Logical != NoLogical {
		return nil, mismatch(sf, n, b, want)
	}
	return &scalar{c: b.add(n.leaf), offset: sf.Offset, kind: types.kind, pointer: pointer, element: element}, nil
}

// timestampUnit returns the nanoseconds per unit of a timestamp field, and 0 for other fields.
func timestampUnit(sf reflect.StructField) int64 {
	tag := sf.Tag.Get("parquet")
	switch {
	case strings.Contains(tag, "timestamp(nanosecond"):
		return 1
	case strings.Contains(tag, "timestamp(microsecond"):
		return 1000
	case strings.Contains(tag, "timestamp"):
		return 1_000_000
	}
	return 0
}

// add adds a reader for the column at position leaf and returns it.
func (b *batcher) add(leaf int) *columnReader {
	c := newColumnReader(b.file, leaf, b.codecs, b.held)
	b.columns = append(b.columns, c)
	if c.column.MaxRepetition > 0 {
		b.maxRows = listRows
	}
	return c
}

// elements returns the repeated node of a list or map and the node of its elements. A list has a group around the
// element, "list", that carries the repetition; in files of old writers the element itself repeats (LogicalTypes.md,
// "Nested Types").
func (n *node) elements() (repeats, element *node) {
	if n.repeats != repeated {
		if len(n.nodes) != 1 || n.nodes[0].repeats != repeated {
			return nil, nil
		}
		n = n.nodes[0]
	}
	if len(n.nodes) == 1 {
		return n, n.nodes[0]
	}
	return n, n
}

func bindList(sf reflect.StructField, n *node, b *batcher) (field, error) {
	list, element := n.elements()
	if list == nil || list.repetition != 1 {
		return nil, mismatch(sf, n, b, "a list")
	}
	slice := sf.Type
	t := slice.Elem()
	f := &listField{
		size:      t.Size(),
		makeSlice: func(n int) unsafe.Pointer { return reflect.MakeSlice(slice, n, n).UnsafePointer() },
	}
	f.offset = sf.Offset
	if t.Kind() != reflect.Struct {
		sf.Type, sf.Offset = t, 0
		s, err := bindScalar(sf, element, b, 1, uint8(list.definition))
		f.columns = []*scalar{s}
		return f, err
	}
	if element.leaf >= 0 {
		return nil, mismatch(sf, n, b, "a list of groups")
	}
	for i := range t.NumField() {
		member := element.child(columnName(t.Field(i)))
		if member == nil {
			continue
		}
		s, err := bindScalar(t.Field(i), member, b, 1, uint8(list.definition))
		if err != nil {
			return nil, fmt.Errorf("column %s: %w", columnName(sf), err)
		}
		f.columns = append(f.columns, s)
	}
	if len(f.columns) == 0 {
		return nil, nil
	}
	return f, nil
}

func bindMap(sf reflect.StructField, n *node, b *batcher) (field, error) {
	entries, _ := n.elements()
	if sf.Type != reflect.TypeFor[map[string]string]() || entries == nil || len(entries.nodes) != 2 ||
		entries.repetition != 1 {
		return nil, mismatch(sf, n, b, "a map of strings")
	}
	f := &mapField{}
	f.offset = sf.Offset
	text := reflect.StructField{Name: sf.Name, Tag: sf.Tag, Type: reflect.TypeFor[string]()}
	for _, entry := range entries.nodes {
		s, err := bindScalar(text, entry, b, 1, uint8(entries.definition))
		if err != nil {
			return nil, err
		}
		f.columns = append(f.columns, s)
	}
	return f, nil
}
