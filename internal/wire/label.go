package wire

import (
	"fmt"

	"github.com/ntconv/ntconv/internal/bin"
)

// A Label is one element of a label list. Its value is in ID for activity, trace and span ids (a span id in ID[:8]; all
// in file order), in Key and Str or Key and Num for the two open kinds, in Num for the rest.
type Label struct {
	Kind LabelKind
	Value
}

// lastLabel is the bit of the kind byte that ends a list.
const lastLabel = 0x80

// ParseLabelHeader reads the header of a label list block ("LabelListBlock").
func ParseLabelHeader(c *bin.Cursor) (IDRange, error) { return parseIDRange(c, "LabelListBlock") }

// NextLabels passes over the next label list and returns its bytes, borrowed, without decoding text: what
// [ParseLabels] reads. A list with a label of unknown kind has no known end: c fails with ErrUnknown.
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

// labelKind reads a kind byte and fails if it is not defined.
func labelKind(c *bin.Cursor) (spec AttrSpec, kind uint8) {
	at := *c
	kind = c.At("LabelList/Kind").U8()
	if spec = attrSpec(LabelKinds[:], kind&^lastLabel); spec.Name == "" && c.Err() == nil {
		at.Fail("LabelList/Kind", fmt.Errorf("%w %d of label", bin.ErrUnknown, kind&^lastLabel))
		*c = at
	}
	return spec, kind
}

// ParseLabels reads the next label list and appends it to dst. Labels of unknown kind end it with ErrUnknown; the
// labels before them are returned. For unsigned see [ParseValue].
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

// AppendLabels is the inverse of [ParseLabels]. An empty list cannot be expressed and appends nothing: its id is 0.
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
