package wire

import (
	"fmt"

	"github.com/ntconv/ntconv/internal/data/bin"
)

// A Label is one element of a label list. Activity, trace and span IDs are in ID, in file order (a span ID in ID[:8]).
// The kinds with a key use Key and Str, or Key and Num. All other kinds use Num.
type Label struct {
	Kind LabelKind
	Value
}

// lastLabel is the bit of the kind byte that marks the last label of a list.
const lastLabel = 0x80

// ParseLabelHeader reads the header of a label list block ("LabelListBlock").
func ParseLabelHeader(c *bin.Cursor) (IDRange, error) { return parseIDRange(c, "LabelListBlock") }

// NextLabels skips the next label list and returns its bytes, borrowed, for [ParseLabels]. It does not decode strings.
// A label of unknown kind has an unknown length: c then fails with ErrUnknown, and the result is nil.
func NextLabels(c *bin.Cursor) []byte {
	list := *c
	start := c.Len()
	for last := false; !last && c.Err() == nil; {
		spec, kind := labelKind(c)
		skipValue(c, spec.Shape)
		last = kind&lastLabel != 0
	}
	if c.Err() != nil {
		return nil
	}
	return list.Bytes(start - c.Len())
}

// labelKind reads a kind byte. c fails if the kind is not defined.
func labelKind(c *bin.Cursor) (spec AttrSpec, kind uint8) {
	at := *c
	kind = c.At("LabelList/Kind").U8()
	if spec = attrSpec(LabelKinds[:], kind&^lastLabel); spec.Name == "" && c.Err() == nil {
		at.Fail("LabelList/Kind", fmt.Errorf("%w %d of label", bin.ErrUnknown, kind&^lastLabel))
		*c = at
	}
	return spec, kind
}

// ParseLabels reads the next label list, appends its labels to dst and returns the extended slice. A label of unknown
// kind ends the list with ErrUnknown; the result has the labels before it. For unsigned see [ParseValue].
func ParseLabels(c *bin.Cursor, dst []Label, unsigned bool) ([]Label, error) {
	for last := false; !last; {
		spec, kind := labelKind(c)
		v := ParseValue(c.At(spec.Name), spec.Shape, unsigned)
		if c.Err() != nil {
			break
		}
		dst = append(dst, Label{LabelKind(kind &^ lastLabel), v})
		last = kind&lastLabel != 0
	}
	return dst, c.Err()
}

// AppendLabels is the inverse of [ParseLabels]. An empty list has no encoding, because its ID is 0, so it appends
// nothing.
func AppendLabels(dst []byte, list []Label, unsigned bool) []byte {
	for i := range list {
		l := &list[i]
		kind := uint8(l.Kind)
		if i == len(list)-1 {
			kind |= lastLabel
		}
		dst = AppendValue(append(dst, kind), attrSpec(LabelKinds[:], uint8(l.Kind)).Shape, &l.Value, unsigned)
	}
	return dst
}
