package pprof

import (
	"errors"
	"fmt"
	"io"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/ntconv/ntconv"
)

// errWire is the error for an invalid encoding, in contrast to invalid contents.
var errWire = fmt.Errorf("%w: invalid protobuf", ntconv.ErrCorrupt)

// located returns err with a byte offset in the decompressed profile and the name of the element there.
func located(offset int, where string, err error) error {
	return &ntconv.FormatError{Format: "pprof", Offset: int64(offset), Where: where, Err: err}
}

// limit returns an *ntconv.LimitError if n exceeds the limit with the given name.
func limit(at int, where, name string, n, most int) error {
	if n <= most {
		return nil
	}
	return located(at, where, &ntconv.LimitError{Limit: name, Value: int64(most), Asked: int64(n)})
}

// A field is a field of a message. All offsets are byte offsets in the decompressed profile.
type field struct {
	number   protowire.Number
	kind     protowire.Type
	value    uint64 // of a varint
	at       int    // of the tag
	length   int    // offset after the tag: of the length of bytes, or of a number
	from, to int    // of the bytes, or of the encoded number: packed lists and single numbers are read alike
}

// read decodes the field at an offset before the end of data and returns the offset of the next field.
func (f *field) read(data []byte, at int) (next int, err error) {
	f.at = at
	tag, n := data[at], 1
	f.number, f.kind = protowire.Number(tag>>3), protowire.Type(tag&7)
	if tag >= 0x80 || f.number == 0 { // valid tags of this format have one byte
		if f.number, f.kind, n = protowire.ConsumeTag(data[at:]); n < 0 {
			return 0, wireError(at, n)
		}
	}
	at += n
	f.length, f.from = at, at
	switch f.kind {
	case protowire.VarintType:
		f.value, n = number(data[at:])
	case protowire.BytesType:
		var size uint64
		if size, n = number(data[at:]); n >= 0 {
			if size > uint64(len(data)-at-n) {
				return 0, located(f.at, fmt.Sprintf("field %d", f.number), fmt.Errorf("%w: %d bytes of %d", ntconv.ErrTruncated, len(data)-at-n, size))
			}
			f.from = at + n
			n += int(size)
		}
	case protowire.Fixed32Type, protowire.Fixed64Type:
		n = protowire.ConsumeFieldValue(f.number, f.kind, data[at:])
	default:
		return 0, located(f.at, fmt.Sprintf("field %d", f.number), fmt.Errorf("%w: wire type %d", errWire, f.kind))
	}
	if n < 0 {
		return 0, wireError(at, n)
	}
	f.to = at + n
	return f.to, nil
}

// number decodes the varint at the start of b and returns its length, or a negative error code of protowire. Its fast
// path is for varints of one byte, which are most of them.
func number(b []byte) (v uint64, n int) {
	if len(b) > 0 && b[0] < 0x80 {
		return uint64(b[0]), 1
	}
	return protowire.ConsumeVarint(b)
}

// wireError returns the error for a negative code of protowire.
func wireError(at, code int) error {
	err := protowire.ParseError(code)
	if errors.Is(err, io.ErrUnexpectedEOF) { // the data ends
		return located(at, "field", ntconv.ErrTruncated)
	}
	return located(at, "field", fmt.Errorf("%w: %w", errWire, err))
}

// A cursor iterates over the fields of a message. Its methods record the first error, which ends the iteration.
type cursor struct {
	field          // the current field
	m     *message // data contains the message
	what  string   // the kind of message, for errors
	n     int      // index of the message among those of its kind, or negative
	begin int      // offset of the length of the message
	pos   int      // offset of the next field
	end   int      // offset of the end of the message
	err   error
}

// open returns a cursor before the first field of the message whose length is at offset at. The scan has validated the
// length.
func (m *message) open(what string, n int, at uint32) cursor {
	size, k := number(m.data[at:])
	from := int(at) + k
	return cursor{m: m, what: what, n: n, begin: int(at), pos: from, end: from + int(size)}
}

// next advances to the next field. It returns false after the last field and after an error.
func (c *cursor) next() bool {
	if c.err != nil || c.pos >= c.end {
		return false
	}
	c.pos, c.err = c.read(c.m.data[:c.end], c.pos)
	return c.err == nil
}

// where returns the name of the message for errors.
func (c *cursor) where() string {
	if c.n < 0 {
		return c.what
	}
	return fmt.Sprintf("%s %d", c.what, c.n)
}

// fail records an error at an offset, unless there is an earlier one.
func (c *cursor) fail(at int, format string, args ...any) {
	if c.err == nil {
		c.err = located(at, c.where(), fmt.Errorf("%w: "+format, append([]any{ntconv.ErrCorrupt}, args...)...))
	}
}

// uint returns the current field as a number. Like the methods below, it records an error if the wire type does not
// match.
func (c *cursor) uint() uint64 {
	if c.kind != protowire.VarintType {
		c.fail(c.at, "field %d of wire type %d", c.number, c.kind)
	}
	return c.value
}

func (c *cursor) int() int64 { return int64(c.uint()) }

func (c *cursor) bool() bool { return c.uint() != 0 }

// message returns a cursor over the current field, which must be a message.
func (c *cursor) message(what string) cursor {
	if c.kind != protowire.BytesType {
		c.fail(c.at, "%s of wire type %d", what, c.kind)
		return cursor{m: c.m, err: c.err}
	}
	return cursor{m: c.m, what: what, n: -1, begin: c.length, pos: c.from, end: c.to}
}

// list returns the encoded numbers of the current field, which must be a list of numbers, packed or not.
func (c *cursor) list() []byte {
	if c.kind != protowire.VarintType && c.kind != protowire.BytesType {
		c.fail(c.at, "numbers of wire type %d", c.kind)
		return nil
	}
	return c.m.data[c.from:c.to]
}

// malformed records that the current field is not a list of numbers, given a negative code of protowire.
func (c *cursor) malformed(code int) {
	if c.err == nil {
		c.err = located(c.at, c.where(), fmt.Errorf("%w: list of numbers: %w", errWire, protowire.ParseError(code)))
	}
}

// text returns an entry of the string table that the message refers to.
func (c *cursor) text(i int64) string {
	s, ok := c.m.strings.at(i)
	if !ok {
		c.fail(c.begin, "string %d of %d", i, c.m.strings.count())
	}
	return s
}
