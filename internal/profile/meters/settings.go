package meters

import (
	"strconv"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/events/dotnet"
	"github.com/ntconv/ntconv/sample"
	"github.com/ntconv/ntconv/schema"
)

// Settings are sample.KindOptions, parsed.
type Settings struct {
	Auto      bool // the kind was not requested
	subjectAs sample.Subject
	TypeName  func(recorded string) string // spells names of types
	// MethodName spells names of methods.
	MethodName func(namespace, name, signature string) string
	labels     []string // keys of the requested labels
	paths      []string // paths of their fields
	weight     string   // path of the field that sample.Events adds up; "" if none
	unit       string
	window     func(ntconv.Ticks) bool
}

// NewSettings parses options. An invalid weight counts as none; callers check it with sample.WeightOf.
func NewSettings(o *sample.KindOptions, window func(ntconv.Ticks) bool) *Settings {
	s := &Settings{subjectAs: o.SubjectAs, window: window}
	for _, label := range o.Labels {
		key, path := sample.LabelOf(label)
		s.labels, s.paths = append(s.labels, key), append(s.paths, path)
	}
	s.weight, s.unit, _ = sample.WeightOf(o.Weight)
	return s
}

// TypeNameOf returns how a Namer, which may be nil, spells names of types: for display if it has no spelling.
func TypeNameOf(n ntconv.Namer) func(recorded string) string {
	return func(recorded string) string {
		if n != nil {
			if name := n.TypeName(recorded); name != "" {
				return name
			}
		}
		return dotnet.TypeName(recorded, false)
	}
}

// MethodNameOf returns how a Namer, which may be nil, spells names of methods: for display if it has no spelling.
func MethodNameOf(n ntconv.Namer) func(namespace, name, signature string) string {
	return func(namespace, name, signature string) string {
		if n != nil {
			if text := n.MethodName(namespace, name, signature); text != "" {
				return text
			}
		}
		return dotnet.Method{Namespace: namespace, Name: name, Signature: signature}.Pretty()
	}
}

// Keys returns the keys of the labels from payloads: those of the kind, then the requested ones.
func (s *Settings) Keys(of *Spec) []string {
	if of.Meter == nil {
		return of.Tags
	}
	return append(of.Tags[:len(of.Tags):len(of.Tags)], s.labels...)
}

// Leaf returns the index of the label whose value becomes the innermost frame, or noSubject.
func (s *Settings) Leaf(of *Spec) int {
	if s.subjectAs == sample.SubjectLabel || s.subjectAs == sample.SubjectDefault && !of.leaf {
		return noSubject
	}
	return of.Subject
}

// Main returns the column of a kind to show first.
func (s *Settings) Main(of *Spec) int {
	if of.Kind == sample.Events && s.weight != "" {
		return len(of.Columns)
	}
	return of.main
}

// Columns returns the columns of a kind.
func (s *Settings) Columns(of *Spec) []Column {
	if of.Kind != sample.Events || s.weight == "" {
		return of.Columns
	}
	return append(of.Columns[:len(of.Columns):len(of.Columns)],
		Column{Type: sample.Type{Type: s.weight, Unit: s.unit}, Scale: ScaleFraction})
}

// inWindow reports whether an interval lies in the selected time.
func (s *Settings) inWindow(begin, end ntconv.Ticks) bool {
	return s.window == nil || s.window(begin) && s.window(end)
}

// appendText appends the value of the i-th requested label.
func (s *Settings) appendText(dst []byte, of *schema.Schema, i int, v ntconv.Value) []byte {
	if of.HasValueNames(s.paths[i]) && (v.Kind() == ntconv.ValueUint || v.Kind() == ntconv.ValueInt) {
		if name := of.ValueName(s.paths[i], v.Uint()); name != "" {
			return append(dst, name...)
		}
	}
	return appendText(dst, v)
}

// textOf returns a value as text, "" if there is none.
func textOf(v ntconv.Value) string { return string(appendText(nil, v)) }

// appendText appends a value as text, nothing if there is none.
func appendText(dst []byte, v ntconv.Value) []byte {
	switch v.Kind() {
	case ntconv.ValueNull, ntconv.ValueError:
		return dst
	case ntconv.ValueString:
		return v.AppendString(dst)
	case ntconv.ValueInt:
		return strconv.AppendInt(dst, v.Int(), 10)
	case ntconv.ValueUint:
		return strconv.AppendUint(dst, v.Uint(), 10)
	}
	return append(dst, v.String()...)
}
