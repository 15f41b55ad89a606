package span

import (
	"encoding/binary"
	"encoding/hex"
	"math"
	"unicode/utf8"

	"github.com/ntconv/ntconv"
)

// An Encoder converts spans to events of a trace. It is not safe for concurrent use.
//
// Encode sets final, data, parts and pending for one span, and Next consumes them.
type Encoder struct {
	span, part *ntconv.Type
	event      ntconv.Event
	final      payload // payload of the Span event
	data       payload // data of all SpanPart events, in the wide encoding
	chunk      payload // payload of the current SpanPart event
	header     int     // size of the fields at the start of final, with which SpanPart events begin too
	next       int     // number of the next SpanPart event
	parts      int     // number of SpanPart events; 0 if the span is one event
	pending    bool    // the Span event has not been returned yet

	// Encodings of the latest Scope and Resource, because consecutive spans usually share them. body sets and clears
	// them.
	scope    *Scope
	resource *Resource
	scopeEnc []byte
	resEnc   []byte
}

// NewEncoder returns an Encoder. Its events have one of its two types, so a source uses one Encoder for all spans.
func NewEncoder() *Encoder {
	return &Encoder{span: spanType(), part: partType(), data: payload{wide: true}}
}

// Types returns the two types of the events. They are immutable.
func (c *Encoder) Types() []*ntconv.Type { return []*ntconv.Type{c.span, c.part} }

// Encode starts the conversion of a span, which it borrows until Next returns nil. It encodes Context, ParentID,
// TraceState, Flags, Name, Kind, times, attributes, events, links, dropped counts, status, Scope and Resource. The
// events that Next returns are copies of like with the Type, Labels and Payload of the span.
//
// Encode encodes spans of any size without loss, with two exceptions: values nested deeper than MaxDepth become empty,
// and a nil Resource or Scope becomes one with Absent set.
func (c *Encoder) Encode(s *Span, like *ntconv.Event) {
	c.event = *like
	var traceID, spanID [16]byte
	copy(traceID[:], s.TraceID[:])
	copy(spanID[:], s.ID[:])
	c.event.Labels = ntconv.NewLabels(
		[]ntconv.Label{{Kind: ntconv.LabelTraceID, ID: traceID}, {Kind: ntconv.LabelSpanID, ID: spanID}},
	)
	c.next, c.parts, c.pending = 0, 0, true
	c.final.reset()
	c.final.head(s, math.MaxInt)
	c.body(&c.final, s)
	c.final.varuint(0)
	if len(c.final.b) <= maxPayload && !c.final.over {
		return
	}
	c.data.reset()
	c.data.head(s, math.MaxInt)
	c.data.lists(s)
	c.data.scope(s.Scope)
	c.data.resource(s.Resource)
	c.abridge(s)
}

// Next returns the next event of the span, or nil after the last one. Write the events in this order on one capture
// thread, with no event of another span in between on that thread, and set Event.Seq. The event and its payload are
// borrowed until the next call of Next or Encode; Type and Labels are immutable and may be retained.
func (c *Encoder) Next() *ntconv.Event {
	switch {
	case !c.pending:
		return nil
	case c.next == c.parts:
		c.pending = false
		c.event.Type, c.event.Payload = c.span, c.final.b
		return &c.event
	}
	size := c.chunkSize()
	from := c.next * size
	data := c.data.b[from:min(from+size, len(c.data.b))]
	c.chunk.reset()
	c.chunk.b = append(c.chunk.b, c.final.b[:c.header]...)
	c.chunk.varuint(uint64(c.next))
	c.chunk.count(len(data))
	c.chunk.b = append(c.chunk.b, data...)
	c.next++
	c.event.Type, c.event.Payload = c.part, c.chunk.b
	return &c.event
}

// chunkSize returns the size in bytes of the data of each SpanPart event but the last.
func (c *Encoder) chunkSize() int { return maxPayload - c.header - binary.MaxVarintLen64 - 2 }

// body appends the fields after the header, except parts.
func (c *Encoder) body(p *payload, s *Span) {
	p.lists(s)
	if s.Scope == nil || s.Scope != c.scope {
		from := len(p.b)
		p.scope(s.Scope)
		c.scope, c.scopeEnc = s.Scope, append(c.scopeEnc[:0], p.b[from:]...)
	} else {
		p.b = append(p.b, c.scopeEnc...)
	}
	if s.Resource == nil || s.Resource != c.resource {
		from := len(p.b)
		p.resource(s.Resource)
		c.resource, c.resEnc = s.Resource, append(c.resEnc[:0], p.b[from:]...)
	} else {
		p.b = append(p.b, c.resEnc...)
	}
	if p.over { // the appended bytes are incomplete
		c.scope, c.resource = nil, nil
	}
}

// Limits of the abstract of a span that has several events. With maxEntries attributes of the span, its scope and its
// resource, an abstract is smaller than half of maxPayload.
const (
	maxEntries = 32  // attributes of a list
	maxText    = 256 // bytes of a string
)

// abridge sets final to the abstract of a span whose data is in SpanPart events.
func (c *Encoder) abridge(s *Span) {
	p := &c.final
	p.reset()
	p.head(s, maxText)
	c.header = len(p.b)
	c.parts = (len(c.data.b) + c.chunkSize() - 1) / c.chunkSize()
	short := Span{Attributes: abridged(s.Attributes)}
	p.lists(&short)
	var scope Scope
	if s.Scope != nil {
		scope = Scope{
			Name:       cut(s.Scope.Name, maxText),
			Version:    cut(s.Scope.Version, maxText),
			Attributes: abridged(s.Scope.Attributes),
		}
	}
	p.scope(&scope)
	var resource Resource
	if s.Resource != nil {
		resource.Attributes = abridged(s.Resource.Attributes)
	}
	p.resource(&resource)
	p.varuint(uint64(c.parts))
}

// abridged returns the first attributes of a list with truncated keys and values. A truncated value of another type
// becomes a string.
func abridged(list []Attribute) []Attribute {
	short := make([]Attribute, min(len(list), maxEntries))
	for i := range short {
		a := &list[i]
		short[i] = Attribute{cut(a.Key, maxText), a.Value}
		switch a.Value.kind {
		case ValueString:
			short[i].Value = String(cut(a.Value.str, maxText))
		case ValueBytes, ValueArray, ValueMap:
			if text := appendValue(nil, &a.Value); len(text) > maxText {
				short[i].Value = String(cut(string(text), maxText))
			}
		}
	}
	return short
}

// cut truncates a string to at most size bytes without splitting a character.
func cut(s string, size int) string {
	if len(s) <= size {
		return s
	}
	for size > 0 && !utf8.RuneStart(s[size]) {
		size--
	}
	return s[:size]
}

// A payload is a payload under construction, in the encoding that a cursor reads.
type payload struct {
	b    []byte
	wide bool
	over bool // a length does not fit into 16 bits, so the payload is invalid
}

func (p *payload) reset() { p.b, p.over = p.b[:0], false }

func (p *payload) varuint(n uint64) { p.b = binary.AppendUvarint(p.b, n) }
func (p *payload) varint(n int64)   { p.b = binary.AppendVarint(p.b, n) }
func (p *payload) flag(set bool) {
	if set {
		p.b = append(p.b, 1)
	} else {
		p.b = append(p.b, 0)
	}
}
func (p *payload) u32(n uint32) { p.b = binary.LittleEndian.AppendUint32(p.b, n) }
func (p *payload) u64(n uint64) { p.b = binary.LittleEndian.AppendUint64(p.b, n) }

// count appends the number of elements of a list, or the length of a string in bytes.
func (p *payload) count(n int) {
	if p.wide {
		p.varuint(uint64(n))
		return
	}
	p.over = p.over || n > math.MaxUint16
	p.b = binary.LittleEndian.AppendUint16(p.b, uint16(n))
}

// text appends a string. It omits the bytes if the payload is invalid.
func (p *payload) text(s string) {
	if p.count(len(s)); !p.over {
		p.b = append(p.b, s...)
	}
}

// id appends an ID as hexadecimal digits, or an empty string if none is set.
func (p *payload) id(id []byte, none bool) {
	if none {
		p.count(0)
		return
	}
	p.count(hex.EncodedLen(len(id)))
	p.b = hex.AppendEncode(p.b, id)
}

// head appends the fields that header returns, with strings truncated to size bytes.
func (p *payload) head(s *Span, size int) {
	p.text(cut(s.Name, size))
	p.varint(int64(s.Kind))
	p.id(s.ParentID[:], s.ParentID.IsZero())
	p.text(cut(s.TraceState, size))
	p.u32(s.Flags)
	p.u64(s.Start)
	p.u64(s.End)
	p.varint(int64(s.Status))
	p.text(cut(s.StatusMessage, size))
	p.flag(s.HasStatus || s.Status != 0 || s.StatusMessage != "")
}

// lists appends attributes, events and links.
func (p *payload) lists(s *Span) {
	p.attributes(s.Attributes, s.DroppedAttributes)
	p.count(len(s.Events))
	for i := range s.Events {
		e := &s.Events[i]
		p.u64(e.Time)
		p.text(e.Name)
		p.attributes(e.Attributes, e.DroppedAttributes)
	}
	p.varuint(uint64(s.DroppedEvents))
	p.count(len(s.Links))
	for i := range s.Links {
		l := &s.Links[i]
		p.id(l.TraceID[:], l.TraceID.IsZero())
		p.id(l.ID[:], l.ID.IsZero())
		p.text(l.TraceState)
		p.u32(l.Flags)
		p.attributes(l.Attributes, l.DroppedAttributes)
	}
	p.varuint(uint64(s.DroppedLinks))
}

// attributes appends a list and the number of attributes that were dropped from it.
func (p *payload) attributes(list []Attribute, dropped uint32) {
	p.count(len(list))
	for i := range list {
		a := &list[i]
		p.text(a.Key)
		p.text(typeNames[a.Value.kind])
		p.value(&a.Value)
	}
	p.varuint(uint64(dropped))
}

// value appends a value in text form.
func (p *payload) value(v *Value) {
	if v.kind == ValueString {
		p.text(v.str)
		return
	}
	if p.wide {
		p.text(string(appendValue(nil, v)))
		return
	}
	from := len(p.b)
	p.b = appendValue(append(p.b, 0, 0), v)
	n := len(p.b) - from - 2
	p.over = p.over || n > math.MaxUint16
	binary.LittleEndian.PutUint16(p.b[from:], uint16(n))
}

func (p *payload) scope(s *Scope) {
	if s == nil {
		s = &Scope{Absent: true}
	}
	p.flag(s.Absent)
	p.text(s.Name)
	p.text(s.Version)
	p.text(s.SchemaURL)
	p.attributes(s.Attributes, s.DroppedAttributes)
}

func (p *payload) resource(r *Resource) {
	if r == nil {
		r = &Resource{Absent: true}
	}
	p.flag(r.Absent)
	p.text(r.SchemaURL)
	p.attributes(r.Attributes, r.DroppedAttributes)
	p.count(len(r.Entities))
	for i := range r.Entities {
		e := &r.Entities[i]
		p.text(e.SchemaURL)
		p.text(e.Type)
		for _, keys := range [...][]string{e.IDKeys, e.DescriptionKeys} {
			p.count(len(keys))
			for _, k := range keys {
				p.text(k)
			}
		}
	}
}
