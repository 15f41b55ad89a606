package ntconv

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"iter"
	"math"
	"slices"

	"github.com/ntconv/ntconv/internal/data/bin"
)

// Fields iterates over the fields of the payload according to the Type. It does not allocate. The values borrow the
// payload. A field that cannot be decoded has the kind ValueError, and so do all fields after it. Fields ends with the
// payload, before the first field that needs a byte after its end, as in events of an older version. An event without a
// Type, such as a mark or a loss, has no fields.
//
// Self-describing .NET sources write bool in 1 byte and decimal in 8, although their metadata declares the usual 4 and
// 16. For such types Fields uses the short sizes if only they consume the whole payload.
//
// Locations may overlap and refer to further locations. Their elements may have at most 16 times the bytes of the
// payload plus 4,096; a location beyond that is a ValueError. So iterating over all values, including nested ones,
// needs time and output in proportion to the payload.
func (e *Event) Fields() iter.Seq2[*Field, Value] {
	// Small enough to be inlined, so nothing escapes to the heap.
	return func(yield func(*Field, Value) bool) { eachField(e, yield) }
}

func eachField(e *Event, yield func(*Field, Value) bool) {
	if e.Type == nil {
		return
	}
	m := modeOf(e.PointerSize())
	if e.Type.layoutOf()&layoutAmbiguous != 0 {
		m.narrow = narrow(e.Type.Fields, e.Payload, m)
	}
	d := decoder{b: e.Payload, payload: e.Payload, mode: m}
	d.each(e.Type.Fields, yield)
}

// Field returns the first field of the payload with this name, and false if there is none. The value borrows the
// payload.
func (e *Event) Field(name string) (Value, bool) {
	for f, v := range e.Fields() {
		if f.Name == name {
			return v, true
		}
	}
	return Value{}, false
}

// DecodeFields is Event.Fields for a given layout. It uses the sizes of the layout and never the short ones. Any
// pointer size except 4 counts as 8.
func DecodeFields(fields []Field, payload []byte, pointerSize int) iter.Seq2[*Field, Value] {
	return func(yield func(*Field, Value) bool) {
		d := decoder{b: payload, payload: payload, mode: modeOf(pointerSize)}
		d.each(fields, yield)
	}
}

// narrow reports whether the fields consume the whole payload only with the short sizes.
func narrow(fields []Field, payload []byte, m mode) bool {
	slim := m
	slim.narrow = true
	return !even(fields, payload, m) && even(fields, payload, slim)
}

// even reports whether the fields consume exactly the whole payload.
func even(fields []Field, payload []byte, m mode) bool {
	d := decoder{b: payload, payload: payload, mode: m, probe: true}
	n := 0
	d.each(fields, func(_ *Field, v Value) bool {
		if v.kind == ValueError || v.kind == ValueNull {
			return false
		}
		n++
		return true
	})
	return n == len(fields) && d.off == len(payload)
}

// A decoder reads encoded values. b is the payload up to the end of the value, off is the position of the next value in
// b, and payload is the whole payload, to which locations refer. After an error off is len(b), so every loop ends.
type decoder struct {
	b       []byte
	off     int
	payload []byte
	mode    mode
	probe   bool   // the caller only checks whether there is an error, so errors need no details
	charged uint32 // total charge for locations and empty values, see chargeLimit
	err     error
}

// decoder returns a decoder for the contents of a list or an object.
func (v *Value) decoder() decoder {
	return decoder{
		b: v.pay[:v.num+uint64(len(v.raw))], off: int(v.num), payload: v.pay, mode: v.mode, charged: v.charged,
	}
}

// inside returns a list or object value for the bytes from start to end. charged is the total before its first element.
func (d *decoder) inside(kind ValueKind, t *FieldType, start, end int, charged uint32) Value {
	return Value{
		kind: kind, typ: t, num: uint64(start), raw: d.payload[start:end:end], pay: d.payload,
		mode: d.mode, charged: charged,
	}
}

// each decodes the members of an object that the payload contains.
func (d *decoder) each(fields []Field, yield func(*Field, Value) bool) {
	start := d.off
	for i := range fields {
		var v Value
		switch {
		case d.err != nil:
			v = errorValue(d.err)
		case d.off == len(d.b) && d.mode.needsBytes(&fields[i].Type):
			return
		default:
			v = d.value(&fields[i].Type, fields, start)
		}
		if !yield(&fields[i], v) {
			return
		}
	}
}

// needsBytes reports whether all values of a type have bytes.
func (m mode) needsBytes(t *FieldType) bool {
	switch t.Code {
	case TypeFixedArray:
		return t.Count > 0
	case TypePad64:
		return m.ptr > 4
	case TypeObject:
		return slices.ContainsFunc(t.Fields, func(f Field) bool { return m.needsBytes(&f.Type) })
	case TypeCounted, TypeRest:
		return false
	}
	return true
}

// fail records an error and returns its value.
func (d *decoder) fail(err error) Value {
	if d.probe {
		d.err, d.off = err, len(d.b)
		return errorValue(err)
	}
	d.err = fmt.Errorf("byte %d of the payload: %w", d.off, err)
	d.off = len(d.b)
	return errorValue(d.err)
}

// take returns the next n bytes, or nil if fewer are left.
func (d *decoder) take(n int) []byte {
	if n < 0 || n > len(d.b)-d.off {
		return nil
	}
	b := d.b[d.off : d.off+n : d.off+n]
	d.off += n
	return b
}

// value decodes the next value. fields and start are those of the enclosing object, because TypeCounted refers to an
// earlier field.
func (d *decoder) value(t *FieldType, fields []Field, start int) Value {
	if n := t.Code.fixedSize(d.mode); n > 0 {
		b := d.take(n)
		if b == nil {
			return d.fail(errPayloadShort)
		}
		return d.scalar(t, b)
	}
	switch t.Code {
	case TypeObject:
		return d.object(t)
	case TypeUTF16String:
		return d.utf16String()
	case TypeANSIString:
		return d.ansiString()
	case TypeVarInt, TypeVarUint:
		return d.varint(t.Code)
	case TypeArray:
		b := d.take(2)
		if b == nil {
			return d.fail(errPayloadShort)
		}
		return d.array(t.Elem, int(binary.LittleEndian.Uint16(b)))
	case TypeFixedArray:
		if t.Count == 0 && !d.charge(1) {
			return d.fail(d.errCharge())
		}
		return d.array(t.Elem, int(t.Count))
	case TypeCounted:
		n, ok := d.countOf(fields, int(t.Count), start)
		if !ok {
			return d.fail(errCountField)
		}
		return d.array(t.Elem, n)
	case TypePad64:
		if d.mode.ptr == 8 && d.take(4) == nil {
			return d.fail(errPayloadShort)
		}
		return Value{}
	case TypeRest:
		return Value{kind: ValueBytes, raw: d.take(len(d.b) - d.off)}
	}
	return d.fail(errTypeCode)
}

// scalar decodes a value from its bytes.
func (d *decoder) scalar(t *FieldType, b []byte) Value {
	switch t.Code {
	case TypeInt8:
		return IntValue(int64(int8(b[0])))
	case TypeUint8:
		return UintValue(uint64(b[0]))
	case TypeInt16:
		return IntValue(int64(int16(binary.LittleEndian.Uint16(b))))
	case TypeUint16:
		return UintValue(uint64(binary.LittleEndian.Uint16(b)))
	case TypeInt32:
		return IntValue(int64(int32(binary.LittleEndian.Uint32(b))))
	case TypeUint32:
		return UintValue(uint64(binary.LittleEndian.Uint32(b)))
	case TypeInt64:
		return IntValue(int64(binary.LittleEndian.Uint64(b)))
	case TypeUint64:
		return UintValue(binary.LittleEndian.Uint64(b))
	case TypePointer:
		if len(b) == 4 {
			return UintValue(uint64(binary.LittleEndian.Uint32(b)))
		}
		return UintValue(binary.LittleEndian.Uint64(b))
	case TypeFloat32:
		return FloatValue(float64(math.Float32frombits(binary.LittleEndian.Uint32(b))))
	case TypeFloat64:
		return FloatValue(math.Float64frombits(binary.LittleEndian.Uint64(b)))
	case TypeDecimal:
		if len(b) == 8 {
			return FloatValue(math.Float64frombits(binary.LittleEndian.Uint64(b)))
		}
		return Value{kind: ValueBytes, raw: b}
	case TypeBool8, TypeBool32:
		return BoolValue(len(bytes.Trim(b, "\x00")) > 0)
	case TypeUTF8Unit:
		return Value{kind: ValueString, enc: encLatin1, raw: b}
	case TypeUTF16Unit:
		return Value{kind: ValueString, enc: encUTF16, raw: b}
	case TypeDateTime:
		return Value{kind: ValueTime, num: binary.LittleEndian.Uint64(b)}
	case TypeGUID:
		return Value{kind: ValueGUID, raw: b}
	}
	return d.loc(t, binary.LittleEndian.Uint32(b))
}

// object decodes the members to find the end of the object.
func (d *decoder) object(t *FieldType) Value {
	start, charged := d.off, d.charged
	d.each(t.Fields, func(_ *Field, v Value) bool { return d.err == nil })
	if d.off == start && d.err == nil && !d.charge(1) {
		return d.fail(d.errCharge())
	}
	if d.err != nil {
		return errorValue(d.err)
	}
	return d.inside(ValueObject, t, start, d.off, charged)
}

// utf16String decodes a string that ends with a zero unit.
func (d *decoder) utf16String() Value {
	text, rest, ok := bin.CutUTF16(d.b[d.off:])
	if !ok {
		return d.fail(errPayloadShort)
	}
	d.off = len(d.b) - len(rest)
	return Value{kind: ValueString, enc: encUTF16, raw: text}
}

// ansiString decodes a string that ends with a zero byte.
func (d *decoder) ansiString() Value {
	rest := d.b[d.off:]
	n := bytes.IndexByte(rest, 0)
	if n < 0 {
		return d.fail(errPayloadShort)
	}
	d.off += n + 1
	return Value{kind: ValueString, enc: encLatin1, raw: rest[:n:n]}
}

func (d *decoder) varint(code TypeCode) Value {
	n, used := binary.Uvarint(d.b[d.off:])
	if used <= 0 {
		return d.fail(errVarint)
	}
	d.off += used
	if code == TypeVarUint {
		return UintValue(n)
	}
	return IntValue(int64(n>>1) ^ -int64(n&1))
}

// array decodes n adjacent elements: code units to a string, unsigned bytes to bytes, and all others to a list.
func (d *decoder) array(elem *FieldType, n int) Value {
	if elem == nil {
		return d.fail(errTypeCode)
	}
	start, charged := d.off, d.charged
	if size := elem.Code.fixedSize(d.mode); size > 0 {
		if n < 0 || n > (len(d.b)-d.off)/size {
			return d.fail(errPayloadShort)
		}
		d.off += n * size
		if elem.Code.isLocation() {
			d.chargeElems(elem, start, d.off)
		}
	} else {
		for range n {
			before := d.off
			if d.value(elem, nil, 0); d.err != nil {
				return errorValue(d.err)
			}
			if d.off == before {
				return d.fail(errElementSize)
			}
		}
	}
	return d.run(elem, start, d.off, charged)
}

// run returns a value for the encoded elements from start to end. charged is the total before the first one.
func (d *decoder) run(elem *FieldType, start, end int, charged uint32) Value {
	raw := d.payload[start:end:end]
	switch elem.Code {
	case TypeUTF16Unit:
		return Value{kind: ValueString, enc: encUTF16, raw: raw}
	case TypeUTF8Unit:
		return Value{kind: ValueString, enc: encUTF8, raw: raw}
	case TypeUint8:
		return Value{kind: ValueBytes, raw: raw}
	}
	return d.inside(ValueList, elem, start, end, charged)
}

// countOf decodes the field with that index in the object that starts at start.
func (d *decoder) countOf(fields []Field, index, start int) (int, bool) {
	if index >= len(fields) {
		return 0, false
	}
	e := decoder{b: d.b[:d.off], off: start, payload: d.payload, mode: d.mode}
	for i := range index {
		e.value(&fields[i].Type, fields[:i], start)
	}
	v := e.value(&fields[index].Type, fields[:index], start)
	if e.err != nil || v.kind != ValueUint && v.kind != ValueInt || v.num > math.MaxInt32 {
		return 0, false
	}
	return int(v.num), true
}
