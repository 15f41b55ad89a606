package writer

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/data/bin"
	"github.com/ntconv/ntconv/internal/trace/wire"
)

// validUTF8 replaces bytes that are not UTF-8 by U+FFFD, as readers do, so that rewriting a trace does not change it.
func validUTF8(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }

// metadataRow converts a type to a metadata row.
func metadataRow(t *ntconv.Type, id uint32) (m wire.Metadata, err error) {
	m = wire.Metadata{
		ID: id, Provider: validUTF8(t.Provider), EventID: t.ID, Name: validUTF8(t.Name),
		Opcode: t.Opcode, Level: t.Level, Version: t.Version, Keywords: t.Keywords, ProviderGUID: t.GUID,
		Message: validUTF8(t.Message), Description: validUTF8(t.Description),
		Extra: t.Extra, OptionalExtra: t.OptionalExtra,
	}
	for kind, has := range [...]bool{
		wire.OptOpcode: t.HasOpcode, wire.OptKeywords: t.Keywords != 0,
		wire.OptMessage: t.Message != "", wire.OptDescription: t.Description != "",
		wire.OptProviderGUID: !t.GUID.IsZero(), wire.OptLevel: t.Level != 0, wire.OptVersion: t.Version != 0,
	} {
		if has {
			m.Has |= 1 << kind
		}
	}
	for _, a := range t.Attrs {
		m.KeyValues = append(m.KeyValues, wire.KeyValue{Key: validUTF8(a.Key), Value: validUTF8(a.Value)})
	}
	m.Fields, err = fieldRows(t.Fields)
	return m, err
}

// fieldRows converts a field list.
func fieldRows(fields []ntconv.Field) (out []wire.Field, err error) {
	for i := range fields {
		f := wire.Field{Name: validUTF8(fields[i].Name), Extra: fields[i].Extra}
		if fields[i].Type.Code == 0 { // the source's reader could not parse the type; Extra has its bytes
			f.Opaque = true
		} else if f.Type, err = fieldType(&fields[i].Type); err != nil {
			return nil, fmt.Errorf("field %q: %w", f.Name, err)
		}
		out = append(out, f)
	}
	return out, nil
}

// fieldType converts a field type. The error wraps ntconv.ErrUnsupported if the format has no such type.
func fieldType(t *ntconv.FieldType) (out wire.Type, err error) {
	out = wire.Type{Code: wire.TypeCode(t.Code), Count: t.Count}
	spec := out.Code.Spec()
	switch {
	case spec.Name == "":
		return out, fmt.Errorf("%v does not exist in nettrace: %w", t.Code, ntconv.ErrUnsupported)
	case spec.Elem && t.Elem == nil:
		return out, fmt.Errorf("%v without an element type: %w", t.Code, ntconv.ErrUnsupported)
	case spec.Elem:
		elem, err := fieldType(t.Elem)
		if err != nil {
			return out, err
		}
		out.Elem = &elem
	case t.Code == ntconv.TypeObject:
		out.Fields, err = fieldRows(t.Fields)
	}
	return out, err
}

// threadRow converts a thread to a row. native is the pointer size of the trace in bytes.
func threadRow(th *ntconv.Thread, index uint64, native uint8) wire.Thread {
	row := wire.Thread{Index: index, Name: validUTF8(th.Name), TID: th.TID}
	if th.Name != "" {
		row.Has |= 1 << wire.ThreadName
	}
	if th.TID != ntconv.TIDUnknown {
		row.Has |= 1 << wire.ThreadTID
	}
	attr := func(key, value string) {
		row.KeyValues = append(row.KeyValues, wire.KeyValue{Key: validUTF8(key), Value: validUTF8(value)})
	}
	for _, a := range th.Attrs {
		attr(a.Key, a.Value)
	}
	p := th.Process
	if p == nil {
		p = &ntconv.Process{}
	}
	row.PID = p.PID
	row.Has |= 1 << wire.ThreadPID
	if p.Host != "" {
		attr(wire.AttrHost, p.Host)
	}
	if p.Name != "" {
		attr(wire.AttrProcessName, p.Name)
	}
	if p.PointerSize != 0 && p.PointerSize != native {
		attr(wire.AttrPointerSize, strconv.Itoa(int(p.PointerSize)))
	}
	for _, a := range p.Attrs {
		attr(wire.AttrProcess+a.Key, a.Value)
	}
	return row
}

// appendStack appends a stack row: its size in bytes and its addresses. It counts frame names, which the format lacks.
func (w *Writer) appendStack(dst []byte, s *ntconv.Stack) ([]byte, error) {
	pcs := s.PCs
	if len(s.Frames) > 0 {
		if len(pcs) == 0 {
			return dst, fmt.Errorf("stack of %d frames without addresses: %w: synthesize addresses first",
				len(s.Frames), ntconv.ErrUnsupported)
		}
		w.opts.Report.Add(ntconv.CodeNamesDropped, uint64(len(s.Frames)), -1)
	}
	n := len(pcs) * w.large
	if n > maxStackBytes && !w.opts.AllowLarge {
		return dst, &ntconv.LimitError{
			Limit: LimitStack, Value: int64(maxStackBytes / w.large), Asked: int64(len(pcs)), Unit: "addresses",
		}
	}
	dst = bin.AppendU32(dst, uint32(n))
	for _, pc := range pcs {
		if w.large == 4 && pc > math.MaxUint32 {
			return dst, fmt.Errorf("stack with address %#x in a trace of 4-byte addresses: %w",
				pc, ntconv.ErrUnsupported)
		}
		dst = appendWord(dst, pc, w.large)
	}
	return dst, nil
}

// unitSuffix is appended to the key of a number label to form the key of the string label that holds its unit.
const unitSuffix = "#unit"

// looksLikeUnit reports whether a reader would mistake next for the unit of number. appendLabels then writes an empty
// unit between them.
func looksLikeUnit(number, next *ntconv.Label) bool {
	return next.Kind == ntconv.LabelString && next.Key == number.Key+unitSuffix
}

// appendLabels appends the rows of a label list. A unit becomes a label of its own.
func appendLabels(dst []wire.Label, list []ntconv.Label) ([]wire.Label, error) {
	for i := range list {
		l := &list[i]
		if l.Kind < ntconv.LabelActivityID || l.Kind > ntconv.LabelVersion {
			return dst, fmt.Errorf("label of kind %d: %w", l.Kind, ntconv.ErrUnsupported)
		}
		dst = append(dst, wire.Label{
			Kind:  wire.LabelKind(l.Kind),
			Value: wire.Value{Key: validUTF8(l.Key), Str: validUTF8(l.Str), Num: l.Num, ID: l.ID},
		})
		if l.Kind == ntconv.LabelInt && (l.Unit != "" || i+1 < len(list) && looksLikeUnit(l, &list[i+1])) {
			dst = append(dst, wire.Label{
				Kind:  wire.LabelString,
				Value: wire.Value{Key: validUTF8(l.Key + unitSuffix), Str: validUTF8(l.Unit)},
			})
		}
	}
	return dst, nil
}
