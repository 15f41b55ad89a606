package imported

import (
	"slices"
	"strconv"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/sample"
)

// A ValueType is a sample type of a profile: what its values count, and their unit.
type ValueType = sample.Type

// Columns are the sample types of imported samples. A sample is an event with len(Types)+1 fields: the weight that
// other tools show, unsigned, then the value of each of Types, signed. Fields returns their description. More fields
// may follow, which are not columns.
type Columns struct {
	Types      []sample.Type
	Default    string      // Type of the column to show first; empty selects the last one
	PeriodType sample.Type // what Period counts; zero if unknown
	Period     int64       // nominal sampling interval, in the unit of PeriodType; 0 if unknown
}

// Main returns the index of the column to show first, and 0 if there are no columns.
func (c *Columns) Main() int {
	for i, t := range c.Types {
		if t.Type == c.Default && c.Default != "" {
			return i
		}
	}
	return max(0, len(c.Types)-1)
}

// TypeNames returns the names by which users select the types: the Type of each, and Type#2, Type#3 and so on for
// further columns with the same Type. The names are distinct. They are for selecting only; outputs keep the names of
// the profile.
func TypeNames(types []sample.Type) []string {
	names, taken := make([]string, len(types)), make(map[string]bool, len(types))
	var again []int
	for i, t := range types {
		if taken[t.Type] {
			again = append(again, i)
			continue
		}
		names[i], taken[t.Type] = t.Type, true
	}
	next := map[string]int{} // number to try first, so that names with a suffix like ours cost one attempt each
	for _, i := range again {
		base := types[i].Type
		for taken[names[i]] || names[i] == "" {
			next[base] = max(2, next[base]+1)
			names[i] = base + "#" + strconv.Itoa(next[base])
		}
		taken[names[i]] = true
	}
	return names
}

// Fields returns the fields of the type of the samples. It allocates.
func (c *Columns) Fields() []ntconv.Field {
	list := []ntconv.Field{{Name: "Value", Type: ntconv.FieldType{Code: ntconv.TypeVarUint}}}
	for _, t := range c.Types {
		list = append(list, ntconv.Field{Name: t.Type, Type: ntconv.FieldType{Code: ntconv.TypeVarInt}})
	}
	return list
}

// Merge returns the columns of the sum of two profiles: those of c, then those that only d has. The period is the longer
// one, as in pprof's own merge, or that of c if they are of different types.
func (c *Columns) Merge(d *Columns) Columns {
	m := *c
	m.Types = slices.Clone(c.Types)
	for i, at := range c.Indices(d) {
		if at < 0 {
			m.Types = append(m.Types, d.Types[i])
		}
	}
	if c.PeriodType == d.PeriodType {
		m.Period = max(c.Period, d.Period)
	}
	if m.Default == "" {
		m.Default = d.Default
	}
	return m
}

// Indices returns the index in c.Types of each of d.Types, -1 if c lacks it. The second of two equal types of d is the second
// one of c.
func (c *Columns) Indices(d *Columns) []int {
	list, taken := make([]int, len(d.Types)), make([]bool, len(c.Types))
	for i, t := range d.Types {
		list[i] = -1
		for at := range c.Types {
			if c.Types[at] == t && !taken[at] {
				list[i], taken[at] = at, true
				break
			}
		}
	}
	return list
}

// ColumnsOf returns the columns that the attributes of t describe, or nil if events of t are not imported samples. It
// allocates: call it once per type.
func ColumnsOf(t *ntconv.Type) *Columns {
	if len(t.Attrs) == 0 || len(t.Fields) == 0 {
		return nil
	}
	text, ok := t.Attrs.Get(attrTypes)
	if !ok {
		return nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > len(t.Fields)-1 {
		return nil
	}
	c := &Columns{
		Types:      make([]sample.Type, n),
		Default:    get(t, attrDefault),
		PeriodType: sample.Type{Type: get(t, attrPeriodType), Unit: get(t, attrPeriodUnit)},
		Period:     number(t, attrPeriod),
	}
	for i := range c.Types {
		k := strconv.Itoa(i)
		c.Types[i] = sample.Type{Type: get(t, attrType+k), Unit: get(t, attrUnit+k)}
	}
	return c
}

// get returns an attribute of t, or "" if t does not have it.
func get(t *ntconv.Type, key string) string {
	s, _ := t.Attrs.Get(key)
	return s
}

// number returns a numeric attribute of t, or 0 if t does not have it or it is not a number.
func number(t *ntconv.Type, key string) int64 {
	n, _ := strconv.ParseInt(get(t, key), 10, 64)
	return n
}
