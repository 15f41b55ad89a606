package span

import (
	"strings"

	"github.com/ntconv/ntconv"
)

// Limits of the data that a Decoder holds.
const (
	maxOpenBytes = 256 << 20 // bytes of the SpanPart events of all incomplete spans
	maxKept      = 4096      // number of scopes, and of resources
	maxKeptBytes = 4 << 20   // bytes of the encodings of scopes, and of resources
)

// A Decoder converts events that an Encoder wrote back to spans. It holds the parts of incomplete spans: at most one
// span per capture thread, and 256 MiB in total. It is not safe for concurrent use.
//
// s and attributes hold the latest span, which is lent to the caller; reset clears them. open gains an entry with the
// first SpanPart of a span and loses it with its Span event (close), or when another span begins (discard).
type Decoder struct {
	report  *ntconv.Report
	invalid int64

	span, part         *ntconv.Type // the required layouts
	lastSpan, lastPart *ntconv.Type // the latest types that have them
	open               map[*ntconv.Thread]*parts
	openBytes          int

	s          Span
	attributes []Attribute // of the span, its events and its links
	scopes     kept[Scope]
	resources  kept[Resource]
}

// parts holds the data of a span's SpanPart events until its Span event is decoded.
type parts struct {
	Context
	n       int // number of SpanPart events so far
	data    []byte
	invalid bool // the span cannot be decoded and has been counted
}

// NewDecoder returns a Decoder for one trace. It counts spans that it cannot decode in report (CodePayload), which may
// be nil.
func NewDecoder(report *ntconv.Report) *Decoder {
	return &Decoder{report: report, span: spanType(), part: partType(), open: map[*ntconv.Thread]*parts{}}
}

// Decode decodes an event, which it borrows and for whose type IsEvent must return true. It returns a span if the event
// completes one; a large span has several events. ok is false if further events of the span must follow, or if the
// event is invalid, which Invalid counts.
//
// The span and its slices are borrowed until the next call of Decode. Strings, Scope and Resource are immutable and may
// be retained. Process is the process of the event. Thread and EndThread are the thread of the event if it differs from
// the capture thread, which means that the span stated a thread.
func (d *Decoder) Decode(e *ntconv.Event) (s *Span, ok bool) {
	switch {
	case e.Type == nil || !d.knows(e.Type):
		d.bad(e, "event does not have the layout of otlp/Span")
		return nil, false
	case e.Type == d.lastPart:
		d.addPart(e)
		return nil, false
	}
	ctx := contextOf(e)
	c := cursor{s: string(e.Payload)}
	d.reset(ctx)
	d.head(&c)
	d.lists(&c)
	d.s.Scope = d.scopes.get(&c, (*cursor).skipScope, (*cursor).scope)
	d.s.Resource = d.resources.get(&c, (*cursor).skipResource, (*cursor).resource)
	n := int(c.small())
	if c.failed || c.pos < len(c.s) {
		d.bad(e, "payload is not a span")
		return nil, false
	}
	data, ok := d.close(e, ctx, n)
	if !ok {
		return nil, false
	}
	if n > 0 && !d.decodeWide(ctx, data) {
		d.bad(e, "data of SpanPart events is not a span")
		return nil, false
	}
	if e.Thread != nil {
		d.s.Process = e.Thread.Process
		if e.Thread != e.Capture {
			d.s.Thread, d.s.EndThread = e.Thread, e.Thread
		}
	}
	return &d.s, true
}

// Finish discards the parts of spans whose last event is missing, and counts these spans as invalid. Call it after the
// last event.
func (d *Decoder) Finish() {
	for thread := range d.open {
		d.discard(nil, thread)
	}
}

// Invalid returns the number of spans that could not be decoded, because a payload is invalid or events are missing.
func (d *Decoder) Invalid() int64 { return d.invalid }

// bad counts a span that cannot be decoded. e may be nil.
func (d *Decoder) bad(e *ntconv.Event, what string) {
	d.invalid++
	offset := int64(-1)
	if e != nil {
		offset = e.Offset
	}
	d.report.Note(ntconv.CodePayload, 1, offset, what)
}

// knows reports whether a type has the layout of one of the two events. If so, it sets lastSpan or lastPart to t.
func (d *Decoder) knows(t *ntconv.Type) bool {
	switch {
	case t == d.lastSpan || t == d.lastPart:
		return true
	case !IsEvent(t):
		return false
	case t.Name == spanEvent && sameLayout(t.Fields, d.span.Fields):
		d.lastSpan = t
		return true
	case t.Name == partEvent && sameLayout(t.Fields, d.part.Fields):
		d.lastPart = t
		return true
	}
	return false
}

// contextOf returns the IDs in the labels of an event.
func contextOf(e *ntconv.Event) (ctx Context) {
	if l := e.Labels.Find(ntconv.LabelTraceID); l != nil {
		copy(ctx.TraceID[:], l.ID[:])
	}
	if l := e.Labels.Find(ntconv.LabelSpanID); l != nil {
		copy(ctx.ID[:], l.ID[:])
	}
	return ctx
}

// addPart stores the data of a SpanPart event. If the event does not continue the open span, that span is discarded.
func (d *Decoder) addPart(e *ntconv.Event) {
	ctx := contextOf(e)
	c := cursor{s: string(e.Payload)}
	d.reset(ctx)
	d.head(&c)
	n := int(c.small())
	data := c.text()
	p := d.open[e.Capture]
	if p != nil && (p.Context != ctx || n == 0) {
		d.discard(e, e.Capture)
		p = nil
	}
	if p == nil {
		p = &parts{Context: ctx}
		d.open[e.Capture] = p
	}
	switch {
	case p.invalid:
	case c.failed || c.pos < len(c.s) || n != p.n || d.openBytes+len(data) > maxOpenBytes:
		d.bad(e, "SpanPart is invalid, or an earlier one is missing")
		d.openBytes -= len(p.data)
		p.data, p.invalid = nil, true
	default:
		p.n++
		p.data = append(p.data, data...)
		d.openBytes += len(data)
	}
}

// close removes and returns the data of the n SpanPart events that precede a Span event. ok is false if the span is
// invalid.
func (d *Decoder) close(e *ntconv.Event, ctx Context, n int) (data []byte, ok bool) {
	p := d.open[e.Capture]
	switch {
	case p == nil && n == 0:
		return nil, true
	case p == nil:
		d.bad(e, "missing SpanPart events of a span")
		return nil, false
	case p.Context != ctx:
		d.discard(e, e.Capture)
		return d.close(e, ctx, n)
	}
	if p.n != n && !p.invalid {
		d.bad(e, "missing SpanPart events of a span")
		p.invalid = true
	}
	d.openBytes -= len(p.data)
	delete(d.open, e.Capture)
	return p.data, !p.invalid
}

// discard removes the parts of a span that does not continue, and counts the span as invalid. e may be nil.
func (d *Decoder) discard(e *ntconv.Event, thread *ntconv.Thread) {
	p := d.open[thread]
	if !p.invalid {
		d.bad(e, "missing Span event after SpanPart events")
	}
	d.openBytes -= len(p.data)
	delete(d.open, thread)
}

// reset starts a new span.
func (d *Decoder) reset(ctx Context) {
	d.s = Span{Context: ctx, Events: d.s.Events[:0], Links: d.s.Links[:0]}
	d.attributes = d.attributes[:0]
}

// decodeWide decodes a span from the data of its SpanPart events.
func (d *Decoder) decodeWide(ctx Context, data []byte) bool {
	c := cursor{s: string(data), wide: true}
	d.reset(ctx)
	d.head(&c)
	d.lists(&c)
	d.s.Scope, d.s.Resource = c.scope(), c.resource()
	return !c.failed && c.pos == len(c.s)
}

// head decodes the fields that header returns.
func (d *Decoder) head(c *cursor) {
	s := &d.s
	s.Name = c.text()
	s.Kind = Kind(c.enum())
	c.id(s.ParentID[:])
	s.TraceState = c.text()
	s.Flags = c.u32()
	s.Start, s.End = c.u64(), c.u64()
	s.Status = StatusCode(c.enum())
	s.StatusMessage = c.text()
	s.HasStatus = c.flag()
}

// lists decodes attributes, events and links.
func (d *Decoder) lists(c *cursor) {
	s := &d.s
	s.Attributes, s.DroppedAttributes = d.list(c)
	for n := c.count(); n > 0 && !c.failed; n-- {
		e := Event{Time: c.u64(), Name: c.text()}
		e.Attributes, e.DroppedAttributes = d.list(c)
		s.Events = append(s.Events, e)
	}
	s.DroppedEvents = c.small()
	for n := c.count(); n > 0 && !c.failed; n-- {
		var l Link
		c.id(l.TraceID[:])
		c.id(l.ID[:])
		l.TraceState = c.text()
		l.Flags = c.u32()
		l.Attributes, l.DroppedAttributes = d.list(c)
		s.Links = append(s.Links, l)
	}
	s.DroppedLinks = c.small()
}

// list decodes attributes into the array that all attributes of a span share. When the array grows, earlier lists keep
// referring to the old array, which stays valid.
func (d *Decoder) list(c *cursor) (attributes []Attribute, dropped uint32) {
	from := len(d.attributes)
	d.attributes = c.attributes(d.attributes)
	return d.attributes[from:len(d.attributes):len(d.attributes)], c.small()
}

// kept caches decoded values by their encoding, because consecutive spans usually share scope and resource.
type kept[T any] struct {
	last   string // encoding of latest; "" if there is none
	latest *T
	all    map[string]*T
	bytes  int // size of all encodings
}

// get decodes the value at c, or returns a cached one. An encoding is self-delimiting, so input that begins with a
// known encoding has that value.
func (k *kept[T]) get(c *cursor, skip func(*cursor), decode func(*cursor) *T) *T {
	if k.last != "" && strings.HasPrefix(c.s[c.pos:], k.last) {
		c.pos += len(k.last)
		return k.latest
	}
	end := *c
	skip(&end)
	if end.failed {
		c.fail()
		return nil
	}
	encoding := c.s[c.pos:end.pos]
	v := k.all[encoding]
	if v == nil {
		encoding = strings.Clone(encoding) // do not retain the whole payload
		own := cursor{s: encoding}
		if v = decode(&own); own.failed {
			c.fail()
			return nil
		}
		k.keep(encoding, v)
	}
	*c = end
	k.last, k.latest = encoding, v
	return v
}

// keep adds a value. It clears the cache first if that is full.
func (k *kept[T]) keep(encoding string, v *T) {
	if k.all == nil || len(k.all) >= maxKept || k.bytes+len(encoding) > maxKeptBytes {
		k.all, k.bytes = map[string]*T{}, 0
	}
	k.all[encoding] = v
	k.bytes += len(encoding)
}
