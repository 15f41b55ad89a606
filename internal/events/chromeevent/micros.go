package chromeevent

import (
	"math"
	"math/bits"
	"strconv"

	"github.com/ntconv/ntconv/internal/data/bin"
)

// A Micros is a time of the format, parsed from its decimal text without rounding to a float64: whole nanoseconds,
// rounded down, and the remainder.
type Micros struct {
	Nanos int64
	// Rest is the fraction of a nanosecond, in [0, 1). It is 0 exactly if the text has no digits below nanoseconds.
	Rest float64
}

// MaxNanos is the largest number of nanoseconds that ParseMicros returns: 146 years. The difference of two times, and
// the sum of a time and a duration, then fit into an int64.
const MaxNanos = 1<<62 - 1

// ParseMicros parses a number of microseconds in JSON, with or without quotes. ok is false if it is not a number, or if
// its magnitude exceeds MaxNanos.
func ParseMicros(text []byte) (m Micros, ok bool) {
	d, ok := parseDecimal(unquote(text))
	if !ok {
		return Micros{}, false
	}
	return d.nanos()
}

// Round returns the nearest number of nanoseconds; halves are rounded up. exact is false if m was rounded.
func (m Micros) Round() (nanos int64, exact bool) {
	if m.Rest >= 0.5 && m.Nanos < MaxNanos {
		return m.Nanos + 1, false
	}
	return m.Nanos, m.Rest == 0
}

// RoundDuration rounds the duration d of a slice that begins at m, as the difference between the rounded times of its
// end and its begin. Nested slices therefore still nest after rounding. exact is false if a time was rounded.
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

// isNearest reports whether text, in microseconds, and nanos have the same nearest float64. If so, the extra digits of
// text carry no information: programs that store times as float64 write such digits.
func isNearest(text []byte, nanos int64) bool {
	var buf [32]byte
	f, err := strconv.ParseFloat(string(unquote(text)), 64)
	g, err2 := strconv.ParseFloat(string(AppendMicros(buf[:0], nanos)), 64)
	return err == nil && err2 == nil && f == g
}

// unquote removes the quotes of a string.
func unquote(text []byte) []byte {
	if n := len(text); n >= 2 && text[0] == '"' && text[n-1] == '"' {
		return text[1 : n-1]
	}
	return text
}

// A decimal is (digits + tail) × 10^exponent. digits has up to 19 digits; tail represents all further digits, in [0,
// 1).
type decimal struct {
	digits   uint64
	exponent int
	negative bool
	tail     float64
}

// maxExponent bounds a parsed exponent: beyond it every number is 0 or too large.
const maxExponent = 10_000

// parseDecimal parses a JSON number; it also accepts leading zeros and a plus sign.
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

// parseExponent parses e or E and an integer.
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

// nanos converts a number of microseconds to nanoseconds.
func (d decimal) nanos() (m Micros, ok bool) {
	e := d.exponent + 3
	var whole uint64
	switch {
	case d.digits == 0:
	case e >= len(bin.Powers):
		return m, false
	case e >= 0:
		more, rest := math.Modf(d.tail * float64(bin.Powers[e]))
		hi, lo := bits.Mul64(d.digits, bin.Powers[e])
		if whole, m.Rest = lo+uint64(more), rest; hi != 0 || whole < lo {
			return m, false
		}
	case -e < len(bin.Powers):
		whole = d.digits / bin.Powers[-e]
		m.Rest = (float64(d.digits%bin.Powers[-e]) + d.tail) / float64(bin.Powers[-e])
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

// belowOne clamps a fraction that rounding made 1.
func belowOne(f float64) float64 { return min(f, 1-1e-16) }

// AppendMicros appends a time as microseconds with at most 3 decimals and no exponent. Viewers parse it as a float64,
// which restores the nanosecond for 101 days.
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
