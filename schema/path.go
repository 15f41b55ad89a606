package schema

import (
	"slices"
	"strings"

	"github.com/ntconv/ntconv"
)

// A Path identifies a field by names, from the outermost to the innermost. Names of fields may contain dots; a Path
// therefore matches the longest sequence of its names, joined by dots, that is the name of a field. It may omit an
// object without a name, as around the values of event counters. Through a list, a Path leads to a member of the
// elements.
type Path []string

// ParsePath splits text at its dots: Payload.Mean is the member Mean of the field Payload, or a field named
// Payload.Mean.
func ParsePath(text string) Path { return strings.Split(text, ".") }

// Lookup returns the field with a path, or nil if there is none. The caller must not change it.
func (s *Schema) Lookup(path Path) *ntconv.Field {
	index := resolve(s.Fields, path, exactly)
	if index == nil {
		return nil
	}
	return fieldAt(s.Fields, index)
}

// Similar returns the path, in the spelling of the schema, of the field that matches path if letter case is ignored. It
// returns nil if there is none.
func (s *Schema) Similar(path Path) Path {
	var found Path
	fields := s.Fields
	for _, i := range resolve(fields, path, strings.EqualFold) {
		if fields[i].Name != "" {
			found = append(found, fields[i].Name)
		}
		fields = innermost(&fields[i].Type).Fields
	}
	return found
}

// resolve returns the indices of the fields on a path, from the outermost to the innermost, or nil if there is no such
// field.
func resolve(fields []ntconv.Field, path Path, same func(a, b string) bool) []int {
	for n := len(path); n > 0; n-- {
		name := strings.Join(path[:n], ".")
		i := slices.IndexFunc(fields, func(f ntconv.Field) bool { return same(f.Name, name) })
		switch {
		case i < 0:
		case n == len(path):
			return []int{i}
		default:
			if rest := resolve(innermost(&fields[i].Type).Fields, path[n:], same); rest != nil {
				return append([]int{i}, rest...)
			}
		}
	}
	for i := range fields {
		if members := innermost(&fields[i].Type).Fields; fields[i].Name == "" && len(members) > 0 {
			if rest := resolve(members, path, same); rest != nil {
				return append([]int{i}, rest...)
			}
		}
	}
	return nil
}

func exactly(a, b string) bool { return a == b }

// innermost returns the type of the elements of a list, or of nested lists.
func innermost(t *ntconv.FieldType) *ntconv.FieldType {
	for t.Elem != nil {
		t = t.Elem
	}
	return t
}

func fieldAt(fields []ntconv.Field, index []int) *ntconv.Field {
	f := &fields[index[0]]
	for _, i := range index[1:] {
		f = &innermost(&f.Type).Fields[i]
	}
	return f
}
