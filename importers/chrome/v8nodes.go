package chrome

import (
	"math"
	"strconv"

	"github.com/ntconv/ntconv/internal/data/jsonio"
)

// v8Nodes adds the nodes of a profile. Nodes in chunks refer to their parent, nodes of complete profiles to their
// children.
func (l *loader) v8Nodes(t *tree, nodes []byte) error {
	for v := range jsonio.EachElement(nodes) {
		if err := l.v8Node(t, v); err != nil {
			return err
		}
	}
	return nil
}

// v8Node adds a node. Its parent and children may be unknown yet; then they are added as undefined nodes.
func (l *loader) v8Node(t *tree, value []byte) error {
	var id, parent, frame, children []byte
	for name, v := range jsonio.EachMember(value) {
		switch string(name) {
		case `"id"`:
			id = v
		case `"parent"`:
			parent = v
		case `"callFrame"`:
			frame = v
		case `"children"`:
			children = v
		}
	}
	if isNull(id) {
		return nil
	}
	i, err := t.node(unquoted(id))
	if err != nil {
		return err
	}
	t.nodes[i].frame = l.callFrame(frame)
	if !isNull(parent) {
		if t.nodes[i].parent, err = t.node(unquoted(parent)); err != nil {
			return err
		}
	}
	for c := range jsonio.EachElement(children) {
		child, err := t.node(unquoted(c))
		if err != nil {
			return err
		}
		t.nodes[child].parent = i
	}
	return nil
}

// int32Of returns a number, or 0 if the value is not a number or is negative.
func int32Of(value []byte) int32 {
	n, err := strconv.ParseInt(string(value), 10, 32)
	if err != nil || n < 0 {
		return 0
	}
	return int32(n)
}

// fromZero converts a position that counts from 0 to one that counts from 1. It returns 0 if the position is unknown.
func fromZero(value []byte) int32 {
	if n := int32Of(value); n < math.MaxInt32 && isNumber(value) && value[0] != '-' {
		return n + 1
	}
	return 0
}

// callFrame returns the frame of a function. V8 numbers lines and columns from 0.
func (l *loader) callFrame(value []byte) int32 {
	var name, url []byte
	line, column := int32(0), int32(0)
	for key, v := range jsonio.EachMember(value) {
		switch string(key) {
		case `"functionName"`:
			name = unquoted(v)
		case `"url"`:
			url = unquoted(v)
		case `"lineNumber"`:
			line = fromZero(v)
		case `"columnNumber"`:
			column = fromZero(v)
		}
	}
	switch string(name) {
	case "(root)":
		return rootFrame
	case "(idle)":
		return idleFrame
	case "":
		name = []byte("(anonymous)") // the name that DevTools shows
	}
	return l.names.frame(name, url, nil, line, column)
}
