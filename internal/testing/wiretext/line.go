package wiretext

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// A node is a line with the lines below it that are indented further.
type node struct {
	line int // in the text; 0 for nodes made from bytes
	word string
	args []arg
	kids []*node
}

// An arg is "key=value" or just "value". A value of several atoms has colons between them.
type arg struct {
	key   string
	atoms []atom
	used  bool
}

// An atom is a quoted string or a bare number, name or run of hexadecimal digits.
type atom struct {
	text   string
	quoted bool
}

func bare(s string) atom   { return atom{text: s} }
func quoted(s string) atom { return atom{text: s, quoted: true} }

// put appends an argument; key may be empty.
func (n *node) put(key string, atoms ...atom) { n.args = append(n.args, arg{key: key, atoms: atoms}) }

// kid appends and returns a line below n.
func (n *node) kid(word string) *node {
	k := &node{word: word}
	n.kids = append(n.kids, k)
	return k
}

// print appends the text of n.
func (n *node) print(dst []byte, depth int) []byte {
	for range depth {
		dst = append(dst, "  "...)
	}
	dst = append(dst, n.word...)
	for _, a := range n.args {
		dst = append(dst, ' ')
		if a.key != "" {
			dst = append(append(dst, a.key...), '=')
		}
		for i, v := range a.atoms {
			if i > 0 {
				dst = append(dst, ':')
			}
			if v.quoted {
				dst = strconv.AppendQuote(dst, v.text)
			} else {
				dst = append(dst, v.text...)
			}
		}
	}
	dst = append(dst, '\n')
	for _, k := range n.kids {
		dst = k.print(dst, depth+1)
	}
	return dst
}

// parse reads lines into a forest.
func parse(text string) (top []*node, err error) {
	var open []*node // open[i] is the last line at depth i
	for i, line := range strings.Split(text, "\n") {
		n := &node{line: i + 1}
		rest := strings.TrimLeft(line, " ")
		depth := len(line) - len(rest)
		if err := n.scan(rest); err != nil {
			return nil, err
		}
		if n.word == "" {
			continue
		}
		if depth%2 != 0 || depth/2 > len(open) {
			return nil, n.errorf("indented by %d spaces: two for each level", depth)
		}
		open = open[:depth/2]
		if len(open) == 0 {
			top = append(top, n)
		} else {
			up := open[len(open)-1]
			up.kids = append(up.kids, n)
		}
		open = append(open, n)
	}
	return top, nil
}

// scan reads a line without its indentation. A '#' at the beginning of a word begins a comment.
func (n *node) scan(s string) error {
	for {
		s = strings.TrimLeft(s, " \t\r")
		if s == "" || s[0] == '#' {
			return nil
		}
		if n.word == "" {
			end := until(s, " \t\r")
			n.word, s = s[:end], s[end:]
			continue
		}
		var a arg
		if end := until(s, "= \":"); end > 0 && end < len(s) && s[end] == '=' {
			a.key, s = s[:end], s[end+1:]
		}
		for more := true; more; {
			var v atom
			var err error
			if v, s, err = scanAtom(s); err != nil {
				return n.errorf("%v", err)
			}
			a.atoms = append(a.atoms, v)
			if more = strings.HasPrefix(s, ":"); more {
				s = s[1:]
			}
		}
		n.args = append(n.args, a)
	}
}

// until returns the index of the first byte of s that is one of ends, or the length of s.
func until(s, ends string) int {
	for i := range len(s) {
		if strings.IndexByte(ends, s[i]) >= 0 {
			return i
		}
	}
	return len(s)
}

// scanAtom reads an atom, which may be empty, and returns what is left of s.
func scanAtom(s string) (atom, string, error) {
	if !strings.HasPrefix(s, `"`) {
		end := until(s, " \t\r:\"")
		return bare(s[:end]), s[end:], nil
	}
	q, err := strconv.QuotedPrefix(s)
	if err != nil {
		return atom{}, s, fmt.Errorf("string not closed: %s", s)
	}
	text, err := strconv.Unquote(q)
	return quoted(text), s[len(q):], err
}

func (n *node) errorf(format string, args ...any) error {
	return fmt.Errorf("line %d: %s: %w", n.line, n.word, fmt.Errorf(format, args...))
}

// clone copies n so that taking arguments leaves the original as it is.
func (n *node) clone() *node {
	c := &node{line: n.line, word: n.word, args: slices.Clone(n.args)}
	for _, k := range n.kids {
		c.kids = append(c.kids, k.clone())
	}
	return c
}
