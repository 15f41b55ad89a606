package parquetreader

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/ntconv/ntconv"
)

// Types of fields in the compact protocol of Thrift (thrift-compact-protocol.md, "Struct encoding"). The type of a
// boolean field contains its value.
const (
	thriftTrue   = 1
	thriftFalse  = 2
	thriftByte   = 3
	thriftI64    = 6
	thriftDouble = 7
	thriftBinary = 8
	thriftList   = 9
	thriftSet    = 10
	thriftMap    = 11
	thriftStruct = 12
)

// maxThriftDepth bounds the recursion over skipped fields. The deepest structure of parquet.thrift has 8 levels.
const maxThriftDepth = 24

// errThriftEnds means that the input ends inside the structure. A caller with a window of the input can read more.
var errThriftEnds = errors.New("structure ends too early")

// A thrift decodes structures in the compact protocol from memory. It does not allocate by a length or count before it
// has seen enough bytes for it. After an error all methods return zero values, so callers check err once per structure.
type thrift struct {
	b   []byte
	at  int
	err error
}

// A thriftField is the header of a field. The next header is relative to its ID.
type thriftField struct {
	id  int16
	typ byte
}

func (t *thrift) fail(format string, args ...any) {
	if t.err == nil {
		t.err = fmt.Errorf("%w: "+format, append([]any{ntconv.ErrCorrupt}, args...)...)
	}
}

func (t *thrift) ends() {
	if t.err == nil {
		t.err = errThriftEnds
	}
}

func (t *thrift) byte() byte {
	if t.err != nil {
		return 0
	}
	if t.at == len(t.b) {
		t.ends()
		return 0
	}
	t.at++
	return t.b[t.at-1]
}

func (t *thrift) uvarint() uint64 {
	if t.err != nil {
		return 0
	}
	v, n := binary.Uvarint(t.b[t.at:])
	switch {
	case n > 0:
		t.at += n
	case n == 0:
		t.ends()
	default:
		t.fail("varint of more than 64 bits")
	}
	return v
}

func (t *thrift) varint() int64 {
	v := t.uvarint()
	return int64(v>>1) ^ -int64(v&1)
}

// next reads the header of the next field into f, which must be zero before the first one. It returns false at the end
// of the structure and after an error.
func (t *thrift) next(f *thriftField) bool {
	b := t.byte()
	if t.err != nil || b == 0 {
		return false
	}
	if f.typ = b & 15; b>>4 != 0 {
		f.id += int16(b >> 4)
	} else {
		f.id = int16(t.varint())
	}
	return t.err == nil
}

// isType checks the type of a field against parquet.thrift. It sets err and returns false if ok is false.
func (t *thrift) isType(f thriftField, ok bool, want string) bool {
	if t.err == nil && !ok {
		t.fail("field %d has type %d, want %s", f.id, f.typ, want)
	}
	return t.err == nil
}

// int reads a field of any integer type.
func (t *thrift) int(f thriftField) int64 {
	if !t.isType(f, f.typ >= thriftByte && f.typ <= thriftI64, "an integer") {
		return 0
	}
	if f.typ == thriftByte {
		return int64(int8(t.byte()))
	}
	return t.varint()
}

func (t *thrift) bool(f thriftField) bool {
	t.isType(f, f.typ == thriftTrue || f.typ == thriftFalse, "a boolean")
	return f.typ == thriftTrue
}

// binary reads a string field. The result is a part of the input.
func (t *thrift) binary(f thriftField) []byte {
	if !t.isType(f, f.typ == thriftBinary, "a string") {
		return nil
	}
	n := t.uvarint()
	if n > uint64(len(t.b)-t.at) {
		t.ends()
	}
	if t.err != nil {
		return nil
	}
	t.at += int(n)
	return t.b[t.at-int(n) : t.at]
}

// structs reads the header of a list of structures and returns their number, which is at most one per size bytes of
// input.
func (t *thrift) structs(f thriftField, size int) int {
	if !t.isType(f, f.typ == thriftList, "a list") {
		return 0
	}
	n, elem := t.list()
	if n > 0 && elem != thriftStruct {
		t.fail("field %d has elements of type %d, want structures", f.id, elem)
	}
	if n > (len(t.b)-t.at)/size {
		t.ends()
	}
	if t.err != nil {
		return 0
	}
	return n
}

// isStruct checks that a field is a structure. Its fields follow.
func (t *thrift) isStruct(f thriftField) bool {
	return t.isType(f, f.typ == thriftStruct, "a structure")
}

// list reads the header of a list or set. n is at most the number of remaining bytes.
func (t *thrift) list() (n int, elem byte) {
	b := t.byte()
	count := uint64(b >> 4)
	if count == 15 {
		count = t.uvarint()
	}
	if count > uint64(len(t.b)-t.at) {
		t.ends()
	}
	if t.err != nil {
		return 0, 0
	}
	return int(count), b & 15
}

// skip skips a field value of the given type.
func (t *thrift) skip(typ byte, depth int) {
	if depth == maxThriftDepth {
		t.fail("more than %d levels of structures", maxThriftDepth)
	}
	if t.err != nil {
		return
	}
	switch typ {
	case thriftTrue, thriftFalse:
	case thriftByte:
		t.byte()
	case 4, 5, thriftI64:
		t.uvarint()
	case thriftDouble:
		t.advance(8)
	case thriftBinary:
		t.advance(t.uvarint())
	case thriftList, thriftSet:
		n, elem := t.list()
		for ; n > 0 && t.err == nil; n-- {
			t.skipElement(elem, depth)
		}
	case thriftMap:
		t.skipMap(depth)
	case thriftStruct:
		for f := (thriftField{}); t.next(&f); {
			t.skip(f.typ, depth+1)
		}
	default:
		t.fail("type %d of a field", typ)
	}
}

// skipElement skips an element of a list or map, where a boolean takes a byte.
func (t *thrift) skipElement(typ byte, depth int) {
	if typ == thriftTrue || typ == thriftFalse {
		typ = thriftByte
	}
	t.skip(typ, depth+1)
}

func (t *thrift) skipMap(depth int) {
	n := t.uvarint()
	if n == 0 || t.err != nil {
		return
	}
	types := t.byte()
	for ; n > 0 && t.err == nil; n-- {
		t.skipElement(types>>4, depth)
		t.skipElement(types&15, depth)
	}
}

func (t *thrift) advance(n uint64) {
	if t.err == nil && n > uint64(len(t.b)-t.at) {
		t.ends()
	}
	if t.err == nil {
		t.at += int(n)
	}
}
