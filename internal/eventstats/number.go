package eventstats

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

// A number is a value of a numeric field, without loss.
type number struct {
	bits uint64
	kind numberKind
}

// numberOf returns a value as a number; true is 1 and false is 0. It returns false for NaN and for values of other
// kinds.
func numberOf(v ntconv.Value) (number, bool) {
	switch v.Kind() {
	case ntconv.ValueUint:
		return number{v.Uint(), natural}, true
	case ntconv.ValueInt:
		if v.Int() < 0 {
			return number{v.Uint(), negative}, true
		}
		return number{v.Uint(), natural}, true
	case ntconv.ValueBool:
		if v.Bool() {
			return number{1, natural}, true
		}
		return number{0, natural}, true
	case ntconv.ValueFloat:
		f := v.Float()
		return floatNumber(f), f == f
	}
	return number{}, false
}

func floatNumber(f float64) number { return number{math.Float64bits(f), float} }

// float returns the nearest float64.
func (n number) float() float64 {
	switch n.kind {
	case natural:
		return float64(n.bits)
	case negative:
		return float64(int64(n.bits))
	}
	return math.Float64frombits(n.bits)
}

// compare compares exactly, also integers with floating-point numbers.
func compare(a, b number) int {
	switch {
	case a.kind == natural && b.kind == natural:
		return cmp.Compare(a.bits, b.bits)
	case a.kind == negative && b.kind == negative:
		return cmp.Compare(int64(a.bits), int64(b.bits))
	}
	// Rounding an integer to float64 is monotonic, so it can turn a difference into equality, but never reverse it.
	if c := cmp.Compare(a.float(), b.float()); c != 0 || a.kind == b.kind {
		return c
	}
	if a.kind == float {
		return -compareInteger(b, a.float())
	}
	return compareInteger(a, b.float())
}

// compareInteger compares an integer with a float64 to which it rounds, which is an integer, too.
func compareInteger(n number, f float64) int {
	switch {
	case n.kind == natural && f >= 1<<64:
		return -1
	case n.kind == natural:
		return cmp.Compare(n.bits, uint64(f))
	}
	return cmp.Compare(int64(n.bits), int64(f))
}

// addTo adds the number, which must be finite, to a sum.
func (n number) addTo(sum *big.Float) {
	term := new(big.Float)
	switch n.kind {
	case natural:
		term.SetUint64(n.bits)
	case negative:
		term.SetInt64(int64(n.bits))
	default:
		term.SetFloat64(n.float())
	}
	sum.Add(sum, term)
}

// String returns the number in decimal, without loss.
func (n number) String() string {
	switch n.kind {
	case natural:
		return strconv.FormatUint(n.bits, 10)
	case negative:
		return strconv.FormatInt(int64(n.bits), 10)
	}
	return formatFloat(n.float())
}

// formatFloat returns the shortest text that represents f in JSON. Infinities and NaN are strings, as in the JSON of
// package eventtext.
func formatFloat(f float64) string {
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
