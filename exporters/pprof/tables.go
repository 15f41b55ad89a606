package pprof

import (
	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/profile/dictionary"
)

// tables are the tables of a profile. The IDs of mappings are not their numbers, but their positions in the output, because
// some consumers assume this. orderMappings sets them after the last sample.
type tables struct {
	*dictionary.Tables
	ordered []*dictionary.Mapping // in the order in which they are written
	ids     []uint32              // by number - 1
}

func newTables(verbatim bool) *tables { return &tables{Tables: dictionary.New(verbatim)} }

// text returns the index of a string in the string table.
func (t *tables) text(s string) uint64 { return uint64(t.Strings.Add(s)) }

// addProgram adds a mapping that locations may not refer to. It has functions, so that pprof does not look for symbols.
func (t *tables) addProgram(p *ntconv.Mapping) uint32 {
	n := len(t.Mappings())
	id := t.AddMapping(p)
	if all := t.Mappings(); len(all) > n {
		all[id-1].Functions = true
	}
	return id
}

// orderMappings moves the mapping with number first, if it is not 0, to the front and keeps the order of the others.
func (t *tables) orderMappings(first uint32) {
	all := t.Mappings()
	t.ordered, t.ids = t.ordered[:0], make([]uint32, len(all))
	add := func(i uint32) {
		t.ordered = append(t.ordered, &all[i])
		t.ids[i] = uint32(len(t.ordered))
	}
	if first > 0 {
		add(first - 1)
	}
	for i := range uint32(len(all)) {
		if i+1 != first {
			add(i)
		}
	}
}
