package rows

import (
	"encoding/hex"
	"strings"
	"unsafe"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/data/intern"
	"github.com/ntconv/ntconv/internal/tables"
)

// A labelList holds the columns that rows of events take from a label list.
type labelList struct { // label_list_id; 0 means an empty list
	id                             int64 // label_list_id, 0 for an empty list
	activity, related, trace, span string
}

// labelBits is the binary logarithm of the number of lists that are cached by pointer.
const labelBits = 12

// A labelTable numbers label lists by content and writes their rows when it first sees them.
type labelTable struct {
	rows   *table[tables.Label]
	hasher hasher
	lists  numbering
	recent intern.Cache[*ntconv.Labels, *labelList]
	none   labelList
}

func newLabelTable(out *output) (*labelTable, error) {
	rows, err := newTable[tables.Label](out)
	return &labelTable{
		rows:   rows,
		hasher: newHasher(),
		recent: intern.NewCache[*ntconv.Labels, *labelList](labelBits),
	}, err
}

// of returns the columns for a list, which may be nil. The result stays valid.
func (t *labelTable) of(l *ntconv.Labels) *labelList {
	if len(l.List()) == 0 {
		return &t.none
	}
	hash := uint64(uintptr(unsafe.Pointer(l)))
	if p := t.recent.Get(hash, &l); p != nil {
		return *p
	}
	found := newLabelList(l)
	var fresh bool
	if found.id, fresh = t.lists.number(t.sum(l.List())); fresh {
		t.write(found.id, l.List())
	}
	t.recent.Put(hash, &l, found)
	return found
}

// sum returns the sum of all members in which two lists can differ.
func (t *labelTable) sum(list []ntconv.Label) sum {
	key := t.hasher.key[:0]
	for i := range list {
		l := &list[i]
		key = append(key, byte(l.Kind))
		key = appendString(key, l.Key)
		key = appendString(key, l.Str)
		key = appendString(key, l.Unit)
		key = append(key, bytesOf([]uint64{uint64(l.Num)})...)
		key = append(key, l.ID[:]...)
	}
	t.hasher.key = key
	return t.hasher.sum(key)
}

// newLabelList returns the columns of a list, without its ID.
func newLabelList(l *ntconv.Labels) *labelList {
	text := func(k ntconv.LabelKind) string {
		if p := l.Find(k); p != nil && p.ID != [16]byte{} {
			return string(p.AppendText(nil))
		}
		return ""
	}
	return &labelList{
		activity: text(ntconv.LabelActivityID), related: text(ntconv.LabelRelatedActivityID),
		trace: text(ntconv.LabelTraceID), span: text(ntconv.LabelSpanID),
	}
}

// write writes the rows of a list. It omits members that have no meaning for the kind of a label.
func (t *labelTable) write(id int64, list []ntconv.Label) {
	for i := range list {
		l, row := &list[i], t.rows.row()
		row.LabelListID, row.Ordinal = id, int32(i)
		row.Kind, row.LabelKind = l.Kind.String(), int32(l.Kind)
		row.Key, row.Value, row.Unit = valid(l.Key), valid(l.Str), valid(l.Unit)
		switch {
		case l.Kind == ntconv.LabelSpanID:
			row.Value = spanText(l.ID)
		case l.IsID():
			row.Value = string(l.AppendText(nil))
		case l.Kind != ntconv.LabelString:
			row.ValueInt = t.rows.int64(l.Num)
		}
	}
}

// spanText returns a span ID in hexadecimal: 16 digits, or 32 if the remaining bytes are not zero.
func spanText(id [16]byte) string {
	if [8]byte(id[8:]) != [8]byte{} {
		return hex.EncodeToString(id[:])
	}
	return hex.EncodeToString(id[:8])
}

// valid returns s with U+FFFD in place of invalid UTF-8, because readers reject files with invalid UTF-8 in columns of
// type STRING.
func valid(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }
