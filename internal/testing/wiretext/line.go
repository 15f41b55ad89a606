package wiretext

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// A node is a line with the lines below it, which have a deeper indentation.
type node struct {
	line int // line number in the text; 0 for nodes built from bytes
	word string
	args []arg
	kids []*node
}

// An arg is "key=value" or only "value". The atoms of a value are separated by colons.
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

// parse parses lines into a list of trees.
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

// scan parses a line without its indentation. A '#' at the start of a word starts a comment.
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

// until returns the index of the first byte of s that occurs in ends, or the length of s.
func until(s, ends string) int {
	for i := range len(s) {
		if strings.IndexByte(ends, s[i]) >= 0 {
			return i
		}
	}
	return len(s)
}

// scanAtom parses an atom, which may be empty, and returns the rest of s.
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

// clone copies n, so that consuming arguments does not change the original.
func (n *node) clone() *node {
	c := &node{line: n.line, word: n.word, args: slices.Clone(n.args)}
	for _, k := range n.kids {
		c.kids = append(c.kids, k.clone())
	}
	return c
}
