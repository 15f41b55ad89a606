package chromeevent

import (
	"math"
	"math/bits"
	"strconv"
)

// A Micros is a time of the format, read from its decimal text without rounding: whole nanoseconds, rounded down, and
// the rest.
type Micros struct {
	Nanos int64
	// Rest is the fraction of a nanosecond, at least 0 and below 1. It is 0 exactly if the text has no more than
	// nanoseconds.
	Rest float64
}

// MaxNanos is the largest number of nanoseconds that ParseMicros returns: 146 years. The difference of two times, and a
// time with a duration, then fit into an int64.
const MaxNanos = 1<<62 - 1

// ParseMicros reads a number of microseconds in JSON, with or without quotes. ok is false if it is not a number, or if
// its distance from 0 is more than MaxNanos.
func ParseMicros(text []byte) (m Micros, ok bool) {
	d, ok := parseDecimal(unquote(text))
	if !ok {
		return Micros{}, false
	}
	return d.nanos()
}

// Round returns the nearest number of nanoseconds; a half is rounded up. exact is false if that is not the number
// itself.
func (m Micros) Round() (nanos int64, exact bool) {
	if m.Rest >= 0.5 && m.Nanos < MaxNanos {
		return m.Nanos + 1, false
	}
	return m.Nanos, m.Rest == 0
}

// RoundDuration returns the duration d of something that begins at m as the difference of the rounded times. Slices
// that nest therefore nest after rounding, too. exact is false if a time was rounded.
func (m Micros) RoundDuration(d Micros) (nanos int64, exact bool) {
	if m.Rest == 0 {
		return d.Round()
	}
	begin, _ := m.Round()
	sum, carry := m.Rest+d.Rest, int64(0)
	if sum >= 1 {
		sum, carry = sum-1, 1
	}
	end := m.Nanos + carry
	if sum >= 0.5 {
		end++
	}
	return d.Nanos + (end - begin), false
}

// isNearest reports whether the float64 that is nearest to a number of microseconds is that of the text, which has more
// digits. Programs that keep times as float64 write such digits: they carry no information.
func isNearest(text []byte, nanos int64) bool {
	var buf [32]byte
	f, err := strconv.ParseFloat(string(unquote(text)), 64)
	g, err2 := strconv.ParseFloat(string(AppendMicros(buf[:0], nanos)), 64)
	return err == nil && err2 == nil && f == g
}

// unquote removes quotes.
func unquote(text []byte) []byte {
	if n := len(text); n >= 2 && text[0] == '"' && text[n-1] == '"' {
		return text[1 : n-1]
	}
	return text
}

// A decimal is (digits + tail) × 10^exponent, with up to 19 digits. tail is what further digits add: at least 0 and
// below 1.
type decimal struct {
	digits   uint64
	exponent int
	negative bool
	tail     float64
}

// maxExponent bounds what is added to an exponent: beyond it every number is 0 or too large.
const maxExponent = 10_000

// parseDecimal reads a number as JSON spells it; leading zeros and a plus sign are accepted.
func parseDecimal(b []byte) (d decimal, ok bool) {
	i, n, point, place := 0, 0, false, 0.1
	if i < len(b) && (b[i] == '-' || b[i] == '+') {
		d.negative = b[i] == '-'
		i++
	}
	for ; i < len(b); i++ {
		c := b[i]
		if c == '.' && !point {
			point = true
			continue
		}
		if c < '0' || c > '9' {
			break
		}
		n++
		switch {
		case d.digits < 1e18:
			d.digits = d.digits*10 + uint64(c-'0')
			if point {
				d.exponent--
			}
		default:
			d.tail += float64(c-'0') * place
			place /= 10
			if !point {
				d.exponent++
			}
		}
	}
	if n == 0 {
		return d, false
	}
	if i == len(b) {
		return d, true
	}
	e, ok := parseExponent(b[i:])
	d.exponent += e
	return d, ok
}

// parseExponent reads e or E with a number.
func parseExponent(b []byte) (e int, ok bool) {
	if b[0]|0x20 != 'e' {
		return 0, false
	}
	b = b[1:]
	negative := false
	if len(b) > 0 && (b[0] == '-' || b[0] == '+') {
		negative, b = b[0] == '-', b[1:]
	}
	if len(b) == 0 {
		return 0, false
	}
	for _, c := range b {
		if c < '0' || c > '9' {
			return 0, false
		}
		e = min(e*10+int(c-'0'), maxExponent)
	}
	if negative {
		e = -e
	}
	return e, true
}

var powers = [...]uint64{
	1,
	1e1,
	1e2,
	1e3,
	1e4,
	1e5,
	1e6,
	1e7,
	1e8,
	1e9,
	1e10,
	1e11,
	1e12,
	1e13,
	1e14,
	1e15,
	1e16,
	1e17,
	1e18,
	1e19,
}

// nanos takes the number as microseconds.
func (d decimal) nanos() (m Micros, ok bool) {
	e := d.exponent + 3
	var whole uint64
	switch {
	case d.digits == 0:
	case e >= len(powers):
		return m, false
	case e >= 0:
		more, rest := math.Modf(d.tail * float64(powers[e]))
		hi, lo := bits.Mul64(d.digits, powers[e])
		if whole, m.Rest = lo+uint64(more), rest; hi != 0 || whole < lo {
			return m, false
		}
	case -e < len(powers):
		whole = d.digits / powers[-e]
		m.Rest = (float64(d.digits%powers[-e]) + d.tail) / float64(powers[-e])
	default:
		m.Rest = math.SmallestNonzeroFloat64
	}
	if whole > MaxNanos || d.negative && whole == MaxNanos && m.Rest != 0 {
		return m, false
	}
	m.Nanos, m.Rest = int64(whole), belowOne(m.Rest)
	if d.negative {
		if m.Nanos = -m.Nanos; m.Rest != 0 {
			m.Nanos, m.Rest = m.Nanos-1, belowOne(1-m.Rest)
		}
	}
	return m, true
}

// belowOne keeps a fraction that was rounded up below 1.
func belowOne(f float64) float64 { return min(f, 1-1e-16) }

// AppendMicros appends a time as the format spells it: microseconds with a fraction of up to 3 digits.
func AppendMicros(dst []byte, nanos int64) []byte {
	n := uint64(nanos)
	if nanos < 0 {
		dst, n = append(dst, '-'), -n
	}
	dst = appendUint(dst, n/1000)
	rest := n % 1000
	if rest == 0 {
		return dst
	}
	dst = append(dst, '.', byte('0'+rest/100), byte('0'+rest/10%10), byte('0'+rest%10))
	for dst[len(dst)-1] == '0' {
		dst = dst[:len(dst)-1]
	}
	return dst
}
