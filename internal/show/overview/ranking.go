package overview

import (
	"cmp"
	"slices"
	"strings"
)

// Limits of a ranking. The samples of further names are added up as the rest.
const (
	maxNames     = 10_000
	maxNameBytes = 4 << 20
)

// A ranking adds up samples by name, such as allocations by type, separately for each source.
type ranking struct {
	rows   map[rankingKey]*rankingRow
	bytes  int
	recent [4]*rankingRow // of the latest names
	next   int            // index of the oldest one
}

type rankingKey struct {
	name   string
	source uint8
	rest   bool // the row of the names beyond the limits
}

type rankingRow struct {
	rankingKey
	samples int64
	value   int64
}

// add adds a sample, and returns its row.
func (r *ranking) add(name string, source uint8, count, value int64) *rankingRow {
	row := r.latest(name, source)
	if row == nil {
		row = r.row(name, source)
		r.recent[r.next] = row
		r.next = (r.next + 1) % len(r.recent)
	}
	row.samples += count
	row.value += value
	return row
}

// latest returns the row of a name if it is among the latest ones, or nil.
func (r *ranking) latest(name string, source uint8) *rankingRow {
	for _, row := range r.recent {
		if row != nil && row.name == name && row.source == source && !row.rest {
			return row
		}
	}
	return nil
}

func (r *ranking) row(name string, source uint8) *rankingRow {
	key := rankingKey{name: name, source: source}
	row := r.rows[key]
	if row != nil {
		return row
	}
	if len(r.rows) >= maxNames || r.bytes+len(name) > maxNameBytes {
		key = rankingKey{source: source, rest: true}
		if row = r.rows[key]; row != nil {
			return row
		}
	}
	if r.rows == nil {
		r.rows = map[rankingKey]*rankingRow{}
	}
	key.name = strings.Clone(key.name)
	r.bytes += len(key.name)
	row = &rankingRow{rankingKey: key}
	r.rows[key] = row
	return row
}

// A Part is the part of a total with one name.
type Part struct {
	Name  string `json:"name"` // "" if the trace states none
	Count int64  `json:"count"`
	// Value is the total of the last value of the kind of profile: bytes of allocations, nanoseconds of pauses.
	Value int64 `json:"value"`
	// Rest means that the part holds all names beyond 10,000.
	Rest bool `json:"rest,omitempty"`
}

// list returns the parts from the sources that are used, the largest first: by value, or else by count.
func (r *ranking) list(used []bool, byValue bool) []Part {
	index := map[string]int{}
	list := []Part{}
	for key, row := range r.rows {
		if !used[key.source] {
			continue
		}
		id := key.name
		if key.rest {
			id = "\x00rest"
		}
		i, ok := index[id]
		if !ok {
			i = len(list)
			index[id] = i
			list = append(list, Part{Name: key.name, Rest: key.rest})
		}
		p := &list[i]
		p.Count += row.samples
		p.Value += row.value
	}
	weight := func(p *Part) int64 {
		if byValue {
			return p.Value
		}
		return p.Count
	}
	slices.SortFunc(list, func(a, b Part) int {
		return cmp.Or(cmp.Compare(weight(&b), weight(&a)), cmp.Compare(b.Count, a.Count), cmp.Compare(a.Name, b.Name))
	})
	return list
}
