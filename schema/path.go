package schema

import (
	"slices"
	"strings"

	"github.com/ntconv/ntconv"
)

// A Path leads to a field: names from the outside in. Names of fields may contain dots, so as many names as possible
// are one name joined by dots. An object without a name, as around the values of event counters, need not be named. A
// path leads through a list into the members of its elements.
type Path []string

// ParsePath splits a text at its dots: Payload.Mean is the member Mean of the field Payload, or a field of that name.
func ParsePath(text string) Path { return strings.Split(text, ".") }

// Lookup returns the field that a path leads to, and nil if there is none.
func (s *Schema) Lookup(path Path) *ntconv.Field {
	index := resolve(s.Fields, path, exactly)
	if index == nil {
		return nil
	}
	return fieldAt(s.Fields, index)
}

// Similar returns the path of the field that a path leads to if case is ignored, as the schema spells it, and nil if
// there is none.
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

// resolve returns the indexes of the fields on a path, from the outside in, and nil if it leads nowhere.
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

// innermost returns the type of the elements of a list, or of a list of lists.
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
