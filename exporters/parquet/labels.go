package parquet

import (
	"encoding/hex"
	"strings"
	"unsafe"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/intern"
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

func newLabelTable(files *files) (*labelTable, error) {
	rows, err := newTable[tables.Label](files)
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
	var list labelList
	if id, ok := l.ID(ntconv.LabelActivityID); ok {
		list.activity = ntconv.GUID(id).String()
	}
	if id, ok := l.ID(ntconv.LabelRelatedActivityID); ok {
		list.related = ntconv.GUID(id).String()
	}
	if id, ok := l.ID(ntconv.LabelTraceID); ok {
		list.trace = hex.EncodeToString(id[:])
	}
	if id, ok := l.ID(ntconv.LabelSpanID); ok {
		list.span = hex.EncodeToString(id[:spanBytes])
	}
	return &list
}

// spanBytes is the size of a span ID in bytes. The remaining bytes of the label should be zero.
const spanBytes = 8

// write writes the rows of a list. It omits members that have no meaning for the kind of a label.
func (t *labelTable) write(id int64, list []ntconv.Label) {
	for i := range list {
		l, row := &list[i], t.rows.row()
		row.LabelListID, row.Ordinal = id, int32(i)
		row.Kind, row.LabelKind = labelKind(l.Kind), int32(l.Kind)
		row.Key, row.Value, row.Unit = valid(l.Key), valid(l.Str), valid(l.Unit)
		switch l.Kind {
		case ntconv.LabelActivityID, ntconv.LabelRelatedActivityID:
			row.Value = ntconv.GUID(l.ID).String()
		case ntconv.LabelTraceID:
			row.Value = hex.EncodeToString(l.ID[:])
		case ntconv.LabelSpanID:
			row.Value = spanText(l.ID)
		case ntconv.LabelString:
		default:
			row.ValueInt = t.rows.int64(l.Num)
		}
	}
}

// spanText returns a span ID in hexadecimal: 16 digits, or 32 if the remaining bytes are not zero.
func spanText(id [16]byte) string {
	if [8]byte(id[spanBytes:]) != [8]byte{} {
		return hex.EncodeToString(id[:])
	}
	return hex.EncodeToString(id[:spanBytes])
}

// labelKind returns the name of a label kind in the tables, such as activity_id for "activity id".
func labelKind(k ntconv.LabelKind) string { return strings.ReplaceAll(k.String(), " ", "_") }

// valid returns s with U+FFFD in place of invalid UTF-8, because readers reject files with invalid UTF-8 in columns of
// type STRING.
func valid(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }
