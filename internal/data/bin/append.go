package bin

import (
	"encoding/binary"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// AppendU16 appends v in two bytes.
func AppendU16(dst []byte, v uint16) []byte { return binary.LittleEndian.AppendUint16(dst, v) }

// AppendU32 appends v in four bytes.
func AppendU32(dst []byte, v uint32) []byte { return binary.LittleEndian.AppendUint32(dst, v) }

// AppendU64 appends v in eight bytes.
func AppendU64(dst []byte, v uint64) []byte { return binary.LittleEndian.AppendUint64(dst, v) }

// AppendVaruint appends v as LEB128 in as few bytes as possible, for both varuint32 and varuint64.
func AppendVaruint(dst []byte, v uint64) []byte {
	for v >= 0x80 {
		dst = append(dst, byte(v)|0x80)
		v >>= 7
	}
	return append(dst, byte(v))
}

// AppendVarint appends v zigzag-encoded.
func AppendVarint(dst []byte, v int64) []byte { return AppendVaruint(dst, uint64(v)<<1^uint64(v>>63)) }

// AppendString appends s after its length in bytes as a varuint. It copies the bytes of s unchanged.
func AppendString(dst []byte, s string) []byte {
	return append(AppendVaruint(dst, uint64(len(s))), s...)
}

// AppendUTF16Z appends s as NUL-terminated UTF-16LE. The encoding cannot represent a NUL, so s ends before its first
// NUL. Bytes that are not UTF-8 become U+FFFD.
func AppendUTF16Z(dst []byte, s string) []byte {
	s, _, _ = strings.Cut(s, "\x00")
	return append(AppendUTF16(dst, s), 0, 0)
}

// AppendUTF16 appends s as UTF-16LE. Bytes that are not UTF-8 become U+FFFD.
func AppendUTF16[T string | []byte](dst []byte, s T) []byte {
	i := 0
	for ; i < len(s) && s[i] < utf8.RuneSelf; i++ {
		dst = append(dst, s[i], 0)
	}
	for _, r := range string(s[i:]) {
		if r1, r2 := utf16.EncodeRune(r); r1 != 0xfffd {
			dst = AppendU16(AppendU16(dst, uint16(r1)), uint16(r2))
			continue
		}
		dst = AppendU16(dst, uint16(r))
	}
	return dst
}
