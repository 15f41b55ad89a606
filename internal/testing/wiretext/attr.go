package wiretext

import (
	"encoding/hex"
	"strconv"

	"github.com/ntconv/ntconv/internal/data/bin"
	"github.com/ntconv/ntconv/internal/trace/wire"
)

// lastLabel is the bit in the kind of a label that marks the end of a list.
const lastLabel = 0x80

// printAttrs appends the optional elements of a row as arguments, in their order, until c is empty. Bytes after an
// unknown kind become an argument with the given key.
func printAttrs(n *node, c *bin.Cursor, table []wire.AttrSpec, rest string) {
	for c.Len() > 0 {
		before := *c
		kind := c.U8()
		if int(kind) >= len(table) || table[kind].Name == "" {
			n.hex(rest, before.Rest())
			c.Rest()
			return
		}
		printValue(n, &table[kind], c)
	}
}

func printValue(n *node, spec *wire.AttrSpec, c *bin.Cursor) {
	v := wire.ParseValue(c, spec.Shape, false)
	unsigned, signed := bare(strconv.FormatUint(v.Uint(), 10)), bare(strconv.FormatInt(v.Num, 10))
	switch spec.Shape {
	case wire.ShapeID16:
		n.put(spec.Name, bare(hex.EncodeToString(v.ID[:])))
	case wire.ShapeID8:
		n.put(spec.Name, bare(hex.EncodeToString(v.ID[:8])))
	case wire.ShapeString:
		n.put(spec.Name, quoted(v.Str))
	case wire.ShapeKeyString:
		n.put(spec.Name, quoted(v.Key), quoted(v.Str))
	case wire.ShapeKeyNumber:
		n.put(spec.Name, quoted(v.Key), signed)
	default:
		n.put(spec.Name, unsigned)
	}
}

// buildAttrs appends the elements for the arguments of n that are in the table. If list is set, the last one ends a
// label list.
func (a *assembler) buildAttrs(n *node, table []wire.AttrSpec, list bool) {
	last := -1
	for i := range n.args {
		arg := &n.args[i]
		for kind := range table {
			if spec := &table[kind]; spec.Name != "" && spec.Name == arg.key {
				arg.used = true
				last = len(a.out)
				v := a.value(n, spec, arg.atoms)
				a.out = wire.AppendValue(append(a.out, byte(kind)), spec.Shape, &v, false)
			}
		}
	}
	if list && last >= 0 {
		a.out[last] |= lastLabel
	}
}

// value is the inverse of printValue.
func (a *assembler) value(n *node, spec *wire.AttrSpec, atoms []atom) (v wire.Value) {
	atoms = append(atoms, atom{}, atom{}) // absent ones fail below, or are empty strings
	first := atoms[0]
	switch spec.Shape {
	case wire.ShapeID16, wire.ShapeID8:
		size := 16
		if spec.Shape == wire.ShapeID8 {
			size = 8
		}
		if id := a.parseHex(n, first.text); copy(v.ID[:size], id) != size || len(id) != size {
			a.fail(n, "%s wants %d bytes", spec.Name, size)
		}
	case wire.ShapeString:
		v.Str = first.text
	case wire.ShapeKeyString:
		v.Key, v.Str = first.text, atoms[1].text
	case wire.ShapeKeyNumber:
		var err error
		v.Key = first.text
		if v.Num, err = strconv.ParseInt(atoms[1].text, 0, 64); err != nil {
			a.fail(n, "%s wants a key and a number", spec.Name)
		}
	case wire.ShapeU8:
		v.Num = int64(a.parseNum(n, first.text, 8))
	default:
		v.Num = int64(a.parseNum(n, first.text, 64))
	}
	return v
}

// sized appends the output of body after its size in a u16, which an argument may override.
func (a *assembler) sized(n *node, key string, body func()) {
	start := len(a.out)
	a.out = append(a.out, 0, 0)
	body()
	size := len(a.out) - start - 2
	v := a.num(n, key, 16, uint64(size))
	if size > 1<<16-1 && v == uint64(size) {
		a.fail(n, "%d bytes do not fit", size)
	}
	a.out[start], a.out[start+1] = byte(v), byte(v>>8)
}

func printThreads(n *node, c *bin.Cursor) error {
	for c.Len() > 0 {
		before := *c
		row := c.Sub(int(c.U16()))
		k := &node{word: "row"}
		k.put("", bare(strconv.FormatUint(row.Varuint64(), 10)))
		printAttrs(k, &row, wire.ThreadKinds[:], "extra")
		if row.Err() != nil {
			*c = before
			break
		}
		n.kids = append(n.kids, k)
	}
	return nil
}

func (a *assembler) buildThread(k *node) {
	a.sized(k, "size", func() {
		a.out = bin.AppendVaruint(a.out, a.num(k, "", 64, 0))
		a.buildAttrs(k, wire.ThreadKinds[:], false)
		a.out = append(a.out, a.hex(k, "extra")...)
	})
}

// printLabels prints as many lists as the header states. It decodes numbers as zigzag, even if one-collect has written
// them otherwise, because only the bytes must round-trip.
func printLabels(n *node, c *bin.Cursor) error {
	r, err := wire.ParseLabelHeader(c)
	n.num("first", uint64(r.First), 1)
	lists := uint64(0)
	for ; lists < uint64(r.Count) && c.Len() > 0; lists++ {
		before := *c
		list := wire.NextLabels(c)
		if c.Err() != nil {
			*c = before
			break
		}
		k := n.kid("list")
		for lc := bin.New(list, 0); lc.Len() > 0; {
			printValue(k, &wire.LabelKinds[lc.U8()&^lastLabel], &lc)
		}
	}
	n.num("count", uint64(r.Count), lists)
	return err
}

func (a *assembler) buildLabels(k *node) { a.buildAttrs(k, wire.LabelKinds[:], true) }
