package writer

import "github.com/ntconv/ntconv"

// known returns t or, if Options.DropUnknown is set, a copy without the parts that the source's reader could not parse.
// first means that the row of the type is written for the first time; only then known counts the type.
func (w *Writer) known(t *ntconv.Type, first bool) *ntconv.Type {
	at := firstOpaque(t.Fields)
	dropped := len(t.Fields) - at
	if len(t.OptionalExtra) > 0 {
		dropped++
	}
	if dropped == 0 {
		return t
	}
	code, n := ntconv.CodeUnknownKept, 1
	if w.opts.DropUnknown {
		code, n = ntconv.CodeUnknownDropped, dropped
		c := *t
		c.Fields, c.OptionalExtra = t.Fields[:at:at], nil
		t = &c
	}
	if first {
		w.opts.Report.Add(code, uint64(n), -1)
	}
	return t
}

// firstOpaque returns the index of the first field that could not be fully parsed, or len(fields) if there is none.
func firstOpaque(fields []ntconv.Field) int {
	for i := range fields {
		if opaque(&fields[i].Type) {
			return i
		}
	}
	return len(fields)
}

// opaque reports whether a part of t could not be parsed.
func opaque(t *ntconv.FieldType) bool {
	return t.Code == 0 || t.Elem != nil && opaque(t.Elem) || firstOpaque(t.Fields) < len(t.Fields)
}
