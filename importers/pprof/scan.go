package pprof

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/profile/imported"
)

// Fields of a Profile message (proto/profile.proto of google/pprof).
const (
	fieldSampleType protowire.Number = 1
	fieldSample     protowire.Number = 2
	fieldMapping    protowire.Number = 3
	fieldLocation   protowire.Number = 4
	fieldFunction   protowire.Number = 5
	fieldString     protowire.Number = 6
	fieldDropFrames protowire.Number = 7
	fieldKeepFrames protowire.Number = 8
	fieldTime       protowire.Number = 9
	fieldDuration   protowire.Number = 10
	fieldPeriodType protowire.Number = 11
	fieldPeriod     protowire.Number = 12
	fieldComment    protowire.Number = 13
	fieldDefault    protowire.Number = 14
	fieldDocURL     protowire.Number = 15
)

// A message is a Profile message. Samples, most of its bytes, stay encoded and are decoded one at a time. The message
// keeps data, an offset of 4 bytes per sample, and the decoded tables.
type message struct {
	data      []byte
	limits    *Limits
	header    header
	samples   []uint32 // offsets of the samples' lengths in data
	strings   stringTable
	mappings  []*ntconv.Mapping
	locations ids
	frames    frames // by place of a location
}

// A header holds the fields that occur once in a profile, and the short lists. Strings are indexes into the string
// table, which may follow later in the file.
type header struct {
	numbers    [fieldDocURL + 1]int64 // by field
	offsets    [fieldDocURL + 1]int   // offsets of the fields of numbers
	secondTime int                    // offset of a second field time_nanos; 0 if there is none
	types      []valueType
	periodType valueType
	comments   []int64
	commentsAt int // offset of the first comment
}

// A valueType is a ValueType message.
type valueType struct {
	typ, unit int64 // indexes of strings
	at        int
}

// A scan reads the fields of a message once. Tables may appear anywhere in the file and refer to each other. The scan
// therefore stores only the offset of each row, 4 bytes, and decodes each row after the last field: strings, mappings,
// functions, locations.
type scan struct {
	m *message
	// Offsets of the lengths of rows.
	strings, mappings, functions, locations []uint32
	textBytes                               int

	mappingIDs  ids
	functionIDs ids
	byPlace     []ntconv.Function   // functions by place
	zero        *ntconv.Function    // the function with the reserved ID 0, or nil
	missing     map[uint64]struct{} // mapping IDs of locations that the profile does not define
	lines       int
	notes       ntconv.Report // passed to Options.Report if the profile is valid
}

// decodeProto decodes a Profile message.
func decodeProto(data []byte, o *Options) (*message, error) {
	if len(data) == 0 {
		return nil, located(0, "profile", fmt.Errorf("%w: empty input", ntconv.ErrFormat))
	}
	if uint64(len(data)) > math.MaxUint32 {
		return nil, located(0, "profile", &ntconv.LimitError{Limit: LimitBytes, Value: math.MaxUint32, Asked: int64(len(data)), Unit: "bytes"})
	}
	s := &scan{m: &message{data: data, limits: &o.Limits}}
	c := cursor{m: s.m, what: "profile", n: -1, end: len(data)}
	for c.next() {
		s.field(&c)
	}
	if c.err != nil {
		return nil, c.err
	}
	if err := s.tables(); err != nil {
		return nil, err
	}
	for _, e := range s.notes.Entries() {
		o.Report.Note(e.Code, e.Count, e.Offset, e.Detail)
	}
	return s.m, nil
}

// field processes the current field of the profile.
func (s *scan) field(c *cursor) {
	l, offset := s.m.limits, uint32(c.length)
	switch c.number {
	case fieldSampleType, fieldSample, fieldMapping, fieldLocation, fieldFunction, fieldString, fieldPeriodType:
		if c.kind != protowire.BytesType {
			c.err = located(c.at, fmt.Sprintf("field %d", c.number), fmt.Errorf("%w: a number in place of a message", errWire))
			return
		}
	}
	switch c.number {
	case fieldSample:
		s.m.samples = append(s.m.samples, offset)
		c.err = limit(c.at, "samples", LimitSamples, len(s.m.samples), l.Samples)
	case fieldString:
		if len(s.strings) == 0 && c.from != c.to {
			c.err = located(c.at, "string 0", fmt.Errorf("%w: must be empty", ntconv.ErrCorrupt))
			return
		}
		s.strings, s.textBytes = append(s.strings, offset), s.textBytes+c.to-c.from
		c.err = limit(c.at, "string table", LimitStrings, len(s.strings), l.Strings)
	case fieldMapping:
		s.mappings = append(s.mappings, offset)
		c.err = limit(c.at, "mappings", LimitMappings, len(s.mappings), l.Mappings)
	case fieldLocation:
		s.locations = append(s.locations, offset)
		c.err = limit(c.at, "locations", LimitLocations, len(s.locations), l.Locations)
	case fieldFunction:
		s.functions = append(s.functions, offset)
		c.err = limit(c.at, "functions", LimitFunctions, len(s.functions), l.Locations)
	default:
		s.headerField(c)
	}
}

// headerField processes the current field if it is not a row of a table. If a number occurs several times, the last one
// wins.
func (s *scan) headerField(c *cursor) {
	h, l := &s.m.header, s.m.limits
	switch c.number {
	case fieldSampleType:
		h.types = append(h.types, s.valueType(c, "sample type"))
		if c.err == nil {
			c.err = limit(c.at, "sample types", LimitTypes, len(h.types), l.Types)
		}
	case fieldPeriodType:
		h.periodType = s.valueType(c, "period type")
	case fieldComment:
		if h.comments == nil {
			h.commentsAt = c.at
		}
		for list := c.list(); len(list) > 0 && c.err == nil; {
			v, n := number(list)
			if n < 0 {
				c.malformed(n)
				return
			}
			h.comments, list = append(h.comments, int64(v)), list[n:]
			c.err = limit(c.at, "comments", LimitComments, len(h.comments), l.Comments)
		}
	case fieldTime:
		if h.numbers[fieldTime] != 0 && h.secondTime == 0 {
			h.secondTime = c.at
		}
		h.numbers[fieldTime], h.offsets[fieldTime] = c.int(), c.at
	case fieldDropFrames, fieldKeepFrames, fieldDuration, fieldPeriod, fieldDefault, fieldDocURL:
		h.numbers[c.number], h.offsets[c.number] = c.int(), c.at
	}
}

// valueType decodes the current field of the profile as a ValueType message.
func (s *scan) valueType(profile *cursor, what string) valueType {
	t, c := valueType{at: profile.at}, profile.message(what)
	for c.next() {
		switch c.number {
		case 1:
			t.typ = c.int()
		case 2:
			t.unit = c.int()
		}
	}
	profile.err = c.err
	return t
}

// origin returns the properties of the profile. t is the string table.
func (h *header) origin(t *stringTable) (o imported.Origin, err error) {
	text := func(i int64, at int, where string) string {
		s, ok := t.at(i)
		if !ok && err == nil {
			err = located(at, where, fmt.Errorf("%w: string %d of %d", ntconv.ErrCorrupt, i, t.count()))
		}
		return s
	}
	field := func(f protowire.Number, where string) string { return text(h.numbers[f], h.offsets[f], where) }
	o.Time, o.Duration, o.Period = h.numbers[fieldTime], h.numbers[fieldDuration], h.numbers[fieldPeriod]
	pair := func(v valueType, where string) imported.ValueType {
		return imported.ValueType{Type: text(v.typ, v.at, where), Unit: text(v.unit, v.at, where)}
	}
	for _, v := range h.types {
		o.Types = append(o.Types, pair(v, "sample type"))
	}
	o.PeriodType = pair(h.periodType, "period type")
	o.Default = field(fieldDefault, "default sample type")
	o.DropFrames, o.KeepFrames = field(fieldDropFrames, "drop_frames"), field(fieldKeepFrames, "keep_frames")
	o.DocURL = field(fieldDocURL, "doc_url")
	for _, c := range h.comments {
		o.Comments = append(o.Comments, text(c, h.commentsAt, "comment"))
	}
	return o, err
}

// A stringTable holds all entries of the string table as one string, and the end of each entry.
type stringTable struct {
	all  string
	ends []uint32
}

// newStringTable returns the entries whose lengths are at the given offsets. It reuses the slice of offsets. Invalid
// UTF-8 becomes U+FFFD, as everywhere in ntconv, because a trace contains only UTF-8.
func newStringTable(m *message, offsets []uint32, size int) stringTable {
	var b strings.Builder
	b.Grow(size)
	for i, at := range offsets {
		n, k := number(m.data[at:])
		from := int(at) + k
		if text := m.data[from : from+int(n)]; utf8.Valid(text) {
			b.Write(text)
		} else {
			b.Write(bytes.ToValidUTF8(text, []byte("\uFFFD")))
		}
		offsets[i] = uint32(b.Len())
	}
	return stringTable{b.String(), slices.Clip(offsets)}
}

func (t *stringTable) count() int { return len(t.ends) }

// at returns entry i. ok is false if it does not exist.
func (t *stringTable) at(i int64) (string, bool) {
	if i == 0 || uint64(i) >= uint64(len(t.ends)) {
		return "", i == 0
	}
	return t.all[t.ends[i-1]:t.ends[i]], true
}
