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

// adopt adds a type of imported samples to the set. It returns false, and notes the reason, if the columns of the type
// are not compatible with those of the types before it.
func (s *set) adopt(t *ntconv.Type, report *ntconv.Report) bool {
	c := imported.ColumnsOf(t)
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
func (s *set) take(t *ntconv.Type, c *imported.Columns) {
	s.imported, s.adopted = c, []*ntconv.Type{t}
	s.columns = importedColumns(t)
	s.o = meters.NewObservation(len(s.columns), 0)
}

// importedColumns returns the columns of a type of imported samples.
func importedColumns(t *ntconv.Type) (list []meters.Column) {
	for _, v := range imported.ColumnsOf(t).Types {
		list = append(list, meters.Column{Type: v})
	}
	return list
}
