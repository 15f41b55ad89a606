package firefox

import (
	"encoding/binary"
	"encoding/hex"
	"math"
	"strconv"
	"strings"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/jsoncolumns"
	"github.com/ntconv/ntconv/internal/span"
	"github.com/ntconv/ntconv/internal/timeline"
	"github.com/ntconv/ntconv/schema"
)

// A format is how the Firefox Profiler formats a field of a marker (MarkerFormatType in its src/types/markers.ts).
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

// A field is a key of the data of markers with a format. Fields are numbered.
type field struct {
	key    uint32
	format format
}

// A key is a member of the data of a marker.
type key struct {
	text string
	json []byte             // with the colon
	ids  [numFormats]uint32 // number of the field plus 1, 0 if there is none
	mark uint64             // the object that was the last one with the key
	next uint32             // the key that takes its place in an object that has it already, 0 if there is none yet
	// The key was made to take the place of other keys: base is the first of them and copies the number of them, 0 for
	// names of members.
	base   string
	copies int
	// In the object jumpMark, all keys that would take this key's place are in use up to jump.
	jump     uint32
	jumpMark uint64
}

// plainCopies is the number of copies of a key that differ only in underscores. Further ones are numbered, because
// their lengths would add up to the square of their number.
const plainCopies = 8

// copyText returns the text of the key that takes the place of k.
func (k *key) copyText() string {
	if k.copies < plainCopies {
		return k.text + "_"
	}
	return k.base + "_" + strconv.Itoa(k.copies+1)
}

// Keys that the exporter sets itself, or to which the Firefox Profiler gives a meaning, in the order of reservedKeys.
const numReserved = 6

var reservedKeys = [numReserved]string{"type", "cause", "unfinished", "endThread", "innerWindowID", "stack"}

// Limits of what is kept for the whole trace. Further keys are dropped and counted, further shapes stand in each
// object.
const (
	maxKeys   = 1 << 16
	maxShapes = 1 << 16
)

// An argEncoder turns args into members of a JSON object, which follow other members:
//
//	uvarint number of the shape, ",\"key\":value,\"key\":value"
//
// A shape is the list of the fields in their order, from which the schemas of markers are made. Shape 0 stands before a
// list of its own: uvarint number of fields, uvarint number of each.
type argEncoder struct {
	table  schema.Table
	keys   []key
	byText map[string]uint32
	fields []field
	shapes map[string]uint32
	lists  [][]uint32 // fields by shape
	plans  map[*schema.Schema][]column

	object   uint64   // number of the object
	ids      []uint32 // of its fields
	body     []byte   // its members
	nested   []byte
	list     []byte // encoded ids
	replaced uint64 // strings that are not Unicode
	dropped  uint64 // members without a key
}

// A column is a field of the payloads of a schema.
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

// decode is the inverse of encode: it returns the shape, or the fields if the shape is 0, and the members.
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

// key returns the number of a key.
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
	json, _ := jsoncolumns.AppendString(nil, text)
	text = strings.Clone(text)
	a.keys = append(a.keys, key{text: text, json: append(json, ':'), base: text})
	a.byText[text] = n
	return n
}

// after returns the key that takes the place of a key.
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

// free returns the key that a member gets whose name is key n: n, or the first key in its place that the object does
// not have. Keys on the way are skipped by the next search, so that a member costs no more if many have the same name.
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

// begin begins a member. It returns false if the member has to be dropped.
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

// maxPlan limits the columns that are remembered per schema.
const maxPlan = 256

func (a *argEncoder) labels(l *ntconv.Labels) {
	for _, c := range [...]struct {
		kind  ntconv.LabelKind
		key   string
		bytes int // 0: a GUID
	}{
		{ntconv.LabelActivityID, "activity_id", 0}, {ntconv.LabelRelatedActivityID, "related_activity_id", 0},
		{ntconv.LabelTraceID, "trace_id", 16}, {ntconv.LabelSpanID, "span_id", 8},
	} {
		id, ok := l.ID(c.kind)
		if !ok || !a.begin(a.key(c.key), formatString) {
			continue
		}
		a.body = append(a.body, '"')
		if c.bytes == 0 {
			a.body = ntconv.GUID(id).Append(a.body)
		} else {
			a.body = hex.AppendEncode(a.body, id[:c.bytes])
		}
		a.body = append(a.body, '"')
	}
	list := l.List()
	for i := range list {
		switch list[i].Kind {
		case ntconv.LabelString:
			a.text(a.key(list[i].Key), list[i].Str)
		case ntconv.LabelInt:
			a.int(a.key(list[i].Key), list[i].Num, formatInteger)
		}
	}
}

// span adds the identity and the attributes of a span.
func (a *argEncoder) span(s *span.Span) {
	if !s.MadeID && s.Evidence != span.FromRuntime {
		a.text(a.key("trace_id"), s.TraceID.String())
		a.text(a.key("span_id"), s.ID.String())
		if !s.ParentID.IsZero() {
			a.text(a.key("parent_id"), s.ParentID.String())
		}
	}
	if kind := int(s.Kind); kind > 0 && kind < len(spanKinds) {
		a.text(a.key("span.kind"), spanKinds[kind])
	}
	if status := int(s.Status); status > 0 && status < len(spanStatuses) {
		a.text(a.key("span.status"), spanStatuses[status])
	}
	if s.StatusMessage != "" {
		a.text(a.key("span.status_message"), s.StatusMessage)
	}
	if s.Evidence != span.FromRuntime && s.Scope != nil && s.Scope.Name != "" {
		a.text(a.key("span.source"), s.Scope.Name)
	}
	for i := range s.Attributes {
		a.attribute(&s.Attributes[i])
	}
	if len(s.Events) > 0 && a.begin(a.key("span.events"), formatList) {
		for i := range s.Events {
			a.element(i)
			a.quote(s.Events[i].Name)
		}
		a.body = append(a.body, ']')
	}
	if len(s.Links) > 0 && a.begin(a.key("span.links"), formatList) {
		for i := range s.Links {
			a.element(i)
			a.quote(s.Links[i].ID.String())
		}
		a.body = append(a.body, ']')
	}
}

var (
	spanKinds    = [...]string{"", "internal", "server", "client", "producer", "consumer"}
	spanStatuses = [...]string{"", "ok", "error"}
)

// element begins an element of a list.
func (a *argEncoder) element(i int) {
	if i == 0 {
		a.body = append(a.body, '[')
	} else {
		a.body = append(a.body, ',')
	}
}

// value adds an arg that is made by the timeline.
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

// exact is the number up to which JavaScript has all integers.
const exact = 1 << 53

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
		a.body = appendFloat(a.body, v)
	}
}

func (a *argEncoder) text(n uint32, v string) {
	if a.begin(n, formatString) {
		a.quote(v)
	}
}

func (a *argEncoder) quote(v string) {
	var exact bool
	if a.body, exact = jsoncolumns.AppendString(a.body, v); !exact {
		a.replaced++
	}
}
