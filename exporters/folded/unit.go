package folded

import (
	"fmt"
	"math"
	"math/bits"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/profile"
	"github.com/ntconv/ntconv/sample"
)

// A scale converts values between units of time. The zero value returns values unchanged.
type scale struct {
	to       string
	num, den uint64 // factor num/den; den 0 means 1
}

// nanosOf returns the length of a unit of time in nanoseconds, or 0 if unit is not a unit of time.
func nanosOf(unit string) uint64 {
	switch unit {
	case "nanoseconds":
		return 1
	case "microseconds":
		return 1e3
	case "milliseconds":
		return 1e6
	case "seconds":
		return 1e9
	}
	return 0
}

// scale returns the conversion from the unit of a sample type to Options.Unit.
func (s *Sink) scale(p *profile.Profile, column int) (scale, error) {
	unit := s.o.Unit
	if unit == "" || column < 0 {
		return scale{}, nil
	}
	to, t := nanosOf(unit), p.Types[column]
	if to == 0 {
		return scale{}, fmt.Errorf(
			"folded: unit %q: %w; want nanoseconds, microseconds, milliseconds or seconds",
			unit,
			ntconv.ErrUnsupported,
		)
	}
	from := nanosOf(t.Unit)
	if from == 0 {
		return scale{}, &UnitError{Unit: unit, Values: t}
	}
	return scale{unit, from, to}, nil
}

// convert returns v in the new unit, rounded half up. Negative values become 0, values beyond the range of int64 become
// its maximum.
func (s scale) convert(v int64) int64 {
	if s.den == 0 || v <= 0 {
		return max(v, 0)
	}
	hi, lo := bits.Mul64(uint64(v), s.num)
	lo, carry := bits.Add64(lo, s.den/2, 0)
	hi += carry
	if hi >= s.den {
		return math.MaxInt64
	}
	q, _ := bits.Div64(hi, lo, s.den)
	return int64(min(q, math.MaxInt64))
}

// A UnitError reports that values cannot be written in Options.Unit, because they are not times or because all totals
// are less than half a unit. It wraps ntconv.ErrUnsupported.
type UnitError struct {
	Unit   string      // Options.Unit
	Values sample.Type // sample type that would have been written
	Small  bool        // all totals would be 0
}

func (e *UnitError) Error() string {
	if e.Small {
		return fmt.Sprintf(
			"folded: unit %s: %v for totals of less than half a unit; choose a smaller unit",
			e.Unit,
			ntconv.ErrUnsupported,
		)
	}
	return fmt.Sprintf(
		"folded: unit %s: %v for values of type %s, which are in %s; omit the unit",
		e.Unit,
		ntconv.ErrUnsupported,
		e.Values.Type,
		e.Values.Unit,
	)
}

// Unwrap returns ntconv.ErrUnsupported.
func (e *UnitError) Unwrap() error { return ntconv.ErrUnsupported }
