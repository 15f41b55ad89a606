package meters

import (
	"bytes"
	"encoding/binary"
	"slices"

	"github.com/ntconv/ntconv"
)

// An Observation is the contribution of one sample.
type Observation struct {
	Values    []int64   // one per column
	Variances []float64 // of an estimate, one per column, in units of the column's type; 0 for a count
	Tags      [][]byte  // values of the labels of Spec.Tags; empty if unknown
	source    uint8     // index in Spec.Sources
	lacks     bool      // the event has no value to add up
}

// NewObservation returns an empty Observation.
func NewObservation(columns, tags int) Observation {
	return Observation{Values: make([]int64, columns), Variances: make([]float64, columns), Tags: make([][]byte, tags)}
}

// Clear resets the observation to zero values without labels.
func (o *Observation) Clear() {
	clear(o.Values)
	clear(o.Variances)
	for i := range o.Tags {
		o.Tags[i] = o.Tags[i][:0]
	}
	o.source, o.lacks = 0, false
}

// Reset makes the observation one of a kind with the given numbers of columns and labels, and clears it.
func (o *Observation) Reset(columns, tags int) {
	for len(o.Values) < columns {
		o.Values, o.Variances = append(o.Values, 0), append(o.Variances, 0)
	}
	for len(o.Tags) < tags {
		o.Tags = append(o.Tags, nil)
	}
	o.Values, o.Variances, o.Tags = o.Values[:columns], o.Variances[:columns], o.Tags[:tags]
	o.Clear()
}

// tag sets the value of a label of Spec.Tags.
func (o *Observation) tag(i int, value string) { o.Tags[i] = append(o.Tags[i][:0], value...) }

// A TagTable numbers lists of label values from 1; 0 is the list of empty values.
type TagTable struct {
	ids     map[string]uint32
	Lists   [][]string
	scratch []byte
	last    []byte // the latest list, encoded
	lastID  uint32
}

// fewLists is the number of lists that are compared linearly: the states of threads.
const fewLists = 4

// NewTagTable returns a table with only the empty list.
func NewTagTable() TagTable { return TagTable{ids: map[string]uint32{}, Lists: make([][]string, 1)} }

// Id returns the number of a list, in which values at the end may be missing. It borrows tags.
func (t *TagTable) Id(tags [][]byte) uint32 {
	for len(tags) > 0 && len(tags[len(tags)-1]) == 0 {
		tags = tags[:len(tags)-1]
	}
	if len(tags) == 0 {
		return 0
	}
	if len(tags) == 1 && len(t.Lists) <= fewLists {
		for id := 1; id < len(t.Lists); id++ {
			if list := t.Lists[id]; len(list) == 1 && list[0] == string(tags[0]) {
				return uint32(id)
			}
		}
	}
	t.scratch = t.scratch[:0]
	for _, tag := range tags {
		t.scratch = binary.AppendUvarint(t.scratch, uint64(len(tag)))
		t.scratch = append(t.scratch, tag...)
	}
	if bytes.Equal(t.scratch, t.last) {
		return t.lastID
	}
	id, ok := t.ids[string(t.scratch)]
	if !ok {
		id = uint32(len(t.Lists))
		t.ids[string(t.scratch)] = id
		list := make([]string, len(tags))
		for i, tag := range tags {
			list[i] = string(tag)
		}
		t.Lists = append(t.Lists, list)
	}
	t.last, t.scratch, t.lastID = t.scratch, t.last, id
	return id
}

// Value returns the i-th value of a list, or "".
func (t *TagTable) Value(id uint32, i int) string {
	if i < 0 || i >= len(t.Lists[id]) {
		return ""
	}
	return t.Lists[id][i]
}

// AppendTags appends the labels of a list of values with the given keys, without those that are dropped.
func (t *TagTable) AppendTags(dst []ntconv.Label, id uint32, keys []string, drop map[string]bool) []ntconv.Label {
	for i, value := range t.Lists[id] {
		if value != "" && i < len(keys) && !drop[keys[i]] {
			dst = append(dst, ntconv.Label{Kind: ntconv.LabelString, Key: keys[i], Str: value})
		}
	}
	return dst
}

// KeptTags reports which labels must be stored: those that are not dropped, or none without labels, and the subject if
// it becomes a frame. The result is nil if all are stored.
func KeptTags(keys []string, p *Tables, subject int) []bool {
	kept := make([]bool, len(keys))
	for i, key := range keys {
		kept[i] = !p.Unlabeled && !p.Drop[key] || i == subject
	}
	if !slices.Contains(kept, false) {
		return nil
	}
	return kept
}

// OmitTags clears the labels that are not kept.
func OmitTags(tags [][]byte, kept []bool) [][]byte {
	for i := range kept {
		if !kept[i] {
			tags[i] = tags[i][:0]
		}
	}
	return tags
}
