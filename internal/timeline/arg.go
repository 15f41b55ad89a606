package timeline

import (
	"encoding/hex"
	"iter"
	"math"
	"slices"
	"strconv"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/span"
	"github.com/ntconv/ntconv/schema"
)

// A Source is the origin of the args of an item. It is borrowed, with all its contents, until Options.Args returns.
//
// The args of an event are its fields and labels, the latter with their names in expressions: $activity_id, $label.KEY.
// The args of a span are its facts, attributes, events and links. An attribute with the name of one of the others is
// preceded by "attributes.".
type Source struct {
	// Event is an event of the trace.
	Event *ntconv.Event
	// Span is a span or an interval of the runtime. Span.Events contains only events from its payload, which are
	// Instants too. The IDs of intervals and of slices of Chrome's format are meaningless numbers.
	Span *span.Span
	// Attributes are all other args: of a loss, or of an event in the payload of a span.
	Attributes []span.Attribute

	schemas schema.Table
	value   Value             // the current arg
	labels  map[string]string // names of args by key of label
}

// Names of args that are neither fields, labels, facts nor attributes. Exporters add the last four to those of a slice.
const (
	argEvents     = "events"
	argLinks      = "links"
	ArgUnfinished = "unfinished"
	ArgThread     = "tid"
	ArgEndThread  = "end_tid"
	ArgContinued  = "continued"
)

// reserved are the names that attributes of spans cannot have.
var reserved = [...]string{
	span.FactTraceID.String(), span.FactSpanID.String(), span.FactParentSpanID.String(), span.FactKind.String(),
	span.FactScope.String(), span.FactStatus.String(), span.FactStatusMessage.String(), span.FactTraceState.String(),
	argEvents, argLinks, ArgUnfinished, ArgThread, ArgEndThread, ArgContinued,
}

// Args yields the args and their names. The values are borrowed until the next one.
func (s *Source) Args() iter.Seq2[string, *Value] {
	// This function is small enough to be inlined, so that nothing escapes. So are the next ones.
	return func(yield func(string, *Value) bool) {
		if s.fields(yield) {
			s.others(yield)
		}
	}
}

// OtherArgs yields the args that are not fields of the event.
func (s *Source) OtherArgs() iter.Seq2[string, *Value] {
	return func(yield func(string, *Value) bool) { s.others(yield) }
}

// Schema returns the schema of the event.
func (s *Source) Schema() *schema.Schema { return s.schemas.Of(s.Event) }

func (s *Source) fields(yield func(string, *Value) bool) bool {
	if s.Event == nil || len(s.Event.Payload) == 0 {
		return true
	}
	for f, v := range s.Schema().Values(s.Event) {
		if v.Kind() == ntconv.ValueNull {
			continue
		}
		s.value.decode(&v)
		s.value.Pointer = f.Type.Code == ntconv.TypePointer
		if e := f.Type.Elem; e != nil {
			s.value.Nests = e.Code == ntconv.TypeObject || e.Elem != nil
		}
		if !yield(f.Name, &s.value) {
			return false
		}
	}
	return true
}

func (s *Source) others(yield func(string, *Value) bool) {
	switch {
	case s.Event != nil:
		s.eventLabels(yield)
	case s.Span != nil:
		_ = s.facts(yield) && s.attributes(yield, s.Span.Attributes) && s.lists(yield)
	default:
		s.attributes(yield, s.Attributes)
	}
}

// eventLabels yields the labels, except those that override a property of the type and IDs that are zero.
func (s *Source) eventLabels(yield func(string, *Value) bool) {
	list := s.Event.Labels.List()
	for i := range list {
		l, v := &list[i], &s.value
		v.Err = nil
		switch {
		case l.IsID() && l.ID != [16]byte{}, l.Kind == ntconv.LabelString:
			v.Kind, v.Text = TextValue, l.AppendText(v.Text[:0])
		case l.Kind == ntconv.LabelInt:
			v.Kind, v.num = IntValue, uint64(l.Num)
		default:
			continue
		}
		if !yield(s.labelName(l), v) {
			return
		}
	}
}

// maxLabels limits the names that labelName caches.
const maxLabels = 1 << 12

func (s *Source) labelName(l *ntconv.Label) string {
	switch l.Kind {
	case ntconv.LabelActivityID:
		return "$activity_id"
	case ntconv.LabelRelatedActivityID:
		return "$related_activity_id"
	case ntconv.LabelTraceID:
		return "$trace_id"
	case ntconv.LabelSpanID:
		return "$span_id"
	}
	name, ok := s.labels[l.Key]
	if !ok {
		name = "$label." + l.Key
		if s.labels == nil {
			s.labels = map[string]string{}
		}
		if len(s.labels) < maxLabels {
			s.labels[l.Key] = name
		}
	}
	return name
}

func (s *Source) facts(yield func(string, *Value) bool) bool {
	v := &s.value
	v.Err = nil
	for f := range span.FactCount {
		if v.Text = s.Span.AppendFact(v.Text[:0], f); len(v.Text) > 0 {
			if v.Kind = TextValue; !yield(f.String(), v) {
				return false
			}
		}
	}
	return true
}

// attributes yields the attributes that have a value.
func (s *Source) attributes(yield func(string, *Value) bool, list []span.Attribute) bool {
	for i := range list {
		a := &list[i]
		if a.Value.Kind() <= span.ValueEmpty {
			continue
		}
		name := a.Key
		if s.Span != nil && slices.Contains(reserved[:], name) {
			name = "attributes." + name
		}
		if s.value.attribute(&a.Value); !yield(name, &s.value) {
			return false
		}
	}
	return true
}

// lists yields the events and links of a span as lists of objects.
func (s *Source) lists(yield func(string, *Value) bool) bool {
	var events, links []span.Value
	for i := range s.Span.Events {
		e := &s.Span.Events[i]
		members := []span.Attribute{
			{Key: "name", Value: span.String(e.Name)}, {Key: "ts_ns", Value: span.String(strconv.FormatUint(e.Time, 10))},
		}
		if len(e.Attributes) > 0 {
			members = append(members, span.Attribute{Key: "attributes", Value: span.Map(e.Attributes)})
		}
		events = append(events, span.Map(members))
	}
	for i := range s.Span.Links {
		if s.Span.MadeID {
			break // the links have synthetic IDs, too
		}
		l := &s.Span.Links[i]
		links = append(links, span.Map([]span.Attribute{
			{Key: span.FactTraceID.String(), Value: span.String(l.TraceID.String())},
			{Key: span.FactSpanID.String(), Value: span.String(l.ID.String())},
		}))
	}
	return s.list(yield, argEvents, events) && s.list(yield, argLinks, links)
}

func (s *Source) list(yield func(string, *Value) bool, name string, elems []span.Value) bool {
	if len(elems) == 0 {
		return true
	}
	list := span.Array(elems)
	s.value.attribute(&list)
	return yield(name, &s.value)
}

// A ValueKind is the type of a Value.
type ValueKind uint8

const (
	NullValue ValueKind = iota // only in lists and objects
	BoolValue                  // Uint is 0 or 1
	IntValue
	UintValue
	FloatValue
	TextValue
	ListValue
	ObjectValue
)

// A Value is the value of an arg, of an element of a list, or of a member of an object.
type Value struct {
	Kind ValueKind
	// Pointer means that a UintValue is an address.
	Pointer bool
	// Nests means that the elements of a ListValue are lists or objects. It is not set for values in lists and objects.
	Nests bool
	// Text is the text of a TextValue, which need not be valid UTF-8: a string, a GUID, a time as RFC 3339, bytes as
	// "hex:" and hexadecimal digits, or the error of a field that cannot be decoded.
	Text []byte
	Err  error // of a field that cannot be decoded

	num     uint64
	decoded ntconv.Value // of a list or object, unless list is set
	list    *span.Value
	child   *Value // the current element or member, reused
}

// decode sets v to a decoded field.
func (v *Value) decode(d *ntconv.Value) {
	v.Err, v.list = nil, nil
	v.Kind, v.Text = TextValue, v.Text[:0]
	switch d.Kind() {
	case ntconv.ValueNull:
		v.Kind = NullValue
	case ntconv.ValueBool:
		v.bool(d.Bool())
	case ntconv.ValueInt:
		v.Kind, v.num = IntValue, d.Uint()
	case ntconv.ValueUint:
		v.Kind, v.num = UintValue, d.Uint()
	case ntconv.ValueFloat:
		v.Kind, v.num = FloatValue, math.Float64bits(d.Float())
	case ntconv.ValueString:
		v.Text = d.AppendString(v.Text)
	case ntconv.ValueBytes:
		v.hex(d.Bytes())
	case ntconv.ValueGUID:
		v.Text = d.GUID().Append(v.Text)
	case ntconv.ValueTime:
		v.Text = d.Time().AppendFormat(v.Text, "2006-01-02T15:04:05.0000000Z")
	case ntconv.ValueList:
		v.Kind, v.decoded = ListValue, *d
	case ntconv.ValueObject:
		v.Kind, v.decoded = ObjectValue, *d
	case ntconv.ValueError:
		v.Err = d.Err()
		v.Text = append(append(v.Text, "error: "...), v.Err.Error()...)
	}
}

// attribute sets v to the value of an attribute, which it borrows.
func (v *Value) attribute(a *span.Value) {
	v.Err, v.list, v.Pointer, v.Nests = nil, a, false, false
	v.Kind, v.Text = NullValue, v.Text[:0]
	switch a.Kind() {
	case span.ValueString:
		v.Kind, v.Text = TextValue, append(v.Text, a.Str()...)
	case span.ValueBool:
		v.bool(a.Bool())
	case span.ValueInt:
		v.Kind, v.num = IntValue, uint64(a.Int())
	case span.ValueFloat:
		v.Kind, v.num = FloatValue, math.Float64bits(a.Float())
	case span.ValueBytes:
		v.Kind = TextValue
		v.hex([]byte(a.Str()))
	case span.ValueArray:
		v.Kind = ListValue
		v.Nests = slices.ContainsFunc(a.Elems(), func(e span.Value) bool { return e.Kind() >= span.ValueArray })
	case span.ValueMap:
		v.Kind = ObjectValue
	}
}

func (v *Value) bool(b bool) {
	v.Kind, v.num = BoolValue, 0
	if b {
		v.num = 1
	}
}

func (v *Value) hex(b []byte) { v.Text = hex.AppendEncode(append(v.Text, "hex:"...), b) }

// Int returns an IntValue, Uint a UintValue or BoolValue, Float a FloatValue.
func (v *Value) Int() int64     { return int64(v.num) }
func (v *Value) Uint() uint64   { return v.num }
func (v *Value) Float() float64 { return math.Float64frombits(v.num) }

// Elems yields the elements of a ListValue. Each is borrowed until the next one.
func (v *Value) Elems() iter.Seq[*Value] {
	return func(yield func(*Value) bool) { v.elems(yield) }
}

func (v *Value) elems(yield func(*Value) bool) {
	c := v.borrowed()
	if v.list != nil {
		list := v.list.Elems()
		for i := range list {
			if c.attribute(&list[i]); !yield(c) {
				return
			}
		}
		return
	}
	for e := range v.decoded.Elems() {
		if c.decode(&e); !yield(c) {
			return
		}
	}
}

// Members yields the members of an ObjectValue. Each is borrowed until the next one.
func (v *Value) Members() iter.Seq2[string, *Value] {
	return func(yield func(string, *Value) bool) { v.members(yield) }
}

func (v *Value) members(yield func(string, *Value) bool) {
	c := v.borrowed()
	if v.list != nil {
		list := v.list.Members()
		for i := range list {
			if c.attribute(&list[i].Value); !yield(list[i].Key, c) {
				return
			}
		}
		return
	}
	for f, m := range v.decoded.Fields() {
		if c.decode(&m); !yield(f.Name, c) {
			return
		}
	}
}

// borrowed returns the value that elements and members are lent in.
func (v *Value) borrowed() *Value {
	if v.child == nil {
		v.child = new(Value)
	}
	return v.child
}

// A JSON appends values as JSON. Its functions append what formats write in different ways.
type JSON struct {
	Text  func(dst, text []byte) []byte // with quotes
	Int   func(dst []byte, n int64) []byte
	Uint  func(dst []byte, n uint64) []byte
	Float func(dst []byte, f float64) []byte
	key   []byte
}

// Append appends a value.
func (j *JSON) Append(dst []byte, v *Value) []byte {
	switch v.Kind {
	case BoolValue:
		return strconv.AppendBool(dst, v.num != 0)
	case IntValue:
		return j.Int(dst, v.Int())
	case UintValue:
		return j.Uint(dst, v.Uint())
	case FloatValue:
		return j.Float(dst, v.Float())
	case TextValue:
		return j.Text(dst, v.Text)
	case ListValue:
		dst = append(dst, '[')
		start := len(dst)
		for e := range v.Elems() {
			if len(dst) > start {
				dst = append(dst, ',')
			}
			dst = j.Append(dst, e)
		}
		return append(dst, ']')
	case ObjectValue:
		dst = append(dst, '{')
		for name, m := range v.Members() {
			dst = j.Append(j.Name(dst, name), m)
		}
		return append(dst, '}')
	}
	return append(dst, "null"...)
}

// Name appends the name of a member and a colon, after a comma unless the member is the first of its object.
func (j *JSON) Name(dst []byte, name string) []byte {
	if dst[len(dst)-1] != '{' {
		dst = append(dst, ',')
	}
	j.key = append(j.key[:0], name...)
	return append(j.Text(dst, j.key), ':')
}
