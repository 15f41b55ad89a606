package parquet

import (
	"encoding/binary"
	"math"
	"strings"
	"time"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/data/bin"
)

// A valueKind is the type of a payload field that is built from column or JSON values.
type valueKind uint8

const (
	kindBool valueKind = iota
	kindInt
	kindUint
	kindFloat
	kindString
	kindBytes
	kindTime
)

// fieldType returns the field type for values of a kind. All readers of nettrace support these types; they do not all
// support TypeBool8.
func (k valueKind) fieldType() ntconv.FieldType {
	switch k {
	case kindBool:
		return ntconv.FieldType{Code: ntconv.TypeBool32}
	case kindInt:
		return ntconv.FieldType{Code: ntconv.TypeInt64}
	case kindUint:
		return ntconv.FieldType{Code: ntconv.TypeUint64}
	case kindFloat:
		return ntconv.FieldType{Code: ntconv.TypeFloat64}
	case kindBytes:
		return ntconv.FieldType{Code: ntconv.TypeArray, Elem: &ntconv.FieldType{Code: ntconv.TypeUint8}}
	case kindTime:
		return ntconv.FieldType{Code: ntconv.TypeDateTime}
	}
	return ntconv.FieldType{Code: ntconv.TypeUTF16String}
}

func appendBool(dst []byte, v bool) []byte {
	n := uint32(0)
	if v {
		n = 1
	}
	return bin.AppendU32(dst, n)
}

func appendFloat(dst []byte, v float64) []byte { return bin.AppendU64(dst, math.Float64bits(v)) }

// appendText appends a string. The encoding cannot represent U+0000, which becomes U+FFFD.
func appendText(dst []byte, text string, report *ntconv.Report) []byte {
	if strings.IndexByte(text, 0) >= 0 {
		text = strings.ReplaceAll(text, "\x00", "\uFFFD")
		report.Note(ntconv.CodeRepaired, 1, -1, "strings that contain U+0000; it became U+FFFD")
	}
	return bin.AppendUTF16Z(dst, text)
}

// maxBytes is the maximum size of a byte array in a payload.
const maxBytes = math.MaxUint16

// appendBytes appends a byte array, truncated to maxBytes.
func appendBytes(dst, v []byte, report *ntconv.Report) []byte {
	if len(v) > maxBytes {
		v = v[:maxBytes]
		report.Note(ntconv.CodeNotCarried, 1, -1, "bytes after the 65,535th of a value")
	}
	return append(binary.LittleEndian.AppendUint16(dst, uint16(len(v))), v...)
}

// appendTime appends a time in nanoseconds since 1970-01-01, rounded down to 100 ns.
func appendTime(dst []byte, nanos int64) []byte {
	return bin.AppendU64(dst, ntconv.TimeValue(time.Unix(0, nanos)).FileTime())
}
