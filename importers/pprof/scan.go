package pprof

import (
	"errors"
	"fmt"
	"math"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/ntconv/ntconv"
)

// Fields of a Profile message.
const (
	fieldSampleType protowire.Number = 1
	fieldSample     protowire.Number = 2
	fieldMapping    protowire.Number = 3
	fieldLocation   protowire.Number = 4
	fieldFunction   protowire.Number = 5
	fieldString     protowire.Number = 6
	fieldComment    protowire.Number = 13
)

// A message is a Profile. Samples, which are most of it, stay as they are and are decoded one by one; the library of google/pprof
// reads everything else.
type message struct {
	tables
	data    []byte
	samples []uint32 // where they begin in data: at their length
	texts   []span   // the string table
	strings map[int64]string
	limits  *Limits
}

// span is a part of the data: profiles of more than 4 GiB are not read.
type span struct{ from, to uint32 }

// A scan goes over the fields of a message once, before anything of them is made.
type scan struct {
	m         *message
	rest      []byte // what the library is given
	copied    int    // end of what rest has
	mappings  ids
	locations ids
	functions ids
	used      map[uint64]int // ids of mappings that locations refer to, and where first
	lines     int
	types     int
	comments  int
	zero      bool // a function has the reserved id 0
}

// errWire is damage of the encoding, as opposed to what is encoded.
var errWire = fmt.Errorf("%w: no protobuf", ntconv.ErrCorrupt)

// run reads the fields of the profile.
func (s *scan) run() error {
	data := s.m.data
	if uint64(len(data)) > math.MaxUint32 {
		return located(0, "profile", &ntconv.LimitError{Limit: LimitBytes, Value: math.MaxUint32, Asked: int64(len(data)), Unit: "bytes"})
	}
	for at := 0; at < len(data); {
		f, next, err := readField(data, at)
		if err != nil {
			return err
		}
		if f.number == fieldSample {
			s.rest = append(s.rest, data[s.copied:at]...)
			s.copied = next
		}
		if err := s.field(f); err != nil {
			return err
		}
		at = next
	}
	s.rest = append(s.rest, data[s.copied:]...)
	return nil
}

// A field of a message. Bytes have their place in the data, so that what is wrong in them can be located.
type field struct {
	number   protowire.Number
	kind     protowire.Type
	value    uint64 // of a number
	from, to int    // of bytes
	at       int    // of the tag
}

// readField reads the field at a place.
func readField(data []byte, at int) (f field, next int, err error) {
	number, kind, n := protowire.ConsumeTag(data[at:])
	if n < 0 {
		return f, 0, wireError(at, protowire.ParseError(n))
	}
	f = field{number: number, kind: kind, at: at}
	at += n
	switch kind {
	case protowire.VarintType:
		f.value, n = protowire.ConsumeVarint(data[at:])
	case protowire.BytesType:
		var size uint64
		if size, n = protowire.ConsumeVarint(data[at:]); n >= 0 {
			if size > uint64(len(data)-at-n) {
				return f, 0, located(f.at, fmt.Sprintf("field %d", number), fmt.Errorf("%w: %d bytes of %d", ntconv.ErrTruncated, len(data)-at-n, size))
			}
			f.from, f.to = at+n, at+n+int(size)
			n += int(size)
		}
	case protowire.Fixed32Type, protowire.Fixed64Type:
		n = protowire.ConsumeFieldValue(number, kind, data[at:])
	default:
		return f, 0, located(f.at, fmt.Sprintf("field %d", number), fmt.Errorf("%w: wire type %d", errWire, kind))
	}
	if n < 0 {
		return f, 0, wireError(at, protowire.ParseError(n))
	}
	return f, at + n, nil
}

func wireError(at int, err error) error {
	if errors.Is(err, protowire.ParseError(-1)) { // the data ends
		return located(at, "field", ntconv.ErrTruncated)
	}
	return located(at, "field", fmt.Errorf("%w: %w", errWire, err))
}

// limit returns an error if n exceeds the limit of that name.
func limit(f field, where, name string, n, most int) error {
	if n <= most {
		return nil
	}
	return located(f.at, where, &ntconv.LimitError{Limit: name, Value: int64(most), Asked: int64(n)})
}

// field takes in a field of the profile.
func (s *scan) field(f field) error {
	message := f.number >= fieldSampleType && f.number <= fieldString || f.number == 11
	if message && f.kind != protowire.BytesType {
		return located(f.at, fmt.Sprintf("field %d", f.number), fmt.Errorf("%w: a number in place of a message", errWire))
	}
	l := s.m.limits
	switch f.number {
	case fieldSample:
		s.m.samples = append(s.m.samples, uint32(f.from-protowire.SizeVarint(uint64(f.to-f.from))))
		return limit(f, "samples", LimitSamples, len(s.m.samples), l.Samples)
	case fieldString:
		s.m.texts = append(s.m.texts, span{uint32(f.from), uint32(f.to)})
		if len(s.m.texts) == 1 && f.from != f.to {
			return located(f.at, "string 0", fmt.Errorf("%w: must be empty", ntconv.ErrCorrupt))
		}
		return limit(f, "string table", LimitStrings, len(s.m.texts), l.Strings)
	case fieldSampleType:
		s.types++
		return limit(f, "sample types", LimitTypes, s.types, l.Types)
	case fieldComment:
		s.comments += max(1, f.to-f.from)
		return limit(f, "comments", LimitComments, s.comments, l.Comments)
	case fieldMapping:
		return s.record(f, &s.mappings, "mapping", LimitMappings, l.Mappings)
	case fieldLocation:
		return s.record(f, &s.locations, "location", LimitLocations, l.Locations)
	case fieldFunction:
		return s.record(f, &s.functions, "function", LimitFunctions, l.Locations)
	}
	return nil
}

// record takes in a mapping, location or function.
func (s *scan) record(f field, known *ids, what, name string, most int) error {
	n := known.count
	if err := limit(f, what+"s", name, n+1, most); err != nil {
		return err
	}
	id := uint64(0)
	for at := f.from; at < f.to; {
		g, next, err := readField(s.m.data[:f.to], at)
		if err != nil {
			return err
		}
		switch {
		case g.number == 1 && g.kind == protowire.VarintType:
			id = g.value
		case f.number != fieldLocation:
		case g.number == 2 && g.kind == protowire.VarintType && g.value != 0:
			if _, ok := s.used[g.value]; !ok && len(s.used) <= s.m.limits.Mappings {
				s.used[g.value] = g.at
			}
		case g.number == 4:
			s.lines++
			if err := limit(g, "lines", LimitLines, s.lines, s.m.limits.Lines); err != nil {
				return err
			}
		}
		at = next
	}
	where := fmt.Sprintf("%s %d", what, n)
	if id == 0 {
		if f.number == fieldFunction && !s.zero {
			s.zero = true // see repair
			known.count++
			return nil
		}
		return located(f.at, where, fmt.Errorf("%w: id 0 is reserved", ntconv.ErrCorrupt))
	}
	if !known.add(id) {
		return located(f.at, where, fmt.Errorf("%w: id %d is not the first one", ntconv.ErrCorrupt, id))
	}
	return nil
}

// ids are the ids of records, each with its place among them. Most profiles count from 1.
type ids struct {
	dense  []uint32 // place + 1
	sparse map[uint64]uint32
	count  int
}

// add gives an id the next place, and reports false if it has one already.
func (t *ids) add(id uint64) bool {
	if _, known := t.find(id); known {
		return false
	}
	t.count++
	if id < uint64(2*t.count+1024) {
		for uint64(len(t.dense)) <= id {
			t.dense = append(t.dense, 0)
		}
		t.dense[id] = uint32(t.count)
		return true
	}
	if t.sparse == nil {
		t.sparse = map[uint64]uint32{}
	}
	t.sparse[id] = uint32(t.count)
	return true
}

// find returns the place of an id.
func (t *ids) find(id uint64) (place uint32, ok bool) {
	if id < uint64(len(t.dense)) && t.dense[id] != 0 {
		return t.dense[id] - 1, true
	}
	n, ok := t.sparse[id]
	return n - 1, ok
}

// text returns an entry of the string table. It is the same string whenever it is asked for.
func (m *message) text(i int64, at int) (string, error) {
	if i == 0 {
		return "", nil
	}
	if s, ok := m.strings[i]; ok {
		return s, nil
	}
	if i < 0 || i >= int64(len(m.texts)) {
		return "", located(at, "label", fmt.Errorf("%w: string %d of %d", ntconv.ErrCorrupt, i, len(m.texts)))
	}
	s := string(m.data[m.texts[i].from:m.texts[i].to])
	m.strings[i] = s
	return s, nil
}
