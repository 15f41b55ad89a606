package writer

import "github.com/ntconv/ntconv"

// known returns the type without what the source's reader did not understand, if Options.DropUnknown is set, and else
// the type. first says that the type is described for the first time, so that it is counted once.
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

// firstOpaque returns the index of the first field of which not all is understood, and the number of fields if there is
// none.
func firstOpaque(fields []ntconv.Field) int {
	for i := range fields {
		if opaque(&fields[i].Type) {
			return i
		}
	}
	return len(fields)
}

func opaque(t *ntconv.FieldType) bool {
	return t.Code == 0 || t.Elem != nil && opaque(t.Elem) || firstOpaque(t.Fields) < len(t.Fields)
}
