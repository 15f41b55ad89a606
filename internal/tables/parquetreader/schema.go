package parquetreader

import (
	"fmt"

	"github.com/ntconv/ntconv"
)

// A node is a group or a column of the schema.
type node struct {
	element
	nodes []*node
	// leaf is the position among the leaf columns; it is -1 for a group.
	leaf int
	// definition and repetition are the largest levels inside the node.
	definition, repetition int
}

// child returns the child with the given name, or nil.
func (n *node) child(name string) *node {
	for _, c := range n.nodes {
		if c.name == name {
			return c
		}
	}
	return nil
}

// A schemaBuilder builds the tree of nodes from the elements, which the file stores in depth-first order.
type schemaBuilder struct {
	elements []element
	limits   *Limits
	path     []string
	columns  []Column
}

// buildSchema returns the root and the leaf columns of a schema.
func buildSchema(elements []element, l *Limits) (*node, []Column, error) {
	if len(elements) == 0 {
		return nil, nil, fmt.Errorf("%w: the schema has no root", ntconv.ErrCorrupt)
	}
	// The repetition of the root has no meaning, but some writers set it.
	elements[0].repeats = required
	b := &schemaBuilder{elements: elements, limits: l}
	root, err := b.node(0, 0, 0)
	if err == nil && len(b.elements) > 0 {
		err = fmt.Errorf("%w: the schema has %d elements more than its groups", ntconv.ErrCorrupt, len(b.elements))
	}
	return root, b.columns, err
}

func (b *schemaBuilder) node(depth, definition, repetition int) (*node, error) {
	if len(b.elements) == 0 {
		return nil, fmt.Errorf("%w: the schema ends within a group", ntconv.ErrCorrupt)
	}
	if depth > b.limits.Depth {
		return nil, &ntconv.LimitError{
			Limit: LimitDepth,
			Value: int64(b.limits.Depth),
			Asked: int64(depth),
			Unit:  "levels",
		}
	}
	n := &node{element: b.elements[0], leaf: -1}
	b.elements = b.elements[1:]
	switch n.repeats {
	case optional:
		definition++
	case repeated:
		definition++
		repetition++
	}
	n.definition, n.repetition = definition, repetition
	if depth > 0 {
		b.path = append(b.path, n.name)
		defer func() { b.path = b.path[:len(b.path)-1] }()
	}
	if n.physical >= 0 {
		return n, b.leaf(n, depth)
	}
	if n.element.children < 0 || n.element.children > int64(len(b.elements)) {
		return nil, fmt.Errorf("%w: group %q has %d children, but the schema has %d elements left",
			ntconv.ErrCorrupt, n.name, n.element.children, len(b.elements))
	}
	for range n.element.children {
		c, err := b.node(depth+1, definition, repetition)
		if err != nil {
			return nil, err
		}
		n.nodes = append(n.nodes, c)
	}
	return n, nil
}

// leaf makes n a leaf column.
func (b *schemaBuilder) leaf(n *node, depth int) error {
	if depth == 0 || n.element.children > 0 {
		return fmt.Errorf("%w: column %q cannot have children or be the root", ntconv.ErrCorrupt, n.name)
	}
	c := Column{
		Path: append(
			[]string(nil),
			b.path...), Physical: n.physical, Optional: n.repeats == optional, Scale: int(n.scale),
		MaxDefinition: n.definition, MaxRepetition: n.repetition,
	}
	if n.physical == FixedLenByteArray {
		if n.length <= 0 || n.length > b.limits.PageBytes {
			return fmt.Errorf("%w: column %q has values of %d bytes", ntconv.ErrCorrupt, c.Name(), n.length)
		}
		c.Length = int(n.length)
	}
	n.annotate(&c)
	n.leaf, c.leaf = len(b.columns), len(b.columns)
	b.columns = append(b.columns, c)
	return nil
}

// annotate sets the logical type of a column (LogicalTypes.md). ConvertedType applies only without a LogicalType.
func (n *node) annotate(c *Column) {
	newer := [...]Logical{
		1:  String,
		4:  Enum,
		5:  Decimal,
		6:  Date,
		7:  Time,
		8:  Timestamp,
		10: Integer,
		12: JSON,
		13: BSON,
		14: UUID,
	}
	older := [...]Logical{0: String, 4: Enum, 5: Decimal, 6: Date, 7: Time, 8: Time, 9: Timestamp, 10: Timestamp,
		11: Integer, 12: Integer, 13: Integer, 14: Integer, 15: Integer, 16: Integer, 17: Integer, 18: Integer, 19: JSON, 20: BSON, 21: Interval}
	if a := n.annotation; a > 0 {
		c.Logical = OtherLogical
		if int(a) < len(newer) && newer[a] != NoLogical {
			c.Logical = newer[a]
		}
		c.Unit, c.UTC, c.Bits, c.Unsigned = n.unit, n.utc, int(n.bits), n.unsigned
		return
	}
	if n.converted < 0 || n.converted >= int64(len(older)) {
		return
	}
	switch c.Logical = older[n.converted]; c.Logical {
	case Time, Timestamp:
		c.UTC, c.Unit = true, 1000
		if n.converted == 7 || n.converted == 9 {
			c.Unit = 1_000_000
		}
	case Integer:
		c.Unsigned = n.converted < 15
		c.Bits = 8 << ((n.converted - 11) % 4)
	}
}
