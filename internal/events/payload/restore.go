package payload

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/data/bin"
	"github.com/ntconv/ntconv/internal/events/layout"
)

// value reads a value and writes it. A value resets end, because the payload cannot end before it.
func (d *Decoder) value(n *node) error {
	if d.json.Peek() == 'n' && d.json.Literal("null") {
		return d.null(n)
	}
	if n.Op == layout.Object { // its members determine end
		return d.object(n.Members)
	}
	end := d.end
	d.end = -1
	switch n.Op {
	case layout.Uint, layout.Int, layout.VarInt, layout.VarUint:
		return d.integer(n)
	case layout.Float:
		return d.float(n)
	case layout.Bool:
		return d.bool(n)
	case layout.UTF16, layout.Latin1, layout.Unit8, layout.Unit16:
		return d.string(n)
	case layout.Time, layout.GUID:
		return d.quoted(n)
	case layout.Rest, layout.Decimal:
		size := len(d.b)
		err := d.bytes()
		if n.Op == layout.Rest && len(d.b) == size {
			d.end = end // an empty rest is equivalent to a missing value
		}
		if n.Op == layout.Decimal && err == nil && len(d.b)-size != int(n.Size) {
			err = d.fail(errRange)
		}
		return err
	case layout.Array, layout.Fixed, layout.Counted:
		return d.array(n)
	case layout.Location:
		d.json.Peek()
		d.locs = append(d.locs, pending{len(d.b), d.json.Pos, n})
		d.zeros(4)
		return d.skip()
	}
	return d.fail(errType)
}

// null writes zeros for a field without a value. It sets end unless the payload already ends earlier or the field is
// inside a list.
func (d *Decoder) null(n *node) error {
	if d.end < 0 && d.lists == 0 && n.Op != layout.Object && n.Op != layout.Pad {
		d.end = len(d.b)
	}
	size := int(n.Size)
	switch n.Op {
	case layout.Invalid:
		return d.fail(errType)
	case layout.UTF16, layout.Array:
		size = 2
	case layout.Latin1, layout.VarInt, layout.VarUint:
		size = 1
	case layout.Location:
		d.locs = append(d.locs, pending{len(d.b), -1, n})
		size = 4
	case layout.Object:
		for i := range n.Members {
			if err := d.null(&n.Members[i]); err != nil {
				return err
			}
		}
	case layout.Fixed:
		if n.Elem == nil {
			return d.fail(errType)
		}
		d.lists++
		for range n.Count {
			if err := d.null(n.Elem); err != nil {
				return err
			}
		}
		d.lists--
	}
	if err := d.spend(size + 1); err != nil {
		return err
	}
	d.zeros(size)
	return nil
}

// integer reads and writes an integer.
func (d *Decoder) integer(n *node) error {
	text := d.json.Number()
	bits := int(n.Size) * 8
	if bits == 0 {
		bits = 64
	}
	var u uint64
	var err error
	if n.Op == layout.Int || n.Op == layout.VarInt {
		var i int64
		i, err = strconv.ParseInt(string(text), 10, bits)
		u = uint64(i)
	} else {
		u, err = strconv.ParseUint(string(text), 10, bits)
	}
	if err != nil || text[0] == '+' {
		return d.fail(errRangeOrType(text))
	}
	switch n.Op {
	case layout.VarInt:
		d.b = binary.AppendVarint(d.b, int64(u))
	case layout.VarUint:
		d.b = binary.AppendUvarint(d.b, u)
	default:
		d.fixed(u, bits/8)
	}
	return nil
}

// fixed writes the low size bytes of a number, at most 8.
func (d *Decoder) fixed(u uint64, size int) {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], u)
	d.b = append(d.b, b[:size]...)
}

// errRangeOrType returns the error for text that is not a number of the required type.
func errRangeOrType(text []byte) error {
	if len(text) == 0 {
		return errType
	}
	return fmt.Errorf("%w: %.100s", errRange, text)
}

func (d *Decoder) float(n *node) error {
	var f float64
	switch text := d.json.Number(); {
	case len(text) > 0:
		var err error
		if f, err = strconv.ParseFloat(string(text), int(n.Size)*8); err != nil {
			return d.fail(errRangeOrType(text))
		}
	case d.json.Literal(`"Infinity"`):
		f = math.Inf(1)
	case d.json.Literal(`"-Infinity"`):
		f = math.Inf(-1)
	case d.json.Literal(`"NaN"`):
		if n.Size == 4 {
			d.fixed(nan32, 4)
		} else {
			d.fixed(nan64, 8)
		}
		return nil
	default:
		return d.fail(errType)
	}
	if n.Size == 4 {
		d.fixed(uint64(math.Float32bits(float32(f))), 4)
	} else {
		d.fixed(math.Float64bits(f), 8)
	}
	return nil
}

func (d *Decoder) bool(n *node) error {
	u := uint64(0)
	switch {
	case d.json.Literal("true"):
		u = 1
	case d.json.Literal("false"):
	default:
		return d.fail(errType)
	}
	d.fixed(u, int(n.Size))
	return nil
}

// string reads a string and writes it, NUL-terminated or as a single character.
func (d *Decoder) string(n *node) error {
	text, err := d.readText()
	if err != nil {
		return err
	}
	size := len(d.b)
	switch n.Op {
	case layout.UTF16, layout.Unit16:
		d.b = bin.AppendUTF16(d.b, text)
	default:
		for len(text) > 0 {
			r, used := utf8.DecodeRune(text)
			if r > 0xff {
				return d.fail(fmt.Errorf("%w: %q has no 8-bit character", errRange, r))
			}
			d.b, text = append(d.b, byte(r)), text[used:]
		}
	}
	switch n.Op {
	case layout.Unit8, layout.Unit16:
		if len(d.b)-size != int(n.Size) {
			return d.fail(fmt.Errorf("%w: want one character", errRange))
		}
		return nil
	case layout.Latin1:
		if zeroIn(d.b[size:], 1) {
			return d.fail(errZero)
		}
		d.b = append(d.b, 0)
		return nil
	}
	if zeroIn(d.b[size:], 2) {
		return d.fail(errZero)
	}
	d.b = append(d.b, 0, 0)
	return nil
}

var errZero = fmt.Errorf("%w: NUL in a NUL-terminated string", errRange)

// zeroIn reports whether a code unit with the given size in bytes is zero.
func zeroIn(b []byte, size int) bool {
	for i := 0; i+size <= len(b); i += size {
		if b[i] == 0 && b[i+size-1] == 0 {
			return true
		}
	}
	return false
}

// quoted reads and writes a time or a GUID.
func (d *Decoder) quoted(n *node) error {
	text, err := d.readText()
	if err != nil {
		return err
	}
	if n.Op == layout.GUID {
		g, err := ntconv.ParseGUID(string(text))
		if err != nil {
			return d.fail(err)
		}
		d.b = append(d.b, g[:]...)
		return nil
	}
	t, err := time.Parse(time.RFC3339Nano, string(text))
	ticks := (t.Unix()+epochSeconds)*1e7 + int64(t.Nanosecond()/100)
	if err != nil || ticks < 0 {
		return d.fail(fmt.Errorf("%w: %.100q is not a time from 1601 to 9999", errRange, text))
	}
	d.fixed(uint64(ticks), 8)
	return nil
}

// bytes reads a string of hexadecimal digits and writes its bytes.
func (d *Decoder) bytes() error {
	text, err := d.readText()
	if err != nil {
		return err
	}
	if len(text) < 4 || string(text[:4]) != "hex:" {
		return d.fail(fmt.Errorf(`%w: want a string "hex:" and digits`, errType))
	}
	b, err := hex.AppendDecode(d.b, text[4:])
	if err != nil {
		return d.fail(err)
	}
	d.b = b
	return nil
}

// array reads and writes the elements of an array, preceded by their number for layout.Array.
func (d *Decoder) array(n *node) error {
	at := len(d.b)
	if n.Op == layout.Array {
		d.b = append(d.b, 0, 0)
	}
	count, err := d.elems(n.Elem)
	switch {
	case err != nil:
		return err
	case n.Op == layout.Fixed && count != n.Count:
		return d.fail(fmt.Errorf("%w: %d elements, want %d", errRange, count, n.Count))
	case n.Op == layout.Array && count > math.MaxUint16:
		return d.fail(fmt.Errorf("%w: %d elements in an array with a 16-bit count", errRange, count))
	case n.Op == layout.Array:
		binary.LittleEndian.PutUint16(d.b[at:], uint16(count))
	}
	return nil
}

// elems reads a string, bytes or a list, writes its elements and returns their number.
func (d *Decoder) elems(elem *node) (count int, err error) {
	if elem == nil {
		return 0, d.fail(errType)
	}
	if d.json.Peek() == '"' {
		return d.units(elem)
	}
	if !d.json.Accept('[') {
		return 0, d.fail(errType)
	}
	d.lists++
	for !d.json.Accept(']') {
		if count > 0 && !d.json.Accept(',') {
			return count, d.fail(errSyntax)
		}
		if err := d.value(elem); err != nil {
			if err != errOrder {
				err = fmt.Errorf("element %d: %w", count, err)
			}
			return count, err
		}
		count++
	}
	d.lists--
	return count, nil
}

// units reads a string and writes it as the code units or bytes of an array.
func (d *Decoder) units(elem *node) (count int, err error) {
	begin := len(d.b)
	switch {
	case elem.Op == layout.Uint && elem.Size == 1:
		err = d.bytes()
	case elem.Op == layout.Unit8 || elem.Op == layout.Unit16:
		var text []byte
		if text, err = d.readText(); err == nil && elem.Op == layout.Unit8 {
			d.b = append(d.b, text...)
		} else if err == nil {
			d.b = bin.AppendUTF16(d.b, text)
		}
	default:
		err = d.fail(errType)
	}
	return (len(d.b) - begin) / max(int(elem.Size), 1), err
}
