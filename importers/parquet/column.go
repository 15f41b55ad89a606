package parquet

import (
	"encoding/binary"
	"encoding/hex"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/data/bin"
	"github.com/ntconv/ntconv/internal/data/jsonio"
	"github.com/ntconv/ntconv/internal/tables/parquetreader"
)

// A fileColumn is a column of a foreign table, with the field that its values become.
type fileColumn struct {
	parquetreader.Column
	name string // of the field: the path without groups that only form lists
	kind valueKind
	// For the column with the keys of a map, values is the index of the column with its values, which is hidden. For
	// all other columns it is -1.
	values int
	hidden bool
}

// fileColumns returns the columns of a file.
func fileColumns(f *parquetreader.File) []fileColumn {
	list := f.Columns()
	columns := make([]fileColumn, len(list))
	for i := range list {
		c := &columns[i]
		*c = fileColumn{Column: list[i], name: fieldName(&list[i]), kind: kindOf(&list[i]), values: -1}
		if c.repeated() {
			c.kind = kindString
		}
	}
	for i := range len(columns) - 1 {
		key, value := &columns[i], &columns[i+1]
		n := len(key.Path) - 1
		if key.MaxRepetition == 1 && n > 0 && key.Path[n] == "key" && len(value.Path) == n+1 && value.Path[n] == "value" &&
			value.MaxRepetition == 1 &&
			slices.Equal(key.Path[:n], value.Path[:n]) {
			key.values, value.hidden = i+1, true
			key.name = strings.Join(key.Path[:n-1], ".")
		}
	}
	return columns
}

// fieldName returns the path of a column without the groups that only form a list.
func fieldName(c *parquetreader.Column) string {
	var names []string
	for i := 0; i < len(c.Path); i++ {
		if i > 0 && i+1 < len(c.Path) && c.MaxRepetition > 0 {
			switch c.Path[i] + "." + c.Path[i+1] {
			case "list.element", "list.item", "bag.array_element", "bag.array":
				i++
				continue
			}
		}
		names = append(names, c.Path[i])
	}
	return strings.Join(names, ".")
}

// kindOf returns the field kind for the values of a column.
func kindOf(c *parquetreader.Column) valueKind {
	switch c.Logical {
	case parquetreader.Timestamp, parquetreader.Date:
		return kindTime
	case parquetreader.String, parquetreader.Enum, parquetreader.JSON, parquetreader.UUID, parquetreader.Decimal:
		return kindString
	}
	switch c.Physical {
	case parquetreader.Boolean:
		return kindBool
	case parquetreader.Int32, parquetreader.Int64:
		if c.Unsigned {
			return kindUint
		}
		return kindInt
	case parquetreader.Int96:
		return kindTime
	case parquetreader.Float, parquetreader.Double:
		return kindFloat
	}
	return kindBytes
}

func (c *fileColumn) repeated() bool { return c.MaxRepetition > 0 }
func (c *fileColumn) isTime() bool   { return c.kind == kindTime }
func (c *fileColumn) isNumber() bool {
	return c.kind == kindInt || c.kind == kindUint || c.kind == kindFloat
}

func (c *fileColumn) isDecimal() bool { return c.Logical == parquetreader.Decimal }

// isNumeric reports whether values are numbers, also those that become text as fields because no type of nettrace has all
// their digits.
func (c *fileColumn) isNumeric() bool { return c.isNumber() || c.isDecimal() }

// isText reports whether values are text. Old writers do not annotate text.
func (c *fileColumn) isText() bool {
	if c.Physical != parquetreader.ByteArray {
		return false
	}
	return c.Logical == parquetreader.String || c.Logical == parquetreader.Enum || c.Logical == parquetreader.JSON ||
		c.Logical == parquetreader.NoLogical
}

// int returns the value of an integer column, or a decimal number rounded to an integer, 0 if it exceeds 64 bits.
func (c *fileColumn) int(v parquetreader.Value) int64 {
	if c.isDecimal() {
		n, _ := c.scaled(v, 1)
		return n
	}
	n := v.Int64()
	if c.Unsigned && c.Physical == parquetreader.Int32 {
		n = int64(uint32(n))
	}
	return n
}

const (
	nanosPerDay = 24 * int64(time.Hour)
	julianEpoch = 2440588 // Julian day of 1970-01-01
)

// nanos returns a time in nanoseconds since 1970-01-01, and false if it exceeds 64 bits.
func (c *fileColumn) nanos(v parquetreader.Value) (int64, bool) {
	switch {
	case c.Physical == parquetreader.Int96:
		b := v.Bytes()
		if len(b) != 12 {
			return 0, false
		}
		days := int64(binary.LittleEndian.Uint32(b[8:])) - julianEpoch
		start, ok := scale(days, nanosPerDay)
		sum := bin.AddClamped(start, int64(binary.LittleEndian.Uint64(b)))
		return sum, ok && sum != math.MaxInt64 && sum != math.MinInt64
	case c.Logical == parquetreader.Date:
		return scale(v.Int64(), nanosPerDay)
	}
	return scale(v.Int64(), c.Unit)
}

// scale returns n*unit, and false if the product exceeds 64 bits.
func scale(n, unit int64) (int64, bool) {
	p := n * unit
	return p, unit != 0 && p/unit == n
}

// appendField appends a value to a payload. The value must not be NULL.
func (c *fileColumn) appendField(dst []byte, v parquetreader.Value, report *ntconv.Report) []byte {
	switch c.kind {
	case kindBool:
		return appendBool(dst, v.Int64() != 0)
	case kindInt, kindUint:
		return bin.AppendU64(dst, uint64(c.int(v)))
	case kindFloat:
		return appendFloat(dst, v.Float64())
	case kindBytes:
		return appendBytes(dst, v.Bytes(), report)
	case kindTime:
		nanos, ok := c.nanos(v)
		if !ok {
			report.Note(ntconv.CodeNotCarried, 1, -1, "times before 1678 or after 2262 in the column "+c.name)
		}
		return appendTime(dst, nanos)
	}
	return appendText(dst, c.text(v), report)
}

// appendZero appends the zero value of the column's kind to a payload.
func (c *fileColumn) appendZero(dst []byte) []byte {
	switch c.kind {
	case kindBool:
		return bin.AppendU32(dst, 0)
	case kindBytes, kindString:
		return bin.AppendU16(dst, 0)
	}
	return bin.AppendU64(dst, 0)
}

// weight returns a number rounded to an integer. NaN and numbers out of range yield 0.
func (c *fileColumn) weight(v parquetreader.Value) int64 {
	if c.kind != kindFloat {
		return c.int(v)
	}
	f := math.Round(v.Float64())
	if !(math.Abs(f) < math.MaxInt64) { // also true for NaN
		return 0
	}
	return int64(f)
}

// text returns a value as text. The value must not be NULL.
func (c *fileColumn) text(v parquetreader.Value) string {
	switch {
	case c.isDecimal():
		return c.decimal(v)
	case c.Logical == parquetreader.UUID && len(v.Bytes()) == 16:
		b := hex.EncodeToString(v.Bytes())
		return b[:8] + "-" + b[8:12] + "-" + b[12:16] + "-" + b[16:20] + "-" + b[20:]
	}
	switch kindOf(&c.Column) {
	case kindBool:
		return strconv.FormatBool(v.Int64() != 0)
	case kindInt:
		return strconv.FormatInt(c.int(v), 10)
	case kindUint:
		return strconv.FormatUint(uint64(c.int(v)), 10)
	case kindFloat:
		return strconv.FormatFloat(v.Float64(), 'g', -1, 64)
	case kindTime:
		nanos, _ := c.nanos(v)
		return time.Unix(0, nanos).UTC().Format(time.RFC3339Nano)
	case kindBytes:
		if c.isText() {
			break
		}
		return "hex:" + hex.EncodeToString(v.Bytes())
	}
	return string(v.Bytes())
}

// json appends the values of a row of a list as JSON. If other is not nil, it appends a map with the keys values and
// the values mapped, which are values of other.
func (c *fileColumn) json(dst []byte, values, mapped []parquetreader.Value, other *fileColumn) []byte {
	if other != nil {
		dst = append(dst, '{')
		for i := range min(len(values), len(mapped)) {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = jsonio.AppendQuoted(dst, c.text(values[i]))
			dst = append(dst, ':')
			dst = other.jsonValue(dst, mapped[i])
		}
		return append(dst, '}')
	}
	for i, v := range values {
		open := c.MaxRepetition
		if i > 0 {
			open -= v.Repetition()
			for range open {
				dst = append(dst, ']')
			}
			dst = append(dst, ',')
		}
		for range open {
			dst = append(dst, '[')
		}
		dst = c.jsonValue(dst, v)
	}
	for range c.MaxRepetition {
		dst = append(dst, ']')
	}
	return dst
}

func (c *fileColumn) jsonValue(dst []byte, v parquetreader.Value) []byte {
	if v.IsNull() {
		return append(dst, "null"...)
	}
	switch k := kindOf(&c.Column); {
	case k == kindBool, k == kindInt, k == kindUint:
		return append(dst, c.text(v)...)
	case k == kindFloat && !math.IsNaN(v.Float64()) && !math.IsInf(v.Float64(), 0):
		return append(dst, c.text(v)...)
	}
	dst = jsonio.AppendQuoted(dst, c.text(v))
	return dst
}

// unscaled returns a decimal number without its point.
func (c *fileColumn) unscaled(v parquetreader.Value) *big.Int {
	n := big.NewInt(v.Int64())
	if c.Physical == parquetreader.ByteArray ||
		c.Physical == parquetreader.FixedLenByteArray { // big-endian, two's complement
		b := v.Bytes()
		n.SetBytes(b)
		if len(b) > 0 && b[0] >= 0x80 {
			n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(8*len(b))))
		}
	}
	return n
}

// scaled returns a decimal number times unit, rounded to an integer, half away from zero. It returns false if that exceeds
// 64 bits.
func (c *fileColumn) scaled(v parquetreader.Value, unit int64) (int64, bool) {
	if c.Scale < 0 || c.Scale > maxScale {
		return 0, false
	}
	n := c.unscaled(v)
	n.Mul(n, big.NewInt(unit))
	if c.Scale > 0 {
		divisor := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(c.Scale)), nil)
		half := new(big.Int).Rsh(divisor, 1)
		if n.Sign() < 0 {
			half.Neg(half)
		}
		n.Quo(n.Add(n, half), divisor)
	}
	return n.Int64(), n.IsInt64()
}

// decimal returns the digits of a decimal number.
func (c *fileColumn) decimal(v parquetreader.Value) string {
	n := c.unscaled(v)
	if c.Scale <= 0 || c.Scale > maxScale {
		return n.String()
	}
	sign := ""
	if n.Sign() < 0 {
		sign = "-"
		n.Neg(n)
	}
	digits := n.String()
	if missing := c.Scale + 1 - len(digits); missing > 0 {
		digits = strings.Repeat("0", missing) + digits
	}
	at := len(digits) - c.Scale
	return sign + digits[:at] + "." + digits[at:]
}

// maxScale limits the number of zeros that a file can request.
const maxScale = 1000
