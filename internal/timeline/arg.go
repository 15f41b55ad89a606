package timeline

import (
	"iter"
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
	value   Value               // the current arg
	labels  map[labelKey]string // names of args
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

// Args yields the args and their names; fields states whether the fields of an event are among them. The values are
// borrowed until the next one.
func (s *Source) Args(fields bool) iter.Seq2[string, *Value] {
	// This function is small enough to be inlined, so that nothing escapes. So is Members.
	return func(yield func(string, *Value) bool) { s.each(fields, yield) }
}

// Schema returns the schema of the event.
func (s *Source) Schema() *schema.Schema { return s.schemas.Of(s.Event) }

func (s *Source) each(fields bool, yield func(string, *Value) bool) {
	switch {
	case s.Event != nil:
		_ = (!fields || len(s.Event.Payload) == 0 || s.fields(yield)) && s.eventLabels(yield)
	case s.Span != nil:
		_ = s.facts(yield) && s.attributes(yield, s.Span.Attributes) && s.lists(yield)
	default:
		s.attributes(yield, s.Attributes)
	}
}

func (s *Source) fields(yield func(string, *Value) bool) bool {
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

// eventLabels yields the labels, except those that override a property of the type and IDs that are zero.
func (s *Source) eventLabels(yield func(string, *Value) bool) bool {
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
			return false
		}
	}
	return true
}

// maxLabels limits the names that labelName caches.
const maxLabels = 1 << 12

// labelName returns the name of a label in expressions.
func (s *Source) labelName(l *ntconv.Label) string {
	key := labelKey{l.IsID(), l.Name()}
	name, ok := s.labels[key]
	if !ok {
		if name = "$label." + key.name; key.isID {
			name = "$" + key.name
		}
		if s.labels == nil {
			s.labels = map[labelKey]string{}
		}
		if len(s.labels) < maxLabels {
			s.labels[key] = name
		}
	}
	return name
}

type labelKey struct {
	isID bool
	name string
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
