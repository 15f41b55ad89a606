package firefox

import (
	"encoding/binary"
	"math"
	"strconv"
	"strings"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/jsonio"
	"github.com/ntconv/ntconv/internal/span"
	"github.com/ntconv/ntconv/internal/timeline"
	"github.com/ntconv/ntconv/schema"
)

// A format states how the Firefox Profiler formats a field of a marker (MarkerFormatType in its src/types/markers.ts).
type format uint8

const (
	formatString format = iota
	formatInteger
	formatDecimal
	formatHexadecimal
	formatList
	numFormats
)

var formatNames = [numFormats]string{"string", "integer", "decimal", "hexadecimal", "list"}

// A field is a key of marker data together with a format. Its ID is its index in argEncoder.fields.
type field struct {
	key    uint32
	format format
}

// A key is a member name of marker data. Its ID is its index in argEncoder.keys. If an object has several members of
// the same name, each later member uses a replacement key, whose name differs.
type key struct {
	text string
	json []byte             // the quoted text and a colon
	ids  [numFormats]uint32 // ID of the field with each format plus 1; 0 means none
	mark uint64             // the last object with this key
	next uint32             // ID of the key that replaces this one if an object already has it; 0 means not known yet
	// For a key that replaces others, base is the first of them and copies their number. copies is 0 for names of
	// members.
	base   string
	copies int
	// In the object jumpMark, all replacements of this key before jump are in use.
	jump     uint32
	jumpMark uint64
}

// plainCopies is the number of replacements that append an underscore each. Further replacements append a number,
// because the total length of the strings would grow with the square of their number.
const plainCopies = 8

// copyText returns the text of the key that replaces k.
func (k *key) copyText() string {
	if k.copies < plainCopies {
		return k.text + "_"
	}
	return k.base + "_" + strconv.Itoa(k.copies+1)
}

// The first keys, in the order of reservedKeys: the exporter sets them itself, or the Firefox Profiler gives them a
// meaning.
const numReserved = 6

var reservedKeys = [numReserved]string{"type", "cause", "unfinished", "end_tid", "innerWindowID", "stack"}

// Limits of the tables that last for the whole trace. Members with further keys are dropped and counted; objects with
// further shapes contain their list of fields themselves.
const (
	maxKeys   = 1 << 16
	maxShapes = 1 << 16
)

// An argEncoder encodes args as members of a JSON object that follow other members:
//
//	uvarint number of the shape, ",\"key\":value,\"key\":value"
//
// A shape is the ordered list of the fields of an object; marker schemas are built from shapes. Shape 0 means that the
// list follows: uvarint number of fields, uvarint ID of each field.
//
// The timeline calls it during Write. encode resets ids and body and increments object for each object; all other
// fields only grow.
type argEncoder struct {
	table  schema.Table
	keys   []key
	byText map[string]uint32
	fields []field
	shapes map[string]uint32
	lists  [][]uint32 // fields by shape
	plans  map[*schema.Schema][]column

	object   uint64   // number of the current object, from 1
	ids      []uint32 // IDs of its fields
	body     []byte   // its members
	nested   []byte   // scratch for values that are encoded as a string
	list     []byte   // scratch: ids in their encoding, or a string
	replaced uint64   // strings that are not valid Unicode
	dropped  uint64   // members beyond maxKeys
}

// A column is a payload field of a schema. It caches the key of the field.
type column struct {
	name string
	key  uint32
}

func newArgEncoder() *argEncoder {
	a := &argEncoder{
		byText: make(
			map[string]uint32,
		), shapes: make(map[string]uint32), lists: make([][]uint32, 1), plans: make(map[*schema.Schema][]column),
	}
	for _, text := range reservedKeys {
		a.key(text)
	}
	return a
}

// encode implements timeline.Options.Args.
func (a *argEncoder) encode(dst []byte, s *timeline.Source) []byte {
	a.object++
	a.ids, a.body = a.ids[:0], a.body[:0]
	switch {
	case s.Event != nil:
		a.event(s.Event)
	case s.Span != nil:
		a.span(s.Span)
	default:
		for i := range s.Values {
			a.value(&s.Values[i])
		}
	}
	if len(a.ids) == 0 {
		return dst
	}
	return append(a.appendShape(dst), a.body...)
}

// appendShape appends the number of the object's shape, or shape 0 and the list of fields if the table is full.
func (a *argEncoder) appendShape(dst []byte) []byte {
	a.list = a.list[:0]
	for _, id := range a.ids {
		a.list = binary.AppendUvarint(a.list, uint64(id))
	}
	shape, ok := a.shapes[string(a.list)]
	if !ok && len(a.lists) < maxShapes {
		shape, ok = uint32(len(a.lists)), true
		a.shapes[string(a.list)] = shape
		a.lists = append(a.lists, append([]uint32(nil), a.ids...))
	}
	if ok {
		return binary.AppendUvarint(dst, uint64(shape))
	}
	dst = binary.AppendUvarint(append(dst, 0), uint64(len(a.ids)))
	return append(dst, a.list...)
}

// decode is the inverse of encode. It returns the shape, its fields and the members. For shape 0 the fields are those
// of the object itself. All results are empty if the item has no args.
func (a *argEncoder) decode(encoded []byte) (shape uint32, fields []uint32, members []byte) {
	if len(encoded) == 0 {
		return 0, nil, nil
	}
	n, size := binary.Uvarint(encoded)
	encoded = encoded[size:]
	if n != 0 {
		return uint32(n), a.lists[n], encoded
	}
	n, size = binary.Uvarint(encoded)
	encoded = encoded[size:]
	for range n {
		id, size := binary.Uvarint(encoded)
		fields, encoded = append(fields, uint32(id)), encoded[size:]
	}
	return 0, fields, encoded
}

// key returns the ID of the key with this text, or maxKeys if the table is full. Invalid UTF-8 becomes U+FFFD.
func (a *argEncoder) key(text string) uint32 {
	n, ok := a.byText[text]
	if ok {
		return n
	}
	valid := strings.ToValidUTF8(text, "\ufffd")
	if valid != text {
		a.replaced++
		return a.key(valid)
	}
	n = uint32(len(a.keys))
	if n >= maxKeys {
		return maxKeys
	}
	json := jsonio.AppendQuoted(nil, text)
	text = strings.Clone(text)
	a.keys = append(a.keys, key{text: text, json: append(json, ':'), base: text})
	a.byText[text] = n
	return n
}

// after returns the key that replaces key n, or maxKeys.
func (a *argEncoder) after(n uint32) uint32 {
	k := &a.keys[n]
	if k.jumpMark == a.object {
		return k.jump
	}
	if k.next == 0 {
		known, base, copies := len(a.keys), k.base, k.copies
		next := a.key(k.copyText())
		if len(a.keys) > known {
			a.keys[next].base, a.keys[next].copies = base, copies+1
		}
		a.keys[n].next = next
	}
	return a.keys[n].next
}

// free returns the key for a member with key n: n itself, or its first replacement that the current object does not
// have yet. It records the distance in every key that it passed, so that many members with one name cost no more than
// members with different names.
func (a *argEncoder) free(n uint32) uint32 {
	first := n
	for n < numReserved || n < maxKeys && a.keys[n].mark == a.object {
		n = a.after(n)
	}
	for first != n {
		following := a.after(first)
		a.keys[first].jump, a.keys[first].jumpMark = n, a.object
		first = following
	}
	return n
}

// begin appends the name of a member. It returns false if the member must be dropped, because the table of keys is
// full.
func (a *argEncoder) begin(n uint32, f format) bool {
	n = a.free(n)
	if n >= maxKeys {
		a.dropped++
		return false
	}
	k := &a.keys[n]
	k.mark = a.object
	if k.ids[f] == 0 {
		a.fields = append(a.fields, field{n, f})
		k.ids[f] = uint32(len(a.fields))
	}
	a.ids = append(a.ids, k.ids[f]-1)
	a.body = append(append(a.body, ','), k.json...)
	return true
}

// event adds the fields of the payload and the labels.
func (a *argEncoder) event(e *ntconv.Event) {
	s := a.table.Of(e)
	plan := a.plans[s]
	i := 0
	for f, v := range s.Values(e) {
		var k uint32
		switch {
		case i < len(plan) && plan[i].name == f.Name:
			k = plan[i].key
		case i < maxPlan:
			k = a.key(f.Name)
			plan = append(plan[:i], column{f.Name, k})
			a.plans[s] = plan
		default:
			k = a.key(f.Name)
		}
		if f.Type.Code != ntconv.TypePad64 {
			a.payload(k, f, v)
		}
		i++
	}
	if e.Labels != nil {
		a.labels(e.Labels)
	}
}

// maxPlan limits the cached columns per schema.
const maxPlan = 256

// labels adds the labels of an event, except IDs that are zero.
func (a *argEncoder) labels(l *ntconv.Labels) {
	list := l.List()
	for i := range list {
		switch c := &list[i]; {
		case c.IsID() && c.ID != [16]byte{} && a.begin(a.key(c.Name()), formatString):
			a.body = append(c.AppendText(append(a.body, '"')), '"')
		case c.Kind == ntconv.LabelString:
			a.text(a.key(c.Key), c.Str)
		case c.Kind == ntconv.LabelInt:
			a.int(a.key(c.Key), c.Num, formatInteger)
		}
	}
}

// span adds the facts about a span and its attributes.
func (a *argEncoder) span(s *span.Span) {
	for f := range span.FactCount {
		if a.list = s.AppendFact(a.list[:0], f); len(a.list) > 0 {
			a.text(a.key(f.String()), string(a.list))
		}
	}
	for i := range s.Attributes {
		a.attribute(&s.Attributes[i])
	}
	if len(s.Events) > 0 && a.begin(a.key("events"), formatList) {
		for i := range s.Events {
			a.element(i)
			a.quote(s.Events[i].Name)
		}
		a.body = append(a.body, ']')
	}
	if len(s.Links) > 0 && a.begin(a.key("links"), formatList) {
		for i := range s.Links {
			a.element(i)
			a.quote(s.Links[i].ID.String())
		}
		a.body = append(a.body, ']')
	}
}

// element begins an element of a list.
func (a *argEncoder) element(i int) {
	if i == 0 {
		a.body = append(a.body, '[')
	} else {
		a.body = append(a.body, ',')
	}
}

// value adds an arg that the timeline computed.
func (a *argEncoder) value(v *timeline.Value) {
	switch n := a.key(v.Name); v.Kind {
	case timeline.TextValue:
		a.text(n, v.Text)
	case timeline.IntValue:
		a.int(n, v.Int, formatInteger)
	case timeline.FloatValue:
		a.float(n, v.Float)
	}
}

// exact is the limit up to which JavaScript represents all integers exactly.
const exact = 1 << 53

// int adds an integer, as a string if JavaScript cannot represent it exactly.
func (a *argEncoder) int(n uint32, v int64, f format) {
	if v > exact || v < -exact {
		f = formatString
	}
	if a.begin(n, f) {
		a.body = appendInt(a.body, v)
	}
}

func (a *argEncoder) uint(n uint32, v uint64, f format) {
	if v > exact {
		f = formatString
	}
	if a.begin(n, f) {
		a.body = appendUint(a.body, v)
	}
}

func (a *argEncoder) float(n uint32, v float64) {
	f := formatDecimal
	if math.IsNaN(v) || math.IsInf(v, 0) {
		f = formatString
	}
	if a.begin(n, f) {
		a.body = jsonio.AppendDouble(a.body, v)
	}
}

func (a *argEncoder) text(n uint32, v string) {
	if a.begin(n, formatString) {
		a.quote(v)
	}
}

func (a *argEncoder) quote(v string) {
	var exact bool
	if a.body, exact = jsonio.AppendString(a.body, v); !exact {
		a.replaced++
	}
}
