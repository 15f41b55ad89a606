package chromeevent

import (
	"bytes"
	"math"
	"strconv"

	"github.com/ntconv/ntconv/internal/data/jsonio"
)

// Classes of values in signatures and layouts. An array is classArray followed by the class of its elements.
const (
	classText   = 's'
	classBool   = 'b'
	classNumber = 'n' // an integer of magnitude up to 2^53, or a float64; the type of the field decides
	classInt    = 'N' // other integers of an int64
	classUint   = 'u' // other integers of a uint64
	classJSON   = 'j' // all other values, as JSON
	classArray  = '['
	classOpen   = '{' // an object; names and classes of its members follow
	classClose  = '}'
)

// A leaf is a value that is not an object. The elements of an array follow it as further leaves.
type leaf struct {
	class   byte
	integer bool // for classNumber: the value is num, not float
	count   int  // for classArray: number of elements
	num     int64
	float   float64
	text    []byte
}

// Limits of values with typed fields. Values beyond them are one field of JSON.
const (
	maxDepth   = 8       // levels of objects in args
	maxMembers = 64      // members of an object
	maxKey     = 1024    // bytes of a quoted name
	maxExact   = 1 << 53 // every integer of this magnitude is a float64
)

// A description is the signature of an event, which selects its type, and the event's values in the order of the
// fields. Values alias the event or scratch.
type description struct {
	sig     []byte
	leaves  []leaf
	scratch []byte
	unique  bool // treat objects with duplicate names as JSON; off by default, because known shapes have none
}

func (d *description) reset() {
	d.sig, d.leaves, d.scratch = d.sig[:0], d.leaves[:0], d.scratch[:0]
}

// value describes a value inside depth objects.
func (d *description) value(b []byte, depth int) {
	switch b[0] {
	case '"':
		d.text(b)
	case 't', 'f':
		l := leaf{class: classBool}
		if b[0] == 't' {
			l.num = 1
		}
		d.add(l)
	case '{':
		d.object(b, depth)
	case '[':
		d.array(b)
	case 'n':
		d.json(b)
	default:
		d.add(numberOf(b))
	}
}

func (d *description) add(l leaf) {
	d.sig = append(d.sig, l.class)
	d.leaves = append(d.leaves, l)
}

func (d *description) json(b []byte) { d.add(leaf{class: classJSON, text: b}) }

func (d *description) text(b []byte) {
	text, exact := d.unquoted(b)
	if !exact {
		d.json(b)
		return
	}
	d.add(leaf{class: classText, text: text})
}

// unquoted returns the contents of a string, and false if they are invalid Unicode.
func (d *description) unquoted(b []byte) (text []byte, exact bool) {
	if bytes.IndexByte(b, '\\') < 0 {
		return b[1 : len(b)-1], true
	}
	from := len(d.scratch)
	d.scratch, exact = jsonio.AppendUnquoted(d.scratch, b)
	return d.scratch[from:], exact
}

// object describes an object by its members, or else as JSON.
func (d *description) object(b []byte, depth int) {
	sig, leaves := len(d.sig), len(d.leaves)
	if depth < maxDepth && d.members(b, depth) {
		return
	}
	d.sig, d.leaves = d.sig[:sig], d.leaves[:leaves]
	d.json(b)
}

// members describes the members of an object. It returns false if they cannot be fields; the caller then discards what
// it has appended.
func (d *description) members(b []byte, depth int) bool {
	d.sig = append(d.sig, classOpen)
	list := jsonio.MembersOf(b)
	n := 0
	for ; ; n++ {
		name, value, ok := list.Next()
		if !ok {
			break
		}
		if n >= maxMembers || !d.name(name) {
			return false
		}
		d.value(value, depth+1)
	}
	d.sig = append(d.sig, classClose)
	return n > 0 && !(d.unique && hasDuplicates(b))
}

// name appends the quoted name of a member to the signature. It returns false if the name cannot be the name of a
// field.
func (d *description) name(quoted []byte) bool {
	if len(quoted) < 3 || len(quoted) > maxKey {
		return false
	}
	if bytes.IndexByte(quoted, '\\') >= 0 {
		text, exact := d.unquoted(quoted)
		if !exact || bytes.IndexByte(text, 0) >= 0 {
			return false
		}
	}
	d.sig = append(d.sig, quoted...)
	return true
}

// hasDuplicates reports whether two members of an object have the same name, among the first maxMembers.
func hasDuplicates(object []byte) bool {
	var names [maxMembers]string
	list := jsonio.MembersOf(object)
	for n := 0; n < maxMembers; n++ {
		quoted, _, ok := list.Next()
		if !ok {
			break
		}
		text, _ := jsonio.AppendUnquoted(nil, quoted)
		names[n] = string(text)
		for i := range n {
			if names[i] == names[n] {
				return true
			}
		}
	}
	return false
}

// array describes an array of scalars of one class, or else the array as JSON.
func (d *description) array(b []byte) {
	sig, leaves := len(d.sig), len(d.leaves)
	d.sig = append(d.sig, classArray)
	d.leaves = append(d.leaves, leaf{class: classArray})
	list := jsonio.ElementsOf(b)
	n, class, floats := 0, byte(0), false
	for ; ; n++ {
		value, ok := list.Next()
		if !ok {
			break
		}
		if value[0] == '{' || value[0] == '[' || value[0] == 'n' {
			class = classJSON
			break
		}
		mark := len(d.sig)
		d.value(value, maxDepth)
		l := &d.leaves[len(d.leaves)-1]
		d.sig = d.sig[:mark]
		floats = floats || l.class == classNumber && !l.integer
		switch {
		case n == 0 || class == l.class:
			class = l.class
		case class == classNumber && l.class == classInt || class == classInt && l.class == classNumber:
			class = classInt
		default:
			class = classJSON
		}
		if class == classJSON {
			break
		}
	}
	if n == 0 || class == classJSON || class == classInt && floats {
		d.sig, d.leaves = d.sig[:sig], d.leaves[:leaves]
		d.json(b)
		return
	}
	d.sig = append(d.sig, class)
	d.leaves[leaves].count = n
}

// numberOf returns a leaf that restores the value of a number, though not always its text.
func numberOf(b []byte) leaf {
	digits, integer := b, true
	if b[0] == '-' {
		digits = b[1:]
	}
	for _, c := range digits {
		integer = integer && c >= '0' && c <= '9'
	}
	switch {
	case integer && len(b) == 2 && b[0] == '-' && b[1] == '0':
		return leaf{class: classNumber, float: math.Copysign(0, -1)}
	case integer && len(digits) <= 18:
		n := int64(0)
		for _, c := range digits {
			n = n*10 + int64(c-'0')
		}
		class := byte(classNumber)
		if n > maxExact {
			class = classInt
		}
		if b[0] == '-' {
			n = -n
		}
		return leaf{class: class, integer: true, num: n}
	case integer:
		if n, err := strconv.ParseInt(string(b), 10, 64); err == nil {
			return leaf{class: classInt, integer: true, num: n}
		}
		if n, err := strconv.ParseUint(string(b), 10, 64); err == nil {
			return leaf{class: classUint, num: int64(n)}
		}
	}
	if f, ok := exactFloat(b); ok {
		return leaf{class: classNumber, float: f}
	}
	return leaf{class: classJSON, text: b}
}

// exactFloat returns the float64 whose shortest decimal form equals the number, and false if there is none.
func exactFloat(b []byte) (float64, bool) {
	f, err := strconv.ParseFloat(string(b), 64)
	if err != nil {
		return 0, false
	}
	const sure = 15 // a float64 preserves up to 15 digits
	if len(b) <= sure && bytes.IndexByte(b, 'e') < 0 && bytes.IndexByte(b, 'E') < 0 {
		return f, true
	}
	var buf [32]byte
	have, _ := parseDecimal(b)
	shortest, _ := parseDecimal(strconv.AppendFloat(buf[:0], f, 'e', -1, 64))
	return f, have.normal() == shortest.normal()
}

// normal returns an equal number without trailing zeros in digits.
func (d decimal) normal() decimal {
	if d.digits == 0 {
		d.exponent = 0
	}
	for d.digits != 0 && d.digits%10 == 0 {
		d.digits, d.exponent = d.digits/10, d.exponent+1
	}
	return d
}
