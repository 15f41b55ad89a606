package wiretext

import (
	"encoding/hex"
	"fmt"
	"strconv"
)

// Printing: arguments with their default value are omitted.

// num appends an unsigned number unless it is the default.
func (n *node) num(key string, v, usual uint64) {
	if v != usual {
		n.put(key, bare(strconv.FormatUint(v, 10)))
	}
}

// int appends a signed number unless it is the default.
func (n *node) int(key string, v, usual int64) {
	if v != usual {
		n.put(key, bare(strconv.FormatInt(v, 10)))
	}
}

// hex appends bytes unless there are none.
func (n *node) hex(key string, b []byte) {
	if len(b) > 0 {
		n.put(key, bare(hex.EncodeToString(b)))
	}
}

// flag appends a word without a value if on is true.
func (n *node) flag(word string, on bool) {
	if on {
		n.put("", bare(word))
	}
}

// Assembling: a build records the first error. After an error all arguments are zero.
type build struct{ err error }

func (b *build) fail(n *node, format string, args ...any) {
	if b.err == nil {
		b.err = n.errorf(format, args...)
	}
}

// arg consumes and returns the next unused argument with this key, or nil.
func (b *build) arg(n *node, key string) *arg {
	for i := range n.args {
		if a := &n.args[i]; a.key == key && !a.used {
			a.used = true
			return a
		}
	}
	return nil
}

// one returns an argument with one atom, or usual if it is absent.
func (b *build) one(n *node, key, usual string) string {
	a := b.arg(n, key)
	switch {
	case a == nil:
		return usual
	case len(a.atoms) != 1 || a.atoms[0].quoted:
		b.fail(n, "%s wants one bare value", key)
		return usual
	}
	return a.atoms[0].text
}

// num returns an unsigned number of at most the given bits. The empty key means the next value without a key, which is
// required.
func (b *build) num(n *node, key string, size int, usual uint64) uint64 {
	s := b.one(n, key, "")
	if s == "" && key != "" {
		return usual
	}
	return b.parseNum(n, s, size)
}

func (b *build) parseNum(n *node, s string, size int) uint64 {
	v, err := strconv.ParseUint(s, 0, size)
	if err != nil {
		b.fail(n, "%q is not an unsigned %d-bit number", s, size)
	}
	return v
}

// int returns a signed number of at most the given bits.
func (b *build) int(n *node, key string, size int, usual int64) int64 {
	s := b.one(n, key, "")
	if s == "" && key != "" {
		return usual
	}
	v, err := strconv.ParseInt(s, 0, size)
	if err != nil {
		b.fail(n, "%q is not a %d-bit number", s, size)
	}
	return v
}

// str returns the next quoted string without a key, which is required.
func (b *build) str(n *node) string {
	a := b.arg(n, "")
	if a == nil || len(a.atoms) != 1 || !a.atoms[0].quoted {
		b.fail(n, "wants a string in quotes")
		return ""
	}
	return a.atoms[0].text
}

// hex returns bytes, or nil if the argument is absent.
func (b *build) hex(n *node, key string) []byte {
	return b.parseHex(n, b.one(n, key, ""))
}

func (b *build) parseHex(n *node, s string) []byte {
	if s == "" {
		return nil
	}
	v, err := hex.DecodeString(s)
	if err != nil {
		b.fail(n, "%q is not hexadecimal", s)
	}
	return v
}

// id returns 16 bytes, which are zero if the argument is absent.
func (b *build) id(n *node, key string) (id [16]byte) {
	v := b.hex(n, key)
	if len(v) != 0 && len(v) != len(id) {
		b.fail(n, "%s wants %d bytes", key, len(id))
	}
	copy(id[:], v)
	return id
}

// flag reports whether a word without a value is present.
func (b *build) flag(n *node, word string) bool {
	for i := range n.args {
		if a := &n.args[i]; a.key == "" && len(a.atoms) == 1 && a.atoms[0] == bare(word) && !a.used {
			a.used = true
			return true
		}
	}
	return false
}

// done fails if n has unused arguments, or lines below it with words that are not in the list.
func (b *build) done(n *node, words ...string) {
	for _, a := range n.args {
		if !a.used {
			b.fail(n, "argument %s is unknown or repeated", fmt.Sprint(a.key, a.atoms))
		}
	}
	for _, k := range n.kids {
		known := false
		for _, w := range words {
			known = known || k.word == w
		}
		if !known {
			b.fail(k, "does not belong below %s", n.word)
		}
	}
}
