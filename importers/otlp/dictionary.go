package otlp

import (
	"fmt"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/profile/imported"
	"github.com/ntconv/ntconv/internal/span"
	profiledata "github.com/ntconv/ntconv/internal/span/profiles"
)

// A dictionary has the tables of a message of profiles (ProfilesDictionary, profiles.proto, v1development). Index 0 of
// each means none. Indices out of range are treated as 0 and counted.
type dictionary struct {
	d          *decoder
	strings    []string
	mappings   []*ntconv.Mapping
	functions  []ntconv.Function
	frames     []ntconv.Frame // of all locations, innermost first
	locations  []uint32       // start of each location in frames, and the end
	links      [][24]byte     // trace ID and span ID
	attributes []dictAttribute
	stacks     []message // not decoded: they may have any number of frames
	used       int64     // bytes of memory
	referenced int       // bytes of the strings that the current item, resource or scope refers to

	known  map[uint32]*ntconv.Stack // some of stacks
	cached int                      // frames in known
	budget imported.FrameBudget
	labels map[string]*ntconv.Labels // by indices of the link and of attributes
}

// A dictAttribute is an attribute, with its form as a label.
type dictAttribute struct {
	span.Attribute
	label ntconv.Label
}

const maxCachedFrames = 1 << 18

// dictTables are the tables of a dictionary in the order in which they must be decoded: each refers only to those before it.
var dictTables = [...]struct {
	field  protowire.Number
	memory int64 // bytes per row
	decode func(t *dictionary, m *message)
}{
	{5, 16, nil},
	{6, 256, (*dictionary).attribute},
	{1, 160, (*dictionary).mapping},
	{3, 72, (*dictionary).function},
	{2, 64, (*dictionary).location},
	{4, 24, (*dictionary).link},
	{7, 80, (*dictionary).stack},
}

func newDictionary(d *decoder) *dictionary {
	return &dictionary{d: d, known: make(map[uint32]*ntconv.Stack), labels: make(map[string]*ntconv.Labels)}
}

// readDictionary decodes a dictionary, partial means the beginning of one. The error wraps ntconv.ErrLimit or ntconv.ErrCorrupt.
func readDictionary(d *decoder, b []byte, partial bool) (*dictionary, error) {
	t := newDictionary(d)
	whole := newMessage(b)
	for _, table := range dictTables {
		m := whole
		for m.next() {
			if !m.is(table.field, lenType) {
				continue
			}
			if t.used += table.memory; t.used > d.limits.Dictionary {
				return nil, &ntconv.LimitError{Limit: LimitDictionary, Value: d.limits.Dictionary, Asked: t.used, Unit: "bytes"}
			}
			if table.decode == nil {
				t.strings = append(t.strings, d.valid(m.str()))
				continue
			}
			row := m.sub()
			if table.decode(t, &row); row.corrupt {
				return nil, fmt.Errorf("%w: row of field %d of ProfilesDictionary", ntconv.ErrCorrupt, table.field)
			}
		}
		if m.corrupt && !partial {
			return nil, fmt.Errorf("%w: ProfilesDictionary is not a valid message", ntconv.ErrCorrupt)
		}
	}
	t.locations = append(t.locations, uint32(len(t.frames)))
	return t, nil
}

// at returns an element of a table, the zero value for index 0 and for one out of range, which it counts.
func at[T any](t *dictionary, table []T, i uint64, what string) (v T) {
	switch {
	case i == 0:
	case i < uint64(len(table)):
		return table[i]
	default:
		t.d.report.Note(ntconv.CodeRepaired, 1, t.d.place.offset, fmt.Sprintf("%s %d is not in the dictionary, which has %d", what, i, len(table)))
	}
	return v
}

func (t *dictionary) text(i uint64) string { return at(t, t.strings, i, "string") }

// reference returns a string to which a key or a value refers. The strings of an item, resource or scope have at most the
// size of a message in total; further ones are empty and counted.
func (t *dictionary) reference(i uint64) string {
	s := t.text(i)
	if t.referenced += len(s); t.referenced > t.d.limits.Message {
		t.d.report.Note(ntconv.CodeNotCarried, 1, t.d.place.offset, "references to strings of a dictionary that are larger than a message in total")
		return ""
	}
	return s
}

// attribute decodes a KeyValueAndUnit.
func (t *dictionary) attribute(m *message) {
	var a dictAttribute
	t.d.elements = 0
	unit := ""
	for m.next() {
		switch {
		case m.is(1, varint):
			a.Key = t.text(m.n)
		case m.is(2, lenType):
			sub := m.sub()
			a.Value = t.d.anyValue(a.Value, &sub, t.d.limits.Depth)
			m.corrupt = m.corrupt || sub.corrupt
		case m.is(3, varint):
			unit = t.text(m.n)
		default:
			t.d.unknownField("KeyValueAndUnit", m)
		}
	}
	a.label = ntconv.Label{Kind: ntconv.LabelString, Key: a.Key}
	switch a.Value.Kind() {
	case span.ValueString:
		a.label.Str = a.Value.Str()
	case span.ValueInt:
		a.label.Kind, a.label.Num, a.label.Unit = ntconv.LabelInt, a.Value.Int(), unit
	default: // counted if a sample has it
		a.label.Str = string(a.Value.AppendText(nil))
	}
	t.attributes = append(t.attributes, a)
}

// list decodes a field with numbers, packed or not.
func (m *message) list(dst []uint64) []uint64 {
	if m.typ == varint {
		return append(dst, m.n)
	}
	for b := m.bytes(); len(b) > 0; {
		n, size := protowire.ConsumeVarint(b)
		if size < 0 {
			m.corrupt = true
			return dst
		}
		dst, b = append(dst, n), b[size:]
	}
	return dst
}

// fixedList decodes a field with numbers of 8 bytes, packed or not.
func (m *message) fixedList(dst []uint64) []uint64 {
	if m.typ == fixed64 {
		return append(dst, m.n)
	}
	b := m.bytes()
	for ; len(b) >= 8; b = b[8:] {
		n, _ := protowire.ConsumeFixed64(b)
		dst = append(dst, n)
	}
	m.corrupt = m.corrupt || len(b) > 0
	return dst
}

// isList reports whether the current field is a list of numbers.
func (m *message) isList(num protowire.Number) bool { return m.is(num, lenType) || m.is(num, varint) }

// buildIDs are the attributes of mappings that identify a build, the preferred one last.
var buildIDs = []string{"process.executable.build_id.htlhash", "process.executable.build_id.go", profiledata.AttrPDBID, profiledata.AttrBuildID}

func (t *dictionary) mapping(m *message) {
	row := new(ntconv.Mapping)
	var indices []uint64
	for m.next() {
		switch {
		case m.is(1, varint):
			row.Start = m.n
		case m.is(2, varint):
			row.Limit = m.n
		case m.is(3, varint):
			row.Offset = m.n
		case m.is(4, varint):
			row.File = t.text(m.n)
		case m.isList(5):
			indices = m.list(indices[:0])
			t.mappingAttributes(row, indices)
		default:
			t.d.unknownField("Mapping", m)
		}
	}
	t.mappings = append(t.mappings, row)
}

func (t *dictionary) mappingAttributes(row *ntconv.Mapping, indices []uint64) {
	best := -1
	for _, i := range indices {
		a := at(t, t.attributes, i, "attribute")
		if flag := mappingFlag(a.Key); flag != 0 && a.Value.Kind() == span.ValueBool {
			if a.Value.Bool() {
				row.Flags |= flag
			}
		} else if rank := slices.Index(buildIDs, a.Key); rank >= 0 && a.Value.Kind() == span.ValueString {
			if rank > best {
				best, row.BuildID = rank, a.Value.Str()
			}
		} else {
			t.notCarried("mappings")
		}
	}
}

// mappingFlag returns the flag of a mapping that an attribute states, 0 if it states none.
func mappingFlag(key string) ntconv.MappingFlags {
	for _, f := range profiledata.MappingFlags {
		if f.Attribute == key {
			return f.Flag
		}
	}
	return 0
}

// notCarried counts an attribute that a trace cannot store.
func (t *dictionary) notCarried(of string) {
	t.d.report.Note(ntconv.CodeNotCarried, 1, t.d.place.offset, "attributes of "+of)
}

func (t *dictionary) function(m *message) {
	var f ntconv.Function
	for m.next() {
		switch {
		case m.is(1, varint):
			f.Name = t.text(m.n)
		case m.is(2, varint):
			f.SystemName = t.text(m.n)
		case m.is(3, varint):
			f.File = t.text(m.n)
		case m.is(4, varint):
			f.StartLine = t.line(m.n)
		default:
			t.d.unknownField("Function", m)
		}
	}
	t.functions = append(t.functions, f)
}

// line returns a line number. It counts numbers beyond 32 bits and returns 0 for them.
func (t *dictionary) line(n uint64) int32 {
	if v := int32(n); uint64(int64(v)) == n {
		return v
	}
	t.d.report.Note(ntconv.CodeNotCarried, 1, t.d.place.offset, "line numbers of more than 32 bits")
	return 0
}

func (t *dictionary) location(m *message) {
	t.locations = append(t.locations, uint32(len(t.frames)))
	first := len(t.frames)
	var mapping *ntconv.Mapping
	var address uint64
	var flags ntconv.FrameFlags
	for m.next() {
		switch {
		case m.is(1, varint):
			mapping = at(t, t.mappings, m.n, "mapping")
		case m.is(2, varint):
			address = m.n
		case m.is(3, lenType):
			sub := m.sub()
			t.frames = append(t.frames, t.frame(&sub))
			t.used += 48
			m.corrupt = m.corrupt || sub.corrupt || t.used > t.d.limits.Dictionary
		case m.isList(4):
			for _, i := range m.list(nil) {
				flags |= t.locationFlag(at(t, t.attributes, i, "attribute"))
			}
		default:
			t.d.unknownField("Location", m)
		}
	}
	t.frames = imported.EndLocation(t.frames, first, mapping, address, flags)
}

// frame decodes a Line.
func (t *dictionary) frame(m *message) (f ntconv.Frame) {
	for m.next() {
		switch {
		case m.is(1, varint):
			if m.n > 0 && m.n < uint64(len(t.functions)) {
				f.Func = &t.functions[m.n]
			} else {
				at(t, t.functions, m.n, "function")
			}
		case m.is(2, varint):
			f.Line = t.line(m.n)
		case m.is(3, varint):
			f.Column = t.line(m.n)
		default:
			t.d.unknownField("Line", m)
		}
	}
	if f.Func == nil {
		f.Func = new(ntconv.Function)
	}
	return f
}

// locationFlag returns the flag of frames that an attribute of their location states.
func (t *dictionary) locationFlag(a dictAttribute) ntconv.FrameFlags {
	switch {
	case a.Key == profiledata.AttrFolded && a.Value.Kind() == span.ValueBool:
		if a.Value.Bool() {
			return ntconv.FrameFolded
		}
		return 0
	case a.Key == profiledata.AttrFrameType && a.Value.Str() == profiledata.FrameManaged:
		return ntconv.FrameManaged
	case a.Key == profiledata.AttrFrameType && a.Value.Str() == profiledata.FrameKernel:
		return ntconv.FrameKernel
	case a.Key == profiledata.AttrFrameType && a.Value.Str() == profiledata.FrameNative:
		return ntconv.FrameNative
	}
	t.notCarried("locations, other than the frame types dotnet, kernel and native")
	return 0
}

func (t *dictionary) link(m *message) {
	var id [24]byte
	for m.next() {
		switch {
		case m.is(1, lenType) && m.to-m.from == 16:
			copy(id[:16], m.bytes())
		case m.is(2, lenType) && m.to-m.from == 8:
			copy(id[16:], m.bytes())
		case m.is(1, lenType) && m.to > m.from, m.is(2, lenType) && m.to > m.from:
			t.d.report.Note(ntconv.CodeNotCarried, 1, t.d.place.offset, "links with IDs of other than 16 and 8 bytes")
		}
	}
	t.links = append(t.links, id)
}

func (t *dictionary) stack(m *message) { t.stacks = append(t.stacks, *m) }

// stackOf returns the stack with an index, nil if it has no frames.
func (t *dictionary) stackOf(i uint64) *ntconv.Stack {
	if s, ok := t.known[uint32(i)]; ok && i <= 1<<32-1 {
		return s
	}
	m := at(t, t.stacks, i, "stack")
	limit, cut := t.budget.Limit(t.d.limits.Stack), false
	var frames []ntconv.Frame
	var locations []uint64
	for m.next() {
		if !m.isList(1) {
			t.d.unknownField("Stack", &m)
			continue
		}
		for _, l := range m.list(locations[:0]) {
			if l >= uint64(len(t.locations)-1) {
				t.d.report.Note(ntconv.CodeRepaired, 1, t.d.place.offset, fmt.Sprintf("location %d is not in the dictionary, which has %d", l, len(t.locations)-1))
				continue
			}
			own := t.frames[t.locations[l]:t.locations[l+1]]
			n := min(len(own), limit-len(frames))
			cut = cut || n < len(own)
			frames = append(frames, own[:n]...)
		}
	}
	if cut {
		t.d.report.Note(ntconv.CodeStackCut, 1, t.d.place.offset, "")
		if n := len(frames); n > 0 {
			frames[n-1].Flags &^= ntconv.FrameInlined
		}
	}
	t.budget.Add(len(frames))
	var s *ntconv.Stack
	if len(frames) > 0 {
		s = &ntconv.Stack{Frames: frames}
	}
	if t.cached += len(frames) + 1; t.cached > maxCachedFrames {
		clear(t.known)
		t.cached = len(frames) + 1
	}
	t.known[uint32(i)] = s
	return s
}
