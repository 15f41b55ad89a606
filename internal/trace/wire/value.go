package wire

import "github.com/ntconv/ntconv/internal/data/bin"

// A Value is the value after a kind byte. The [Shape] of the kind determines the members in use; the others are zero.
type Value struct {
	Key, Str string
	Num      int64 // unsigned numbers are stored as their 64 bits; see [Value.Uint]
	ID       [16]byte
}

// Uint returns Num as an unsigned number, for the shapes U8, U64 and Varuint.
func (v *Value) Uint() uint64 { return uint64(v.Num) }

// ParseValue reads a value of the given shape. If unsigned is set, it reads the number of ShapeKeyNumber as plain
// LEB128 instead of zigzag, because one-collect writes its labels this way.
func ParseValue(c *bin.Cursor, shape Shape, unsigned bool) (v Value) {
	switch shape {
	case ShapeU8:
		v.Num = int64(c.U8())
	case ShapeU64:
		v.Num = c.I64()
	case ShapeVaruint:
		v.Num = int64(c.Varuint64())
	case ShapeID8:
		copy(v.ID[:8], c.Bytes(8))
	case ShapeID16:
		v.ID = c.GUID()
	case ShapeString:
		v.Str = c.String()
	case ShapeKeyString:
		v.Key = c.String()
		v.Str = c.String()
	case ShapeKeyNumber:
		v.Key = c.String()
		if unsigned {
			v.Num = int64(c.Varuint64())
		} else {
			v.Num = c.Varint64()
		}
	}
	return v
}

// skipValue skips a value without decoding its strings.
func skipValue(c *bin.Cursor, shape Shape) {
	switch shape {
	case ShapeString:
		c.StringBytes()
	case ShapeKeyString:
		c.StringBytes()
		c.StringBytes()
	case ShapeKeyNumber:
		c.StringBytes()
		c.Varuint64()
	default:
		ParseValue(c, shape, false)
	}
}

// AppendValue is the inverse of [ParseValue].
func AppendValue(dst []byte, shape Shape, v *Value, unsigned bool) []byte {
	switch shape {
	case ShapeU8:
		return append(dst, byte(v.Num))
	case ShapeU64:
		return bin.AppendU64(dst, v.Uint())
	case ShapeVaruint:
		return bin.AppendVaruint(dst, v.Uint())
	case ShapeID8:
		return append(dst, v.ID[:8]...)
	case ShapeID16:
		return append(dst, v.ID[:]...)
	case ShapeString:
		return bin.AppendString(dst, v.Str)
	case ShapeKeyString:
		return bin.AppendString(bin.AppendString(dst, v.Key), v.Str)
	case ShapeKeyNumber:
		dst = bin.AppendString(dst, v.Key)
		if unsigned {
			return bin.AppendVaruint(dst, v.Uint())
		}
		return bin.AppendVarint(dst, v.Num)
	}
	return dst
}
