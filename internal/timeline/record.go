package timeline

import (
	"encoding/binary"
	"errors"
	"strings"

	"github.com/ntconv/ntconv/internal/data/bin"
)

// A recordKind is the kind of a record in the spool. Numbers in records are uvarints. A track, title or stack of 0
// means none.
type recordKind byte

const (
	recordInstant recordKind = iota // track, title, stack, bytes, args
	recordSlice                     // see sliceRecord
	recordCounter                   // track, value
	recordSample                    // see sampleReader.weighed
	recordLoss                      // track, thread, args
	recordRaw                       // track, encoded, stack in 4 bytes
	recordInner                     // track, slice, title, args
	recordFlow                      // track, flow, flowFlags
)

// Ranks of records with the same time: slices from the longest to the shortest, then events in them.
const (
	rankOther = 0
	rankInner = 1 // records that refer to a slice that may begin at the same time
)

func rankSlice(duration int64) int64 { return -duration - 1 }

// appendHead appends the start of a record on a track.
func appendHead(dst []byte, k recordKind, track uint32) []byte {
	return appendNumber(append(dst, byte(k)), track)
}

func appendNumber(dst []byte, n uint32) []byte {
	for n >= 0x80 {
		dst = append(dst, byte(n)|0x80)
		n >>= 7
	}
	return append(dst, byte(n))
}

func appendSigned(dst []byte, n int64) []byte { return binary.AppendVarint(dst, n) }

// errRecord means that the temporary file does not contain what was written to it.
var errRecord = errors.New("timeline: invalid record in the temporary file; check the disk")

// A title is the name and category that many items share.
type title struct{ name, category string }

// A titleTable numbers titles from 1. A title beyond its limits is stored in the record itself.
type titleTable struct {
	ids      map[title]uint32
	list     []title // by number
	bytes    int     // size of all interned strings
	interned map[string]string
}

// Limits of a titleTable. Traces have a few thousand titles, unless the names of spans contain data.
const (
	maxTitles     = 1 << 16
	maxTitleBytes = 8 << 20
)

func newTitleTable() titleTable {
	return titleTable{ids: map[title]uint32{}, list: make([]title, 1), interned: map[string]string{}}
}

// share returns b as a string. It does not allocate if the string is interned.
func (t *titleTable) share(b []byte) string {
	if s, ok := t.interned[string(b)]; ok {
		return s
	}
	return string(b)
}

// number returns the number of a title, and assigns one even if the table is full.
func (t *titleTable) number(name, category string) uint32 {
	k := title{name, category}
	if id := t.ids[k]; id != 0 {
		return id
	}
	k.name, k.category = t.intern(name), t.intern(category)
	id := uint32(len(t.list))
	t.ids[k] = id
	t.list = append(t.list, k)
	return id
}

func (t *titleTable) intern(s string) string {
	if known, ok := t.interned[s]; ok {
		return known
	}
	s = strings.Clone(s)
	t.interned[s] = s
	t.bytes += len(s)
	return s
}

// append appends the number of a title to a record, or 0 and the title itself if the table is full.
func (t *titleTable) append(rec []byte, name, category string) []byte {
	if id := t.ids[title{name, category}]; id != 0 {
		return appendNumber(rec, id)
	}
	if len(t.list) < maxTitles && t.bytes+len(name) < maxTitleBytes {
		return appendNumber(rec, t.number(name, category))
	}
	rec = append(rec, 0)
	for _, s := range [...]string{name, category} {
		rec = append(appendNumber(rec, uint32(len(s))), s...)
	}
	return rec
}

// read is the inverse of append. It allocates only for titles that are not in the table.
func (t *titleTable) read(c *bin.Reader) title {
	if id := c.Uvarint32(); id != 0 {
		if int(id) >= len(t.list) {
			c.Failed = true
			return title{}
		}
		return t.list[id]
	}
	name := c.Bytes(int(c.Uvarint32()))
	category := c.Bytes(int(c.Uvarint32()))
	return title{t.share(name), t.share(category)}
}
