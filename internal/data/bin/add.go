package bin

import "math"

// AddClamped returns a+b, clamped to the range of int64.
func AddClamped[T ~int64](a, b T) T {
	s := a + b
	switch {
	case b > 0 && s < a:
		return math.MaxInt64
	case b < 0 && s > a:
		return math.MinInt64
	}
	return s
}

// SubClamped returns a-b, clamped to the range of int64.
func SubClamped[T ~int64](a, b T) T {
	d := a - b
	switch {
	case b < 0 && d < a:
		return math.MaxInt64
	case b > 0 && d > a:
		return math.MinInt64
	}
	return d
}
