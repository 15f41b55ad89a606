package ntconv

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"unicode/utf16"
)

// ErrValue is wrapped by errors of AppendFields and AppendValue: a value cannot be written as its type.
var ErrValue = errors.New("value does not fit its type")

// AppendFields appends a payload to dst: one value a field, in order. It is the inverse of Event.Fields. Elements of
// relative and absolute locations are put behind the last field; an absolute location counts from len(dst).
func AppendFields(dst []byte, fields []Field, values []Value, pointerSize int) ([]byte, error) {
	if len(values) != len(fields) {
		return dst, fmt.Errorf("%d values for %d fields: %w", len(values), len(fields), ErrValue)
	}
	e := encoder{b: dst, start: len(dst), ptr: pointerSize}
	for i := range fields {
		if err := e.value(&fields[i].Type, values[i]); err != nil {
			return dst, fmt.Errorf("field %q: %w", fields[i].Name, err)
		}
	}
	if err := e.patch(); err != nil {
		return dst, err
	}
	return e.b, nil
}

// AppendValue appends one value to dst. It is the inverse of decoding.
func AppendValue(dst []byte, f *Field, v Value, pointerSize int) ([]byte, error) {
	return AppendFields(dst, []Field{*f}, []Value{v}, pointerSize)
}

type encoder struct {
	b     []byte
	start int
	ptr   int
	locs  []pendingLoc
}

// pendingLoc is a location whose elements are still to be written.
type pendingLoc struct {
	at    int // of the 32 bits in b
	typ   *FieldType
	value Value
}

func (e *encoder) value(t *FieldType, v Value) error {
	switch t.Code {
	case TypeObject:
		return e.object(t, v)
	case TypeUTF16String:
		e.b = appendUnits(e.b, v.String())
		e.b = append(e.b, 0, 0)
	case TypeANSIString:
		e.b = append(append(e.b, v.String()...), 0)
	case TypeArray:
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
	case TypeFixedArray:
		n, err := e.elems(t.Elem, v)
		if err == nil && n != int(t.Count) {
			err = fmt.Errorf("%d elements for %d: %w", n, t.Count, ErrValue)
		}
		return err
	case TypeCounted:
		_, err := e.elems(t.Elem, v)
		return err
	case TypeRelLoc, TypeDataLoc:
		e.locs = append(e.locs, pendingLoc{len(e.b), t, v})
		e.b = append(e.b, 0, 0, 0, 0)
	case TypeVarInt:
		n := v.Int()
		e.b = binary.AppendUvarint(e.b, uint64(n)<<1^uint64(n>>63))
	case TypeVarUint:
		e.b = binary.AppendUvarint(e.b, v.Uint())
	case TypePad64:
		if e.ptr == 8 {
			e.b = append(e.b, 0, 0, 0, 0)
		}
	default:
		return e.scalar(t.Code, v)
	}
	return nil
}

func (e *encoder) scalar(c TypeCode, v Value) error {
	switch c {
	case TypeInt8, TypeUint8:
		e.b = append(e.b, byte(v.Uint()))
	case TypeInt16, TypeUint16:
		e.b = binary.LittleEndian.AppendUint16(e.b, uint16(v.Uint()))
	case TypeInt32, TypeUint32:
		e.b = binary.LittleEndian.AppendUint32(e.b, uint32(v.Uint()))
	case TypeInt64, TypeUint64:
		e.b = binary.LittleEndian.AppendUint64(e.b, v.Uint())
	case TypePointer:
		if e.ptr == 4 {
			e.b = binary.LittleEndian.AppendUint32(e.b, uint32(v.Uint()))
		} else {
			e.b = binary.LittleEndian.AppendUint64(e.b, v.Uint())
		}
	case TypeBool32:
		e.b = append(e.b, byte(v.num&1), 0, 0, 0)
	case TypeBool8:
		e.b = append(e.b, byte(v.num&1))
	case TypeFloat32:
		e.b = binary.LittleEndian.AppendUint32(e.b, math.Float32bits(float32(v.Float())))
	case TypeFloat64:
		e.b = binary.LittleEndian.AppendUint64(e.b, math.Float64bits(v.Float()))
	case TypeDateTime:
		e.b = binary.LittleEndian.AppendUint64(e.b, v.FileTime())
	case TypeGUID:
		g := v.GUID()
		e.b = append(e.b, g[:]...)
	case TypeDecimal:
		e.b = append(e.b, make([]byte, 16)...)
		copy(e.b[len(e.b)-16:], v.Bytes())
	case TypeUTF8Unit, TypeUTF16Unit:
		return e.unit(c, v)
	default:
		return fmt.Errorf("%v: %w", c, ErrValue)
	}
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
	if values == nil {
		for _, m := range v.Fields() {
			values = append(values, m)
		}
	}
	if v.kind != ValueObject || len(values) != len(t.Fields) {
		return fmt.Errorf("%v with %d members for %d: %w", v.kind, len(values), len(t.Fields), ErrValue)
	}
	for i := range values {
		if err := e.value(&t.Fields[i].Type, values[i]); err != nil {
			return fmt.Errorf("%q: %w", t.Fields[i].Name, err)
		}
	}
	return nil
}

// elems appends the elements of a string, bytes or a list and returns their number.
func (e *encoder) elems(t *FieldType, v Value) (int, error) {
	switch {
	case t.Code == TypeUTF8Unit && v.kind == ValueString:
		s := v.String()
		e.b = append(e.b, s...)
		return len(s), nil
	case t.Code == TypeUTF16Unit && v.kind == ValueString:
		before := len(e.b)
		e.b = appendUnits(e.b, v.String())
		return (len(e.b) - before) / 2, nil
	case t.Code == TypeUint8 && v.kind == ValueBytes:
		e.b = append(e.b, v.raw...)
		return len(v.raw), nil
	case v.kind != ValueList:
		return 0, fmt.Errorf("%v as a list of %v: %w", v.kind, t.Code, ErrValue)
	}
	n := 0
	for m := range v.Elems() {
		if err := e.value(t, m); err != nil {
			return n, fmt.Errorf("element %d: %w", n, err)
		}
		n++
	}
	return n, nil
}

// patch writes what the locations point to.
func (e *encoder) patch() error {
	for i := 0; i < len(e.locs); i++ { // elements may hold locations of their own
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

// appendUnits appends s as little-endian UTF-16.
func appendUnits(dst []byte, s string) []byte {
	for _, r := range s {
		if r > 0xffff {
			hi, lo := utf16.EncodeRune(r)
			dst = binary.LittleEndian.AppendUint16(dst, uint16(hi))
			r = lo
		}
		dst = binary.LittleEndian.AppendUint16(dst, uint16(r))
	}
	return dst
}
