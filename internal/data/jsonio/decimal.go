package jsonio

import (
	"math"
	"strconv"
)

// A Decimal is a JSON number with at least 18 significant digits: Mantissa times 10 to the power of Exponent. Decimals
// preserve times and weights exactly, unlike floating-point numbers.
type Decimal struct {
	Mantissa int64
	Exponent int32
	Rounded  bool // the text has more significant digits, by which Mantissa was rounded
}

// maxExponent bounds the parsed exponent: numbers beyond it are 0 or out of range in any case.
const maxExponent = 1 << 20

// ParseDecimal returns the value of text, which must be a valid JSON number.
func ParseDecimal(text []byte) (d Decimal) {
	negative := false
	dropped, fraction := false, false
	i := 0
	for ; i < len(text) && text[i] != 'e' && text[i] != 'E'; i++ {
		c := text[i]
		if c == '-' {
			negative = true
			continue
		}
		if c == '.' {
			fraction = true
			continue
		}
		if !dropped && d.Mantissa <= (math.MaxInt64-int64(c-'0'))/10 {
			d.Mantissa = d.Mantissa*10 + int64(c-'0')
			if fraction {
				d.Exponent--
			}
			continue
		}
		if !dropped && c >= '5' && d.Mantissa < math.MaxInt64 {
			d.Mantissa++
		}
		dropped, d.Rounded = true, d.Rounded || c != '0'
		if !fraction {
			d.Exponent++
		}
	}
	d.Exponent += exponent(text[i:])
	if negative {
		d.Mantissa = -d.Mantissa
	}
	return d
}

// exponent returns the value of an exponent such as e+12, and 0 for "".
func exponent(text []byte) (n int32) {
	negative := false
	for _, c := range text {
		switch {
		case c == '-':
			negative = true
		case c >= '0' && c <= '9' && n < maxExponent:
			n = n*10 + int32(c-'0')
		}
	}
	if negative {
		return -n
	}
	return n
}

// Scale returns the number times 10 to the power of digits, rounded to the nearest integer, halves away from 0. exact
// is false if the result was rounded. ok is false if it does not fit into an int64.
func (d Decimal) Scale(digits int) (v int64, exact, ok bool) {
	v, exact = d.Mantissa, !d.Rounded
	e := int(d.Exponent) + digits
	for ; e > 0 && v != 0; e-- {
		if v > math.MaxInt64/10 || v < math.MinInt64/10 {
			return 0, false, false
		}
		v *= 10
	}
	if e >= 0 {
		return v, exact, true
	}
	if e < -18 {
		if e == -19 && (v >= 5e18 || v <= -5e18) {
			return v / 5e18, false, true
		}
		return 0, v == 0 && exact, true
	}
	power := int64(1)
	for ; e < 0; e++ {
		power *= 10
	}
	rest := v % power
	v /= power
	switch {
	case rest >= power-rest:
		v++
	case -rest >= power+rest:
		v--
	}
	return v, exact && rest == 0, true
}

// Nearest returns the number rounded to the nearest integer, clamped to the range of int64.
func (d Decimal) Nearest() int64 {
	v, _, ok := d.Scale(0)
	switch {
	case ok:
		return v
	case d.Mantissa < 0:
		return math.MinInt64
	}
	return math.MaxInt64
}

// Float returns the nearest float64, which is infinite if the number is out of range.
func (d Decimal) Float() float64 {
	v, _ := strconv.ParseFloat(strconv.FormatInt(d.Mantissa, 10)+"e"+strconv.Itoa(int(d.Exponent)), 64)
	return v
}
