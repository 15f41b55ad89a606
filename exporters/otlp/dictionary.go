package otlp

import (
	"bytes"
	"encoding/binary"

	"github.com/ntconv/ntconv/internal/profile/dictionary"
	"github.com/ntconv/ntconv/internal/span"
	"github.com/ntconv/ntconv/internal/span/profiles"
	"github.com/ntconv/ntconv/sample"
)

// A numbering assigns the numbers of a request to those of a batch, from 1 in the order of their first use.
type numbering struct {
	new   []uint32 // by old number; 0 means none yet
	order []uint32 // old numbers
}

func (n *numbering) of(old uint32) uint64 {
	if old == 0 {
		return 0
	}
	for int(old) >= len(n.new) {
		n.new = append(n.new, make([]uint32, max(len(n.new), int(old)+1-len(n.new)))...)
	}
	if n.new[old] == 0 {
		n.order = append(n.order, old)
		n.new[old] = uint32(len(n.order))
	}
	return uint64(n.new[old])
}

// A dictionaryEncoder encodes the profiles of a request, and then the dictionary with what they refer to.
type dictionaryEncoder struct {
	*profileBatch
	strings, functions, locations, mappings, stacks, attributes, links numbering

	tables [fieldStacks + 1]encoder // by field of ProfilesDictionary
	lists  []uint32
}

// Fields of ProfilesDictionary (profiles.proto, v1development).
const (
	fieldMappings   = 1
	fieldLocations  = 2
	fieldFunctions  = 3
	fieldLinks      = 4
	fieldStrings    = 5
	fieldAttributes = 6
	fieldStacks     = 7
)

// encode appends the profiles of rows to out, as elements of a ScopeProfiles message. It returns the rows with their
// ranges, and the dictionary as a field of the request. The batch may get more strings and attributes.
func (b *profileBatch) encode(out *encoder, rows []row) (encoded []row, dict []byte) {
	d := &dictionaryEncoder{profileBatch: b}
	for _, r := range rows {
		start := len(out.b)
		d.profile(out, &r)
		encoded = append(encoded, row{start: start, end: len(out.b), path: r.path})
	}
	return encoded, d.dictionary()
}

func (d *dictionaryEncoder) text(s string) uint64 {
	return d.strings.of(d.profileBatch.tables.Strings.Add(s))
}

// profile appends a message Profile with the samples of a row.
func (d *dictionaryEncoder) profile(e *encoder, r *row) {
	const fieldProfile, fieldProfileID = 2, 7
	p := r.part
	h := p.head
	message := e.begin(fieldProfile)
	d.valueType(e, 1, h.typ)
	for i := r.start; i < r.end; i++ {
		d.sample(e, p, i)
	}
	e.fixed64(3, h.time)
	e.varint(4, h.duration)
	if h.periodType != (sample.Type{}) {
		d.valueType(e, 5, h.periodType)
	}
	e.varint(6, uint64(h.period))
	if id := p.id(r, e.b[message:]); !id.IsZero() {
		e.element(fieldProfileID, string(id[:]))
	}
	e.varint(8, uint64(h.dropped))
	if p.number == 0 && r.start == 0 {
		e.text(9, h.format)
		if h.payload != "" {
			e.element(10, h.payload)
		}
	}
	d.lists = d.lists[:0]
	for _, list := range [...][]span.Attribute{h.attributes, p.comments} {
		for i := range list {
			d.lists = append(d.lists, d.attribute(list[i].Key, list[i].Value, ""))
		}
	}
	d.indices(e, 11, d.lists, &d.attributes)
	e.end(message)
}

// id returns the ID of the profile that a row is. A part of a profile with an ID has another one. It is a hash, so that a
// trace that is sent twice has the same.
func (p *profilePart) id(r *row, message []byte) span.TraceID {
	whole := p.number == 0 && r.start == 0 && r.end == len(p.samples)
	if whole && (!p.head.id.IsZero() || !p.head.hashed) {
		return p.head.id
	}
	var h span.Hash
	for _, e := range p.path {
		if e != nil {
			h.Text(string(e.head))
		}
	}
	h.Text(p.head.typ.Type)
	h.Text(p.head.typ.Unit)
	h.Number(uint64(p.number))
	h.Number(uint64(r.start))
	h.Text(string(message))
	return h.Trace()
}

func (d *dictionaryEncoder) valueType(e *encoder, field int, t sample.Type) {
	message := e.begin(field)
	e.varint(1, d.text(t.Type))
	e.varint(2, d.text(t.Unit))
	e.end(message)
}

// sample appends sample i of a part.
func (d *dictionaryEncoder) sample(e *encoder, p *profilePart, i int) {
	s, to := &p.samples[i], uint32(len(p.attributes))
	if i+1 < len(p.samples) {
		to = p.samples[i+1].attributes
	}
	message := e.begin(2)
	e.varint(1, d.stacks.of(s.stack))
	d.indices(e, 2, p.attributes[s.attributes:to], &d.attributes)
	e.varint(3, d.links.of(s.link))
	values := e.begin(4)
	e.b = binary.AppendUvarint(e.b, uint64(s.value))
	e.end(values)
	e.end(message)
}

// indices appends a packed list of numbers, unless it is empty.
func (d *dictionaryEncoder) indices(e *encoder, field int, list []uint32, n *numbering) {
	if len(list) == 0 {
		return
	}
	message := e.begin(field)
	for _, old := range list {
		e.b = binary.AppendUvarint(e.b, n.of(old))
	}
	e.end(message)
}

// dictionary returns the dictionary as field 2 of the request. The order in which it encodes the tables is that of
// references between them; element 0 of each table is empty.
func (d *dictionaryEncoder) dictionary() []byte {
	for field := fieldMappings; field <= fieldStacks; field++ {
		d.tables[field].length(field, 0)
	}
	d.encodeStacks()
	d.encodeLocations()
	d.encodeFunctions()
	d.encodeMappings()
	d.encodeAttributes()
	for _, old := range d.links.order {
		e, id := &d.tables[fieldLinks], d.profileBatch.links.At(old)
		message := e.begin(fieldLinks)
		e.element(1, string(id[:16]))
		e.element(2, string(id[16:]))
		e.end(message)
	}
	for _, old := range d.strings.order {
		e := &d.tables[fieldStrings]
		message := e.begin(fieldStrings)
		e.b = d.profileBatch.tables.Strings.Append(e.b, old)
		e.end(message)
	}
	var all [][]byte
	size := 0
	for i := range d.tables {
		all = append(all, d.tables[i].b)
		size += len(d.tables[i].b)
	}
	var out encoder
	out.length(2, size)
	return append(out.b, bytes.Join(all, nil)...)
}

func (d *dictionaryEncoder) encodeStacks() {
	e := &d.tables[fieldStacks]
	for _, old := range d.stacks.order {
		message := e.begin(fieldStacks)
		list := e.begin(1)
		for key := d.profileBatch.stacks.At(old); len(key) > 0; {
			l, n := binary.Uvarint(key)
			key = key[n:]
			e.b = binary.AppendUvarint(e.b, d.location(uint32(l)))
		}
		e.end(list)
		e.end(message)
	}
}

// The following methods return the number of an object, 0 for one without contents, which is element 0 of its table.

func (d *dictionaryEncoder) location(old uint32) uint64 {
	l, lines := d.profileBatch.tables.Location(old)
	if l.Address == 0 && l.Mapping() == 0 && len(lines) == 0 && l.Code() == dictionary.UnknownCode && !l.Folded() {
		return 0
	}
	return d.locations.of(old)
}

func (d *dictionaryEncoder) function(old uint32) uint64 {
	if old > 0 && d.profileBatch.tables.Functions()[old-1] == (dictionary.Function{}) {
		return 0
	}
	return d.functions.of(old)
}

func (d *dictionaryEncoder) mapping(old uint32) uint64 {
	if old > 0 && d.profileBatch.tables.Mappings()[old-1] == (dictionary.Mapping{}) {
		return 0
	}
	return d.mappings.of(old)
}

// frameTypes are the values of profiles.AttrFrameType.
var frameTypes = [...]string{
	dictionary.NativeCode: profiles.FrameNative, dictionary.ManagedCode: profiles.FrameManaged, dictionary.KernelCode: profiles.FrameKernel,
}

func (d *dictionaryEncoder) encodeLocations() {
	e := &d.tables[fieldLocations]
	for _, old := range d.locations.order {
		l, lines := d.profileBatch.tables.Location(old)
		message := e.begin(fieldLocations)
		e.varint(1, d.mapping(l.Mapping()))
		e.varint(2, l.Address)
		for _, n := range lines {
			line := e.begin(3)
			e.varint(1, d.function(n.Function))
			e.varint(2, uint64(int64(n.Line)))
			e.varint(3, uint64(int64(n.Column)))
			e.end(line)
		}
		d.lists = d.lists[:0]
		if name := frameTypes[l.Code()]; name != "" {
			d.lists = append(d.lists, d.attribute(profiles.AttrFrameType, span.String(name), ""))
		}
		if l.Folded() {
			d.lists = append(d.lists, d.attribute(profiles.AttrFolded, span.Bool(true), ""))
		}
		d.indices(e, 4, d.lists, &d.attributes)
		e.end(message)
	}
}

func (d *dictionaryEncoder) encodeFunctions() {
	e, all := &d.tables[fieldFunctions], d.profileBatch.tables.Functions()
	for _, old := range d.functions.order {
		f := &all[old-1]
		message := e.begin(fieldFunctions)
		e.varint(1, d.strings.of(f.Name))
		e.varint(2, d.strings.of(f.System))
		e.varint(3, d.strings.of(f.File))
		e.varint(4, uint64(int64(f.StartLine)))
		e.end(message)
	}
}

func (d *dictionaryEncoder) encodeMappings() {
	e := &d.tables[fieldMappings]
	for _, old := range d.mappings.order {
		m := &d.profileBatch.tables.Mappings()[old-1]
		message := e.begin(fieldMappings)
		e.varint(1, m.Start)
		e.varint(2, m.Limit)
		e.varint(3, m.Offset)
		e.varint(4, d.text(m.File))
		d.lists = d.lists[:0]
		if m.BuildID != "" {
			key := profiles.AttrBuildID
			if n := len(m.BuildID); dictionary.IsAssembly(m.File) && n > 32 && n < 40 { // GNU build IDs have 16, 32 or 40 digits
				key = profiles.AttrPDBID
			}
			d.lists = append(d.lists, d.attribute(key, span.String(m.BuildID), ""))
		}
		for i, has := range [...]bool{m.Functions, m.Files, m.Lines, m.Inlined} {
			if has {
				d.lists = append(d.lists, d.attribute(profiles.MappingFlags[i].Attribute, span.Bool(true), ""))
			}
		}
		d.indices(e, 5, d.lists, &d.attributes)
		e.end(message)
	}
}

func (d *dictionaryEncoder) encodeAttributes() {
	e := &d.tables[fieldAttributes]
	for _, old := range d.attributes.order {
		b := d.profileBatch.attributes.At(old)
		key, n := binary.Uvarint(b)
		unit, m := binary.Uvarint(b[n:])
		message := e.begin(fieldAttributes)
		e.varint(1, d.strings.of(uint32(key)))
		e.element(2, string(b[n+m:]))
		e.varint(3, d.strings.of(uint32(unit)))
		e.end(message)
	}
}
