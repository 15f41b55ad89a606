package profile

import (
	"bytes"
	"encoding/binary"
	"slices"

	"github.com/ntconv/ntconv"
)

// An observation is the contribution of one sample.
type observation struct {
	values    []int64   // one per column
	variances []float64 // of an estimate, one per column, in units of the column's type; 0 for a count
	tags      [][]byte  // values of the labels of spec.tags; empty if unknown
	source    uint8     // index in spec.sources
	lacks     bool      // the event has no value to add up
}

func newObservation(columns, tags int) observation {
	return observation{values: make([]int64, columns), variances: make([]float64, columns), tags: make([][]byte, tags)}
}

// clear resets the observation to zero values without labels.
func (o *observation) clear() {
	clear(o.values)
	clear(o.variances)
	for i := range o.tags {
		o.tags[i] = o.tags[i][:0]
	}
	o.source, o.lacks = 0, false
}

// reset makes the observation one of a kind with the given numbers of columns and labels, and clears it.
func (o *observation) reset(columns, tags int) {
	for len(o.values) < columns {
		o.values, o.variances = append(o.values, 0), append(o.variances, 0)
	}
	for len(o.tags) < tags {
		o.tags = append(o.tags, nil)
	}
	o.values, o.variances, o.tags = o.values[:columns], o.variances[:columns], o.tags[:tags]
	o.clear()
}

// tag sets the value of a label of spec.tags.
func (o *observation) tag(i int, value string) { o.tags[i] = append(o.tags[i][:0], value...) }

// A tagTable numbers lists of label values from 1; 0 is the list of empty values.
type tagTable struct {
	ids     map[string]uint32
	lists   [][]string
	scratch []byte
	last    []byte // the latest list, encoded
	lastID  uint32
}

// fewLists is the number of lists that are compared linearly: the states of threads.
const fewLists = 4

func newTagTable() tagTable { return tagTable{ids: map[string]uint32{}, lists: make([][]string, 1)} }

// id returns the number of a list, in which values at the end may be missing. It borrows tags.
func (t *tagTable) id(tags [][]byte) uint32 {
	for len(tags) > 0 && len(tags[len(tags)-1]) == 0 {
		tags = tags[:len(tags)-1]
	}
	if len(tags) == 0 {
		return 0
	}
	if len(tags) == 1 && len(t.lists) <= fewLists {
		for id := 1; id < len(t.lists); id++ {
			if list := t.lists[id]; len(list) == 1 && list[0] == string(tags[0]) {
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
		id = uint32(len(t.lists))
		t.ids[string(t.scratch)] = id
		list := make([]string, len(tags))
		for i, tag := range tags {
			list[i] = string(tag)
		}
		t.lists = append(t.lists, list)
	}
	t.last, t.scratch, t.lastID = t.scratch, t.last, id
	return id
}

// value returns the i-th value of a list, or "".
func (t *tagTable) value(id uint32, i int) string {
	if i < 0 || i >= len(t.lists[id]) {
		return ""
	}
	return t.lists[id][i]
}

// appendTags appends the labels of a list of values with the given keys, without those that are dropped.
func (t *tagTable) appendTags(dst []ntconv.Label, id uint32, keys []string, drop map[string]bool) []ntconv.Label {
	for i, value := range t.lists[id] {
		if value != "" && i < len(keys) && !drop[keys[i]] {
			dst = append(dst, text(keys[i], value))
		}
	}
	return dst
}

// keptTags reports which labels must be stored: those that are not dropped, or none without labels, and the subject if
// it becomes a frame. The result is nil if all are stored.
func keptTags(keys []string, p *pool, subject int) []bool {
	kept := make([]bool, len(keys))
	for i, key := range keys {
		kept[i] = !p.unlabeled() && !p.drop[key] || i == subject
	}
	if !slices.Contains(kept, false) {
		return nil
	}
	return kept
}

// omitTags clears the labels that are not kept.
func omitTags(tags [][]byte, kept []bool) [][]byte {
	for i := range kept {
		if !kept[i] {
			tags[i] = tags[i][:0]
		}
	}
	return tags
}
