package bin

import "math"

// AddClamped returns a+b, or the nearest value that an int64 can hold.
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

// SubClamped returns a-b, or the nearest value that an int64 can hold.
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
