package profile

import (
	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/origin"
)

// of returns the tables for a set of kind k. Imported samples need labels and tags of their own.
func (p *pool) of(k Kind) *pool {
	if k != Imported {
		return p
	}
	labels := newLabelTable(p.drop)
	labels.all, labels.none = true, p.labels.none
	return &pool{p.drop, p.stacks, labels, newTagTable()}
}

// adopt adds a type of imported samples to the set. It returns false, and notes the reason, if the columns of the type
// are not compatible with those of the types before it.
func (s *set) adopt(t *ntconv.Type, report *ntconv.Report) bool {
	c := origin.ColumnsOf(t)
	if s.imported == nil {
		s.take(t, c)
		return true
	}
	if !s.imported.Compatible(c) {
		report.Note(ntconv.CodeNotCarried, 1, -1,
			"a profile with other sample types than the first one; select the process of one of them")
		return false
	}
	merged := s.imported.Merge(c)
	s.imported, s.adopted = &merged, append(s.adopted, t)
	return true
}

// take makes the columns of the first type those of the set.
func (s *set) take(t *ntconv.Type, c *origin.Columns) {
	s.imported, s.adopted = c, []*ntconv.Type{t}
	spec := specs[Imported]
	spec.columns = importedColumns(t)
	s.spec = &spec
	s.m.values = make([]int64, len(c.Types))
}

// importedColumns returns the columns of a type of imported samples.
func importedColumns(t *ntconv.Type) (list []column) {
	for _, v := range origin.ColumnsOf(t).Types {
		list = append(list, column{v, scaleNone})
	}
	return list
}

// measureImported reads the values of the columns, which are all fields after the first one.
func measureImported(e *ntconv.Event, m *measurement) bool {
	i := -1
	for _, v := range e.Fields() {
		if i == len(m.values) {
			break
		}
		if i >= 0 {
			if v.Kind() != ntconv.ValueInt {
				return false
			}
			m.values[i] = v.Int()
		}
		i++
	}
	return i == len(m.values)
}
