package profile

import (
	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/profile/imported"
	"github.com/ntconv/ntconv/internal/profile/meters"
	"github.com/ntconv/ntconv/sample"
)

// of returns the tables for a set of kind k. Imported samples need labels and tags of their own.
func (p *pool) of(k sample.Kind) *pool {
	own := *p
	switch {
	case k == sample.Imported:
		own.labels = newLabelTable(p.Drop)
		own.labels.all, own.labels.none = true, p.labels.none
		tags := meters.NewTagTable()
		own.Tags = &tags
	case meters.Specs()[k].Meter != nil:
		own.labels = p.operations
	}
	return &own
}

// An adoption is a type of imported samples whose events the set has.
type adoption struct {
	number  uint32 // index in set.adopted
	columns []int  // of the set, one per column of the type
	inOrder bool   // columns are the first ones of the set, in their order
}

// adopt adds a type of imported samples to the set. The columns of the set become the union of those of all types:
// samples of a type have the value 0 in columns that only other types have.
func (s *set) adopt(t *ntconv.Type) {
	c := imported.ColumnsOf(t)
	if s.imported == nil {
		s.imported, s.columns = c, nil
	} else {
		merged := s.imported.Merge(c)
		s.imported = &merged
	}
	a := &adoption{number: uint32(len(s.adopted)), columns: s.imported.Indices(c), inOrder: true}
	for i, column := range a.columns {
		a.inOrder = a.inOrder && i == column
	}
	s.adopted = append(s.adopted, t)
	s.adoptions[t] = a
	if old := len(s.columns); old < len(s.imported.Types) {
		s.widen(old)
	}
}

// widen adds the columns of s.imported that the set does not have, with the value 0 for all rows.
func (s *set) widen(old int) {
	s.columns = s.columns[:old:old]
	for _, t := range s.imported.Types[old:] {
		s.columns = append(s.columns, meters.Column{Type: t})
	}
	n := len(s.columns)
	values := make([]int64, len(s.rows)*n)
	for i := range s.rows {
		copy(values[i*n:], s.values[i*old:][:old])
	}
	s.values = values
	s.o = meters.NewObservation(n, 0)
	for i := range s.variances {
		s.variances[i] = make([]float64, n) // imported samples have none
	}
}

// measure sets s.o to the values of an event, and returns the number of its type in s.adopted, 0 if the kind is another
// one than Imported. ok is false if the payload is invalid.
func (s *set) measure(e *ntconv.Event) (adopted uint32, ok bool) {
	if s.imported == nil {
		return 0, s.spec.Measure(e, &s.o)
	}
	if e.Type != s.latest { // nearly all samples have the type of the previous one
		s.latest, s.adoption = e.Type, s.adoptions[e.Type]
	}
	a := s.adoption
	if a.inOrder && len(a.columns) == len(s.columns) {
		return a.number, s.spec.Measure(e, &s.o)
	}
	own := meters.Observation{Values: s.part[:0]}
	for range a.columns {
		own.Values = append(own.Values, 0)
	}
	s.part = own.Values
	ok = s.spec.Measure(e, &own)
	for i, c := range a.columns {
		s.o.Values[c] = own.Values[i]
	}
	return a.number, ok
}

// importedColumns returns the columns of a type of imported samples.
func importedColumns(t *ntconv.Type) (list []meters.Column) {
	for _, v := range imported.ColumnsOf(t).Types {
		list = append(list, meters.Column{Type: v})
	}
	return list
}
