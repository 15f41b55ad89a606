package profile

import (
	"slices"

	"github.com/ntconv/ntconv"
)

// of returns what a set of a kind shares with the others.
func (p *pool) of(k Kind) *pool {
	if k != Imported {
		return p
	}
	labels := newLabelTable(p.drop)
	labels.all, labels.none = true, p.labels.none
	return &pool{p.drop, p.stacks, labels, newTagTable()}
}

// adopt makes a set of kind Imported one of the columns that a type has, and reports whether samples of the type can be summed
// up in it: all must be of the same profile, or of profiles with the same types of values.
func (s *set) adopt(t *ntconv.Type, report *ntconv.Report) bool {
	o := OriginOf(t)
	if s.origin == nil {
		s.take(o)
		return true
	}
	if !slices.Equal(s.origin.Types, o.Types) || s.origin.PeriodType != o.PeriodType {
		report.Note(ntconv.CodeNotCarried, 1, -1, "a profile with other types of values than the first one; choose one with --pid")
		return false
	}
	s.origin = s.origin.with(o)
	return true
}

// take makes the columns those of a profile.
func (s *set) take(o *Origin) {
	s.origin = o
	spec := specs[Imported]
	for _, v := range o.Types {
		spec.columns = append(spec.columns, column{v, scaleNone})
	}
	s.spec = &spec
	s.m.values = make([]int64, len(o.Types))
}

// with returns what two profiles say together, as pprof's own merge would put it.
func (o *Origin) with(p *Origin) *Origin {
	m := *o
	m.Period = max(o.Period, p.Period)
	m.Duration += p.Duration
	if m.Time == 0 || p.Time != 0 && p.Time < m.Time {
		m.Time = p.Time
	}
	for _, c := range p.Comments {
		if !slices.Contains(m.Comments, c) {
			m.Comments = append(slices.Clip(m.Comments), c)
		}
	}
	if m.Default == "" {
		m.Default = p.Default
	}
	if m.DocURL == "" {
		m.DocURL = p.DocURL
	}
	return &m
}

// measureImported reads the fields behind the first one.
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
