package jsonread

import (
	"math"
	"strconv"
)

// A Decimal is a JSON number with at least 18 significant digits: Mantissa times 10 to the power of Exponent. Numbers
// are decimal because times and weights then keep the value that the text has.
type Decimal struct {
	Mantissa int64
	Exponent int32
	Rounded  bool // the text has more digits
}

const maxExponent = 1 << 20

// ParseDecimal returns a valid JSON number.
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

// exponent returns the value of e+12, 0 of no text. It is bounded: beyond the bound a number is 0 or out of range.
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
// is false if it was rounded. ok is false if the result does not fit into 64 bits.
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

// Nearest returns the number rounded to the nearest integer, and the closest integer of 64 bits if it is out of range.
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

// Float returns the number, rounded to 64 bits. It is infinite if it is out of range.
func (d Decimal) Float() float64 {
	v, _ := strconv.ParseFloat(strconv.FormatInt(d.Mantissa, 10)+"e"+strconv.Itoa(int(d.Exponent)), 64)
	return v
}
