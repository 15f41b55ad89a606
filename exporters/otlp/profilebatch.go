package otlp

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/data/intern"
	"github.com/ntconv/ntconv/internal/profile"
	"github.com/ntconv/ntconv/internal/profile/dictionary"
	"github.com/ntconv/ntconv/internal/profile/meters"
	"github.com/ntconv/ntconv/internal/span"
	"github.com/ntconv/ntconv/sample"
)

// A profileBatch holds the profiles of a batch and the objects that their samples refer to, by number; 0 means none. Those
// of a profile that does not fit into a batch are in several parts, each a profile of its own with the dictionary of its
// batch. The numbers of a request are different ones, because a dictionary contains only what the request refers to.
type profileBatch struct {
	tables     *dictionary.Tables
	stacks     intern.Bytes            // numbers of locations, leaf first, as varints
	attributes intern.Bytes            // numbers of the key and of the unit as varints, then an AnyValue
	links      intern.Bytes            // trace ID and span ID
	labels     map[ntconv.Label]uint32 // numbers of attributes
	parts      []*profilePart
	open       map[partKey]*profilePart
	size       int // about that of everything but tables, in bytes

	scratch struct {
		encoder
		locations  []uint64
		attributes []uint32
	}
}

func newProfileBatch() *profileBatch {
	b := &profileBatch{tables: dictionary.New(false), labels: make(map[ntconv.Label]uint32), open: make(map[partKey]*profilePart)}
	b.tables.Codes = true
	return b
}

// A partKey identifies the profile that a sample belongs to.
type partKey struct {
	head *profileHead
	at   path // resource and scope
}

// A profileHead has what a profile states apart from its samples.
type profileHead struct {
	typ, periodType sample.Type
	period          int64
	time, duration  uint64 // as in profiles.proto
	id              span.TraceID
	hashed          bool // without an ID, it is a hash of the contents
	attributes      []span.Attribute
	dropped         uint32
	format, payload string // of the original payload
	parts           int    // created so far
}

// A profilePart has samples of a profile.
type profilePart struct {
	head       *profileHead
	path       path
	samples    []profileSample
	attributes []uint32 // of all samples
	number     int      // of the part of the profile, from 0

	comments  []span.Attribute // in addition to those of head
	commented bool             // all samples of the profile are known
}

// A profileSample is a sample with numbers of the batch. Its attributes end where those of the next sample begin.
type profileSample struct {
	stack, link, attributes uint32
	value                   int64
}

// Approximate sizes of encoded messages in bytes.
const (
	profileSampleSize = 16
	profilePartSize   = 128
)

// add adds the values of a sample that are not 0. newPart is called when a profile begins in this batch.
func (b *profileBatch) add(x *profile.Sample, heads []*profileHead, at path, plain bool, newPart func()) {
	stack := b.stack(x.Frames)
	attributes, link := b.sampleAttributes(x.Labels, plain)
	for i, v := range x.Values {
		if v == 0 || heads[i] == nil {
			continue
		}
		part := b.open[partKey{heads[i], at}]
		if part == nil {
			part = &profilePart{head: heads[i], path: at, number: heads[i].parts}
			heads[i].parts++
			b.open[partKey{heads[i], at}] = part
			b.parts = append(b.parts, part)
			b.size += profilePartSize + at.maxSize() + len(part.head.payload)
			newPart()
		}
		part.samples = append(part.samples, profileSample{stack, link, uint32(len(part.attributes)), v})
		part.attributes = append(part.attributes, attributes...)
		b.size += profileSampleSize + 2*len(attributes)
	}
}

// total returns about the size of the request in bytes.
func (b *profileBatch) total() int { return b.size + b.tables.Size() }

// rows returns one row per part.
func (b *profileBatch) rows(dst []row) []row {
	for _, p := range b.parts {
		dst = append(dst, row{part: p, end: len(p.samples), path: p.path})
	}
	return dst
}

// stack returns the number of a stack.
func (b *profileBatch) stack(frames []ntconv.Frame) uint32 {
	s := &b.scratch
	s.locations = b.tables.AppendLocations(s.locations[:0], frames)
	s.b = s.b[:0]
	for _, l := range s.locations {
		s.b = binary.AppendUvarint(s.b, l)
	}
	return b.number(&b.stacks, s.b)
}

// number returns the number of an object in a table.
func (b *profileBatch) number(t *intern.Bytes, object []byte) uint32 {
	const overhead = 6
	known := t.Len()
	n := t.Add(object)
	if t.Len() > known {
		b.size += len(object) + overhead
	}
	return n
}

// attribute returns the number of an attribute.
func (b *profileBatch) attribute(key string, v span.Value, unit string) uint32 {
	s := &b.scratch
	s.b = binary.AppendUvarint(s.b[:0], uint64(b.tables.Strings.Add(key)))
	s.b = binary.AppendUvarint(s.b, uint64(b.tables.Strings.Add(unit)))
	s.value(&v)
	return b.number(&b.attributes, s.b)
}

// Attributes of the semantic conventions for samples.
const (
	attrConventionThreadID = "thread.id"
	attrKind               = "ntconv.profile.kind" // the kind of profile, as ntconv names it
)

// sampleAttributes returns the attributes and the link of a sample with these labels. Those of an imported profile are
// plain: they keep their keys. Otherwise those of the process are omitted, because the resource has them.
func (b *profileBatch) sampleAttributes(labels []ntconv.Label, plain bool) (attributes []uint32, link uint32) {
	list := b.scratch.attributes[:0]
	var ids [2]*ntconv.Label
	for i := range labels {
		switch l := &labels[i]; {
		case l.Key == meters.LabelTrace && isHex(l, 32):
			ids[0] = l
		case l.Key == meters.LabelSpan && isHex(l, 16):
			ids[1] = l
		case !plain && (l.Key == meters.LabelPID || l.Key == meters.LabelProcess || l.Key == meters.LabelHost):
		default:
			list = append(list, b.label(l, plain))
		}
	}
	if ids[0] != nil && ids[1] != nil {
		var id [24]byte
		_, _ = hex.Decode(id[:16], []byte(ids[0].Str)) // isHex has checked the digits
		_, _ = hex.Decode(id[16:], []byte(ids[1].Str))
		link = b.number(&b.links, id[:])
	} else {
		for _, l := range ids {
			if l != nil {
				list = append(list, b.label(l, plain))
			}
		}
	}
	b.scratch.attributes = list
	return list, link
}

// isHex reports whether a label is a string of n hexadecimal digits in lower case.
func isHex(l *ntconv.Label, n int) bool {
	if l.Kind != ntconv.LabelString || len(l.Str) != n {
		return false
	}
	for i := range l.Str {
		if c := l.Str[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}

// label returns the number of the attribute of a label.
func (b *profileBatch) label(l *ntconv.Label, plain bool) uint32 {
	if n, ok := b.labels[*l]; ok {
		return n
	}
	key, unit, v := l.Key, "", span.String(l.Str)
	if l.Kind == ntconv.LabelInt {
		v, unit = span.Int(l.Num), l.Unit
	}
	if !plain {
		switch key {
		case meters.LabelThreadID:
			key, unit = attrConventionThreadID, ""
		case meters.LabelThread:
			key = attrThreadName
		}
	}
	n := b.attribute(key, v, unit)
	b.labels[*l] = n
	return n
}

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

// frameTypes are the values of the attribute profile.frame.type.
var frameTypes = [...]string{dictionary.NativeCode: "native", dictionary.ManagedCode: "dotnet", dictionary.KernelCode: "kernel"}

// Attributes of locations and mappings by OpenTelemetry's conventions.
const (
	attrFrameType = "profile.frame.type"
	attrFolded    = "pprof.location.is_folded"
	attrBuildID   = "process.executable.build_id.gnu"
	attrPDBID     = "ntconv.pdb_id" // PDB signature and age of an assembly, for which there is no convention
)

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
			d.lists = append(d.lists, d.attribute(attrFrameType, span.String(name), ""))
		}
		if l.Folded() {
			d.lists = append(d.lists, d.attribute(attrFolded, span.Bool(true), ""))
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
			key := attrBuildID
			if n := len(m.BuildID); dictionary.IsAssembly(m.File) && n > 32 && n < 40 { // GNU build IDs have 16, 32 or 40 digits
				key = attrPDBID
			}
			d.lists = append(d.lists, d.attribute(key, span.String(m.BuildID), ""))
		}
		for i, has := range [...]bool{m.Functions, m.Files, m.Lines, m.Inlined} {
			if has {
				d.lists = append(d.lists, d.attribute(mappingFlags[i], span.Bool(true), ""))
			}
		}
		d.indices(e, 5, d.lists, &d.attributes)
		e.end(message)
	}
}

// mappingFlags are the attributes for the flags of a mapping in profile.proto.
var mappingFlags = [...]string{
	"pprof.mapping.has_functions", "pprof.mapping.has_filenames", "pprof.mapping.has_line_numbers", "pprof.mapping.has_inline_frames",
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
