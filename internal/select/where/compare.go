package where

import (
	"cmp"
	"math"
	"strconv"

	"github.com/ntconv/ntconv"
)

// A number is an integer in sign and magnitude, which covers int64 and uint64, or a floating-point number.
type number struct {
	neg   bool
	float bool
	mag   uint64
	f     float64
}

func unsigned(n uint64) number { return number{mag: n} }

func signed(n int64) number {
	if n < 0 {
		return number{neg: true, mag: -uint64(n)}
	}
	return number{mag: uint64(n)}
}

func (n number) append(dst []byte) []byte {
	if n.float {
		return strconv.AppendFloat(dst, n.f, 'g', -1, 64)
	}
	if n.neg {
		dst = append(dst, '-')
	}
	return strconv.AppendUint(dst, n.mag, 10)
}

// An order is the result of a comparison.
type order int8

const (
	less      order = -1
	equal     order = 0
	greater   order = 1
	unordered order = 2 // at least one is NaN; only != holds
	misfit    order = 3 // the values cannot be compared; no operator holds
)

func compare[T cmp.Ordered](a, b T) order { return order(cmp.Compare(a, b)) }

// compareNumbers compares exactly: no integer is rounded to fit a floating-point number.
func compareNumbers(a, b number) order {
	switch {
	case a.float && a.f != a.f || b.float && b.f != b.f:
		return unordered
	case a.float && b.float:
		return compare(a.f, b.f)
	case a.float:
		return -compareWithFloat(b, a.f)
	case b.float:
		return compareWithFloat(a, b.f)
	}
	return compareIntegers(a, b)
}

func compareIntegers(a, b number) order {
	switch {
	case a.neg && b.neg:
		return compare(b.mag, a.mag)
	case a.neg:
		return less
	case b.neg:
		return greater
	}
	return compare(a.mag, b.mag)
}

// compareWithFloat compares an integer with a float that is not NaN. Equal integer parts leave the fraction to decide.
func compareWithFloat(a number, f float64) order {
	const beyond = 1 << 64 // exceeds the magnitude of all integers
	switch {
	case f >= beyond:
		return less
	case f <= -beyond:
		return greater
	}
	whole := math.Trunc(f)
	if o := compareIntegers(a, number{neg: whole < 0, mag: uint64(math.Abs(whole))}); o != equal {
		return o
	}
	return compare(whole, f)
}

// holds reports whether the operator accepts a comparison with that result. opIn is called once per value of its list.
func (o op) holds(as order) bool {
	switch o {
	case opEq, opIn:
		return as == equal
	case opNe:
		return as != equal && as != misfit
	case opLt:
		return as == less
	case opLe:
		return as == less || as == equal
	case opGt:
		return as == greater
	case opGe:
		return as == greater || as == equal
	}
	return false
}

// numberTest reports whether the test holds for a number.
func (t *test) numberTest(n number) bool {
	if t.op == opHas {
		return true
	}
	for i := range t.lits {
		if l := &t.lits[i]; l.kind == litNumber && t.op.holds(compareNumbers(n, l.num)) {
			return true
		}
	}
	return false
}

// textTest reports whether the test holds for a string. s is not retained.
func (t *test) textTest(s []byte) bool {
	switch t.op {
	case opHas:
		return true
	case opMatch:
		return t.re.Match(s)
	}
	for i := range t.lits {
		if l := &t.lits[i]; l.kind == litString && t.op.holds(compareText(s, l.text)) {
			return true
		}
	}
	return false
}

// compareText is bytes.Compare with a string. The compiler does not allocate for these conversions.
func compareText(s []byte, text string) order {
	switch {
	case string(s) == text:
		return equal
	case string(s) < text:
		return less
	}
	return greater
}

// idTest compares strings case-insensitively. s must be in lower case.
func (t *test) idTest(s []byte) bool {
	if t.op == opHas || t.op == opMatch {
		return t.textTest(s)
	}
	for i := range t.lits {
		if t.op.holds(compareText(s, t.lits[i].lower)) {
			return true
		}
	}
	return false
}

// fieldTest reports whether the test holds for a decoded value. A list passes if one of its elements does. path holds
// the indices of the members that lead from v, or from the elements of v, to the field. b names the field's values; it
// must not be nil.
func (m *Matcher) fieldTest(t *test, v ntconv.Value, path []int, b *bound) bool {
	switch v.Kind() {
	case ntconv.ValueNull, ntconv.ValueError:
		return false
	case ntconv.ValueList:
		if t.op == opHas && len(path) == 0 {
			return true
		}
		for e := range v.Elems() {
			if m.fieldTest(t, e, path, b) {
				return true
			}
		}
		return false
	case ntconv.ValueObject:
		if len(path) == 0 {
			return t.op == opHas
		}
		i := 0
		for _, member := range v.Fields() {
			if i == path[0] {
				return m.fieldTest(t, member, path[1:], b)
			}
			i++
		}
		return false
	}
	return len(path) == 0 && m.scalarTest(t, v, b)
}

// scalarTest is fieldTest for values other than lists and objects. It overwrites m.scratch.
func (m *Matcher) scalarTest(t *test, v ntconv.Value, b *bound) bool {
	if t.op == opHas {
		return true
	}
	switch v.Kind() {
	case ntconv.ValueInt, ntconv.ValueUint:
		n := unsigned(v.Uint())
		if v.Kind() == ntconv.ValueInt {
			n = signed(v.Int())
		}
		return t.numberTest(n) || b.named() && m.nameTest(t, b, v.Uint())
	case ntconv.ValueFloat:
		return t.numberTest(number{float: true, f: v.Float()})
	case ntconv.ValueBool:
		return t.boolTest(v.Bool())
	case ntconv.ValueString:
		m.scratch = v.AppendString(m.scratch[:0])
		return t.textTest(m.scratch)
	case ntconv.ValueGUID:
		return m.guidTest(t, v.GUID())
	case ntconv.ValueTime:
		return t.dateTest(v)
	}
	return false
}

// nameTest compares the name that the runtime's manifest has for a value.
func (m *Matcher) nameTest(t *test, b *bound, n uint64) bool {
	name := b.schema.ValueName(b.field.Name, n)
	m.scratch = append(m.scratch[:0], name...)
	return name != "" && t.op.takesNames() && t.textTest(m.scratch)
}

// takesNames reports whether the operator can compare names and IDs, which have no order.
func (o op) takesNames() bool { return o == opEq || o == opNe || o == opIn || o == opMatch }

// boolTest compares a Boolean, which equals 1 or 0 if the test has numbers.
func (t *test) boolTest(b bool) bool {
	n := uint64(0)
	if b {
		n = 1
	}
	for i := range t.lits {
		if l := &t.lits[i]; l.kind == litBool && (t.op == opEq || t.op == opNe || t.op == opIn) &&
			(l.yes == b) != (t.op == opNe) {
			return true
		}
	}
	return t.numberTest(unsigned(n))
}

// guidTest compares GUIDs by value, so braces and letter case in the expression are ignored.
func (m *Matcher) guidTest(t *test, g ntconv.GUID) bool {
	if t.op == opMatch {
		m.scratch = g.Append(m.scratch[:0])
		return t.re.Match(m.scratch)
	}
	for i := range t.lits {
		if l := &t.lits[i]; l.isGUID && t.op.takesNames() && (g == l.guid) != (t.op == opNe) {
			return true
		}
	}
	return false
}

func (t *test) dateTest(v ntconv.Value) bool {
	for i := range t.lits {
		if l := &t.lits[i]; l.isDate && t.op.holds(order(v.Time().Compare(l.date))) {
			return true
		}
	}
	return false
}
