package distribution

import (
	"cmp"
	"math"
	"math/big"
	"strconv"

	"github.com/ntconv/ntconv"
)

type numberKind uint8

const (
	natural  numberKind = iota // bits are a uint64
	negative                   // bits are an int64 below zero
	float                      // bits are a float64 that is not NaN
)

// A Number is an integer of up to 64 bits or a float64 that is not NaN, without loss. The zero Number is 0. Numbers that
// are equal as integer and as float64 differ with ==; use Compare.
type Number struct {
	bits uint64
	kind numberKind
}

// Of returns a value as a Number; true is 1 and false is 0. It returns false for NaN and for values of other kinds.
func Of(v ntconv.Value) (Number, bool) {
	switch v.Kind() {
	case ntconv.ValueUint:
		return Number{v.Uint(), natural}, true
	case ntconv.ValueInt:
		if v.Int() < 0 {
			return Number{v.Uint(), negative}, true
		}
		return Number{v.Uint(), natural}, true
	case ntconv.ValueBool:
		if v.Bool() {
			return Number{1, natural}, true
		}
		return Number{0, natural}, true
	case ntconv.ValueFloat:
		f := v.Float()
		return Float(f), f == f
	}
	return Number{}, false
}

// Uint returns a Number for n.
func Uint(n uint64) Number { return Number{n, natural} }

// Float returns a Number for f, which must not be NaN.
func Float(f float64) Number { return Number{math.Float64bits(f), float} }

// IsFloat reports whether the number is a float64, regardless of its value.
func (n Number) IsFloat() bool { return n.kind == float }

// Float returns the nearest float64.
func (n Number) Float() float64 {
	switch n.kind {
	case natural:
		return float64(n.bits)
	case negative:
		return float64(int64(n.bits))
	}
	return math.Float64frombits(n.bits)
}

// Compare returns -1, 0 or 1. It compares exactly, also integers with floating-point numbers.
func Compare(a, b Number) int {
	switch {
	case a.kind == natural && b.kind == natural:
		return cmp.Compare(a.bits, b.bits)
	case a.kind == negative && b.kind == negative:
		return cmp.Compare(int64(a.bits), int64(b.bits))
	}
	// Rounding an integer to float64 is monotonic, so it can turn a difference into equality, but never reverse it.
	if c := cmp.Compare(a.Float(), b.Float()); c != 0 || a.kind == b.kind {
		return c
	}
	if a.kind == float {
		return -compareInteger(b, a.Float())
	}
	return compareInteger(a, b.Float())
}

// compareInteger compares an integer with a float64 to which it rounds, which is an integer, too.
func compareInteger(n Number, f float64) int {
	switch {
	case n.kind == natural && f >= 1<<64:
		return -1
	case n.kind == natural:
		return cmp.Compare(n.bits, uint64(f))
	}
	return cmp.Compare(int64(n.bits), int64(f))
}

// addTo adds the number, which must be finite, to a sum.
func (n Number) addTo(sum *big.Float) {
	term := new(big.Float)
	switch n.kind {
	case natural:
		term.SetUint64(n.bits)
	case negative:
		term.SetInt64(int64(n.bits))
	default:
		term.SetFloat64(n.Float())
	}
	sum.Add(sum, term)
}

// String returns the number as JSON, without loss, as FormatFloat does.
func (n Number) String() string {
	switch n.kind {
	case natural:
		return strconv.FormatUint(n.bits, 10)
	case negative:
		return strconv.FormatInt(int64(n.bits), 10)
	}
	return FormatFloat(n.Float())
}

// FormatFloat returns the shortest text that represents f in JSON. Infinities and NaN are strings: "Infinity",
// "-Infinity" and "NaN" with their quotes.
func FormatFloat(f float64) string {
	switch {
	case math.IsInf(f, 1):
		return `"Infinity"`
	case math.IsInf(f, -1):
		return `"-Infinity"`
	case f != f:
		return `"NaN"`
	}
	return strconv.FormatFloat(f, 'g', -1, 64)
}
