package distribution

import (
	"cmp"
	"math"
	"math/big"
	"math/bits"
)

// A Sum adds up numbers without rounding. Its memory is bounded. The zero Sum is 0.
type Sum struct {
	high int64  // of the total of all integers, 128 bits in two's complement
	low  uint64 //
	// parts add up to the total of all finite floating-point numbers. Their significant bits do not overlap, and their
	// magnitudes increase, so there are at most 40 (Shewchuk, Adaptive Precision Floating-Point Arithmetic, 1997).
	parts   []float64
	special float64 // total of infinities; an infinity also if parts overflowed
	floats  bool    // a number was a float64
}

func (s *Sum) add(n Number) {
	switch n.kind {
	case natural:
		s.addInteger(0, n.bits)
	case negative:
		s.addInteger(-1, n.bits)
	default:
		s.floats = true
		s.addFloat(n.Float())
	}
}

func (s *Sum) addInteger(high int64, low uint64) {
	var carry uint64
	s.low, carry = bits.Add64(s.low, low, 0)
	s.high += high + int64(carry)
}

func (s *Sum) addFloat(x float64) {
	if math.IsInf(x, 0) {
		s.special += x
		return
	}
	n := 0
	for _, y := range s.parts {
		if math.Abs(x) < math.Abs(y) {
			x, y = y, x
		}
		high := x + y
		if low := y - (high - x); low != 0 && !math.IsInf(high, 0) {
			s.parts[n] = low
			n++
		}
		x = high
	}
	s.parts = s.parts[:n]
	if math.IsInf(x, 0) {
		s.special += x
		return
	}
	s.parts = append(s.parts, x)
}

// merge adds the numbers of another sum.
func (s *Sum) merge(other *Sum) {
	s.addInteger(other.high, other.low)
	for _, x := range other.parts {
		s.addFloat(x)
	}
	s.special += other.special
	s.floats = s.floats || other.floats
}

// exactBits is a precision in which every sum of float64 and int64 values is exact: from 2^-1074 to 2^1023, with room
// for 2^64 values.
const exactBits = 1074 + 1024 + 64

// integer returns the total of the integers.
func (s *Sum) integer() *big.Int {
	n := new(big.Int).Lsh(big.NewInt(s.high), 64)
	return n.Add(n, new(big.Int).SetUint64(s.low))
}

// finite returns the exact total of all finite numbers.
func (s *Sum) finite() *big.Float {
	total := new(big.Float).SetPrec(exactBits).SetInt(s.integer())
	for _, x := range s.parts {
		Float(x).addTo(total)
	}
	return total
}

// IsFloat reports whether one of the numbers is a float64.
func (s *Sum) IsFloat() bool { return s.floats }

// Float returns the total, rounded once to a float64. It is infinite beyond the range of float64, and NaN if both
// infinities were added.
func (s *Sum) Float() float64 {
	if s.special != 0 { // or NaN
		return s.special
	}
	f, _ := s.finite().Float64()
	return f
}

// mean returns the total divided by the number of values, which must not be 0.
func (s *Sum) mean(count uint64) float64 {
	if s.special != 0 {
		return s.special
	}
	f, _ := new(big.Float).SetPrec(exactBits).Quo(s.finite(), new(big.Float).SetUint64(count)).Float64()
	return f
}

// CompareSums returns -1, 0 or 1. If floats is set, it compares the results of Float, where NaN is the smallest.
// Otherwise both sums must be of integers only.
func CompareSums(a, b *Sum, floats bool) int {
	if floats {
		return cmp.Compare(a.Float(), b.Float())
	}
	return cmp.Or(cmp.Compare(a.high, b.high), cmp.Compare(a.low, b.low))
}

// String returns the total as JSON: the exact integer, or the rounded total as FormatFloat does.
func (s *Sum) String() string {
	if s.floats {
		return FormatFloat(s.Float())
	}
	return s.integer().String()
}
