package ntconv

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/ntconv/ntconv/internal/data/bin"
)

// ErrValue means that AppendFields or AppendValue cannot encode a value as its type.
var ErrValue = errors.New("value does not fit its type")

// AppendFields appends a payload with one value per field to dst and returns the extended slice. It is the inverse of
// Event.Fields: fields after the last value are ValueNull. Elements of relative and absolute locations are appended after the last field; an absolute location
// counts from len(dst).
//
// A value that the field's type cannot represent is ErrValue: a value of another kind, a number that is too large, a
// NUL in a NUL-terminated string. If the last values are ValueNull, the payload ends before their fields; any other
// ValueNull is written as zero. After an error the result is dst.
func AppendFields(dst []byte, fields []Field, values []Value, pointerSize int) ([]byte, error) {
	if len(values) > len(fields) {
		return dst, fmt.Errorf("%d values for %d fields: %w", len(values), len(fields), ErrValue)
	}
	e := encoder{b: dst, start: len(dst), mode: modeOf(pointerSize)}
	n := len(values)
	for n > 0 && omissible(fields[n-1].Type.Code, values[n-1]) {
		n--
	}
	for i := range n {
		if err := e.value(&fields[i].Type, values[i]); err != nil {
			return dst, fmt.Errorf("field %q: %w", fields[i].Name, err)
		}
	}
	if err := e.patch(); err != nil {
		return dst, err
	}
	return e.b, nil
}

// AppendValue appends one value to dst and returns the extended slice. The rules are those of AppendFields.
func AppendValue(dst []byte, f *Field, v Value, pointerSize int) ([]byte, error) {
	return AppendFields(dst, []Field{*f}, []Value{v}, pointerSize)
}

// omissible reports whether a payload may end before a trailing field with this value.
func omissible(c TypeCode, v Value) bool {
	if c == TypeRest {
		return v.kind == ValueNull || v.kind == ValueBytes && len(v.raw) == 0
	}
	return v.kind == ValueNull && c != TypePad64
}

// An encoder appends values to b. The payload starts at start.
type encoder struct {
	b     []byte
	start int
	mode  mode
	locs  []pendingLoc
	ended bool // a TypeRest was written, so no byte may follow
}

// A pendingLoc is a location whose elements are not written yet.
type pendingLoc struct {
	at    int // position of the 32 bits in b
	typ   *FieldType
	value Value
}

func (e *encoder) value(t *FieldType, v Value) error {
	if e.ended {
		return fmt.Errorf("%v after %v: %w", t.Code, TypeRest, ErrValue)
	}
	switch t.Code {
	case TypeObject:
		return e.object(t, v)
	case TypeUTF16String, TypeANSIString:
		return e.terminated(t.Code, v)
	case TypeArray:
		return e.array(t, v)
	case TypeFixedArray:
		return e.fixedArray(t, v)
	case TypeCounted:
		_, err := e.elems(t.Elem, v)
		return err
	case TypeRelLoc, TypeDataLoc:
		if n, ok := e.mode.size(t.Elem); !ok || n == 0 {
			return fmt.Errorf("%v: %w: %w", t.Code, ErrValue, errElementSize)
		}
		e.locs = append(e.locs, pendingLoc{len(e.b), t, v})
		e.b = append(e.b, 0, 0, 0, 0)
	case TypePad64:
		e.b = append(e.b, make([]byte, e.mode.ptr-4)...)
	case TypeRest:
		e.b, e.ended = append(e.b, v.raw...), true
		return wrongUnless(v.kind == ValueBytes || v.kind == ValueNull, t.Code, v)
	default:
		return e.scalar(t.Code, v)
	}
	return nil
}

// wrongUnless returns an error for a value of a kind that the type cannot represent, unless ok is set.
func wrongUnless(ok bool, c TypeCode, v Value) error {
	if ok {
		return nil
	}
	return fmt.Errorf("%v as %v: %w", v.kind, c, ErrValue)
}

// scalarKind returns the value kind of a scalar that is not an integer.
func scalarKind(c TypeCode) (k ValueKind, ok bool) {
	switch c {
	case TypeBool8, TypeBool32:
		return ValueBool, true
	case TypeFloat32, TypeFloat64:
		return ValueFloat, true
	case TypeDecimal:
		return ValueBytes, true
	case TypeDateTime:
		return ValueTime, true
	case TypeGUID:
		return ValueGUID, true
	case TypeUTF8Unit, TypeUTF16Unit:
		return ValueString, true
	}
	return 0, false
}

func (e *encoder) scalar(c TypeCode, v Value) error {
	kind, ok := scalarKind(c)
	size := c.fixedSize(e.mode)
	switch {
	case !ok:
		return e.integer(c, v)
	case v.kind == ValueNull:
		e.b = append(e.b, make([]byte, size)...)
		return nil
	case v.kind != kind:
		return wrongUnless(false, c, v)
	}
	switch c {
	case TypeBool32:
		e.b = append(e.b, byte(v.num&1), 0, 0, 0)
	case TypeBool8:
		e.b = append(e.b, byte(v.num&1))
	case TypeFloat32:
		e.b = binary.LittleEndian.AppendUint32(e.b, math.Float32bits(float32(v.Float())))
	case TypeFloat64, TypeDateTime:
		e.b = binary.LittleEndian.AppendUint64(e.b, v.num)
	case TypeGUID, TypeDecimal:
		e.b = append(e.b, v.raw...)
		return wrongUnless(len(v.raw) == size, c, v)
	default:
		return e.unit(c, v)
	}
	return nil
}

// integer appends a number. It returns an error if the number does not fit.
func (e *encoder) integer(c TypeCode, v Value) error {
	n, bits, signed := v.num, 8*c.fixedSize(e.mode), false
	switch c {
	case TypeInt8, TypeInt16, TypeInt32, TypeInt64:
		signed = true
	case TypeVarInt:
		signed, bits = true, 64
	case TypeVarUint:
		bits = 64
	case TypeUint8, TypeUint16, TypeUint32, TypeUint64, TypePointer:
	default:
		return fmt.Errorf("%v: %w: %w", c, ErrValue, errTypeCode)
	}
	negative := v.kind == ValueInt && int64(n) < 0
	fits := n>>1>>(bits-1) == 0
	switch {
	case v.kind == ValueNull:
		fits = true
	case v.kind != ValueInt && v.kind != ValueUint:
		return wrongUnless(false, c, v)
	case signed && negative:
		fits = int64(n)>>(bits-1) == -1
	case signed:
		fits = n>>(bits-1) == 0
	case negative:
		fits = false
	}
	if !fits {
		return fmt.Errorf("%v as %v: %w", v, c, ErrValue)
	}
	switch c {
	case TypeVarInt:
		e.b = binary.AppendVarint(e.b, int64(n))
	case TypeVarUint:
		e.b = binary.AppendUvarint(e.b, n)
	default:
		var b [8]byte
		binary.LittleEndian.PutUint64(b[:], n)
		e.b = append(e.b, b[:bits/8]...)
	}
	return nil
}

// terminated appends a string and a zero unit.
func (e *encoder) terminated(c TypeCode, v Value) error {
	s := v.String()
	switch {
	case v.kind == ValueNull:
		s = ""
	case v.kind != ValueString:
		return wrongUnless(false, c, v)
	case strings.IndexByte(s, 0) >= 0:
		return fmt.Errorf("%q with a NUL in it as %v: %w", s, c, ErrValue)
	}
	if c == TypeUTF16String {
		e.b = append(bin.AppendUTF16(e.b, s), 0, 0)
		return nil
	}
	for _, r := range s {
		if r > 0xff {
			return fmt.Errorf("%q as %v: %w", s, c, ErrValue)
		}
		e.b = append(e.b, byte(r))
	}
	e.b = append(e.b, 0)
	return nil
}

// unit appends a single code unit.
func (e *encoder) unit(c TypeCode, v Value) error {
	r := []rune(v.String())
	switch {
	case c == TypeUTF8Unit && len(r) == 1 && r[0] <= 0xff:
		e.b = append(e.b, byte(r[0]))
	case c == TypeUTF16Unit && len(r) == 1 && r[0] <= 0xffff:
		e.b = binary.LittleEndian.AppendUint16(e.b, uint16(r[0]))
	default:
		return fmt.Errorf("%q as one %v unit: %w", v.String(), c, ErrValue)
	}
	return nil
}

// object appends the members of a decoded or constructed object.
func (e *encoder) object(t *FieldType, v Value) error {
	values := v.list
	if v.kind == ValueNull {
		values = make([]Value, len(t.Fields))
	} else if values == nil && v.typ != nil {
		values = make([]Value, len(v.typ.Fields))
		i := 0
		for _, m := range v.Fields() {
			values[i] = m
			i++
		}
	}
	if v.kind != ValueObject && v.kind != ValueNull || len(values) != len(t.Fields) {
		return fmt.Errorf("%v with %d members for %d: %w", v.kind, len(values), len(t.Fields), ErrValue)
	}
	for i := range values {
		if err := e.value(&t.Fields[i].Type, values[i]); err != nil {
			return fmt.Errorf("%q: %w", t.Fields[i].Name, err)
		}
	}
	return nil
}

// array appends a 16-bit count and the elements.
func (e *encoder) array(t *FieldType, v Value) error {
	at := len(e.b)
	e.b = append(e.b, 0, 0)
	n, err := e.elems(t.Elem, v)
	if err != nil {
		return err
	}
	if n > math.MaxUint16 {
		return fmt.Errorf("%d elements in an array with a 16-bit count: %w", n, ErrValue)
	}
	binary.LittleEndian.PutUint16(e.b[at:], uint16(n))
	return nil
}

// fixedArray appends the elements of an array whose type states their number.
func (e *encoder) fixedArray(t *FieldType, v Value) error {
	if v.kind == ValueNull {
		n, ok := e.mode.size(t)
		e.b = append(e.b, make([]byte, n)...)
		return wrongUnless(ok, t.Code, v)
	}
	n, err := e.elems(t.Elem, v)
	if err == nil && n != int(t.Count) {
		err = fmt.Errorf("%d elements for %d: %w", n, t.Count, ErrValue)
	}
	return err
}

// elems appends the elements of a string, bytes or a list and returns their number.
func (e *encoder) elems(t *FieldType, v Value) (int, error) {
	switch {
	case t == nil:
		return 0, fmt.Errorf("array: %w: %w", ErrValue, errElementSize)
	case v.kind == ValueNull:
		return 0, nil
	case t.Code == TypeUTF8Unit && v.kind == ValueString:
		s := v.String()
		e.b = append(e.b, s...)
		return len(s), nil
	case t.Code == TypeUTF16Unit && v.kind == ValueString:
		before := len(e.b)
		e.b = bin.AppendUTF16(e.b, v.String())
		return (len(e.b) - before) / 2, nil
	case t.Code == TypeUint8 && v.kind == ValueBytes:
		e.b = append(e.b, v.raw...)
		return len(v.raw), nil
	case v.kind != ValueList:
		return 0, fmt.Errorf("%v as a list of %v: %w", v.kind, t.Code, ErrValue)
	}
	n, before := 0, len(e.b)
	for m := range v.Elems() {
		if err := e.value(t, m); err != nil {
			return n, fmt.Errorf("element %d: %w", n, err)
		}
		n++
	}
	if n > 0 && len(e.b) == before {
		return n, fmt.Errorf("array: %w: %w", ErrValue, errElementSize)
	}
	return n, nil
}

// patch appends the elements of all locations and sets the locations.
func (e *encoder) patch() error {
	if e.ended && len(e.locs) > 0 {
		return fmt.Errorf("elements of %v after %v: %w", e.locs[0].typ.Code, TypeRest, ErrValue)
	}
	for i := 0; i < len(e.locs); i++ { // elements may contain further locations
		l := e.locs[i]
		from := e.start
		if l.typ.Code == TypeRelLoc {
			from = l.at + 4
		}
		pos := len(e.b)
		if _, err := e.elems(l.typ.Elem, l.value); err != nil {
			return err
		}
		size := len(e.b) - pos
		if size > math.MaxUint16 || pos-from > math.MaxUint16 {
			return fmt.Errorf("%d bytes at position %d of a location with 16 bits each: %w", size, pos-from, ErrValue)
		}
		binary.LittleEndian.PutUint32(e.b[l.at:], uint32(size)<<16|uint32(pos-from))
	}
	return nil
}
