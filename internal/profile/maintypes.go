package profile

import (
	"cmp"
	"github.com/ntconv/ntconv/sample"
	"slices"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/profile/imported"
)

// MainTypes collects the sample types that imported profiles show first, for formats that show one sample type at a
// time. The zero value is ready to use. It is not safe for concurrent use.
type MainTypes struct {
	last *ntconv.Type
	main map[sample.Type]bool
}

// See notes the type of e. It borrows e.
func (m *MainTypes) See(e *ntconv.Event) {
	if e.Kind != ntconv.KindEvent || e.Type == m.last {
		return
	}
	m.last = e.Type
	if c := imported.ColumnsOf(e.Type); c != nil && len(c.Types) > 0 {
		if m.main == nil {
			m.main = make(map[sample.Type]bool)
		}
		m.main[c.Types[c.Main()]] = true
	}
}

// Order returns the indexes of sample types in display order: main types first, otherwise unchanged.
func (m *MainTypes) Order(types []sample.Type) []int {
	order := make([]int, len(types))
	for i := range order {
		order[i] = i
	}
	rank := func(i int) int {
		if m.main[types[i]] {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(rank(i), rank(j)) })
	return order
}
