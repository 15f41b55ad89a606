package stored

import (
	"strings"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/span"
)

// Limits of the data that a Decoder holds.
const (
	maxOpenBytes = 256 << 20 // bytes of the parts of all incomplete items
	maxKept      = 4096      // number of scopes, and of resources
	maxKeptBytes = 4 << 20   // bytes of the encodings of scopes, and of resources
)

// A Decoder converts events that an Encoder wrote back to items. It holds the parts of incomplete items: at most one
// item per capture thread, and 256 MiB in total. It is not safe for concurrent use.
//
// item holds the latest item, which is lent to the caller; reset clears it. open gains an entry with the first part of
// an item and loses it with its last event (close), or when another item begins (discard).
type Decoder[T any] struct {
	kind    *Kind[T]
	report  *ntconv.Report
	invalid int64

	itemType, partType *ntconv.Type // the required layouts
	lastItem, lastPart *ntconv.Type // the latest types that have them
	open               map[*ntconv.Thread]*parts
	openBytes          int

	item      T
	cursor    Cursor // of the latest payload; not a local variable, because functions of kind get its address
	scopes    kept[span.Scope]
	resources kept[span.Resource]
}

// parts holds the data of an item's parts until its last event is decoded.
type parts struct {
	span.Context
	n       int // number of parts so far
	data    []byte
	invalid bool // the item cannot be decoded and has been counted
}

// NewDecoder returns a Decoder for one trace. It counts items that it cannot decode in report (CodePayload), which may
// be nil.
func NewDecoder[T any](kind *Kind[T], report *ntconv.Report) *Decoder[T] {
	return &Decoder[T]{
		kind: kind, report: report, itemType: kind.itemType(), partType: kind.partType(), open: map[*ntconv.Thread]*parts{},
	}
}

// Decode decodes an event, which it borrows and for whose type Kind.Has must return true. It returns an item if the
// event completes one; a large item has several events. ok is false if further events of the item must follow, or if
// the event is invalid, which Invalid counts.
//
// The item and its slices are borrowed until the next call of Decode. Strings, scope and resource are immutable and may
// be retained. The process is that of the event. The threads are that of the event if it differs from the capture
// thread, which means that the item stated a thread.
func (d *Decoder[T]) Decode(e *ntconv.Event) (v *T, ok bool) {
	switch {
	case e.Type == nil || !d.knows(e.Type):
		d.bad(e, "event does not have the layout of otlp/"+d.kind.Name)
		return nil, false
	case e.Type == d.lastPart:
		d.addPart(e)
		return nil, false
	}
	ctx := contextOf(e)
	c := d.reset(ctx, string(e.Payload), false)
	d.kind.ReadHead(c, &d.item)
	d.kind.ReadLists(c, &d.item)
	from := d.kind.Origin(&d.item)
	*from.Scope = d.scopes.get(c, (*Cursor).skipScope, (*Cursor).scope)
	*from.Resource = d.resources.get(c, (*Cursor).skipResource, (*Cursor).resource)
	n := int(c.Small())
	if !c.done() {
		d.bad(e, "payload is not that of otlp/"+d.kind.Name)
		return nil, false
	}
	data, ok := d.close(e, ctx, n)
	if !ok {
		return nil, false
	}
	if n > 0 && !d.decodeWide(ctx, data) {
		d.bad(e, "data of the parts is not that of otlp/"+d.kind.Name)
		return nil, false
	}
	if e.Thread != nil {
		if from.Process != nil {
			*from.Process = e.Thread.Process
		}
		if e.Thread != e.Capture {
			for _, t := range from.Threads {
				if t != nil {
					*t = e.Thread
				}
			}
		}
	}
	return &d.item, true
}

// Finish discards the parts of items whose last event is missing, and counts these items as invalid. Call it after the
// last event.
func (d *Decoder[T]) Finish() {
	for thread := range d.open {
		d.discard(nil, thread)
	}
}

// Invalid returns the number of items that could not be decoded, because a payload is invalid or events are missing.
func (d *Decoder[T]) Invalid() int64 { return d.invalid }

// bad counts an item that cannot be decoded. e may be nil.
func (d *Decoder[T]) bad(e *ntconv.Event, what string) {
	d.invalid++
	offset := int64(-1)
	if e != nil {
		offset = e.Offset
	}
	d.report.Note(ntconv.CodePayload, 1, offset, what)
}

// knows reports whether a type has the layout of one of the two events. If so, it sets lastItem or lastPart to t.
func (d *Decoder[T]) knows(t *ntconv.Type) bool {
	switch {
	case t == d.lastItem || t == d.lastPart:
		return true
	case !d.kind.Has(t):
		return false
	case t.Name == d.itemType.Name && sameLayout(t.Fields, d.itemType.Fields):
		d.lastItem = t
		return true
	case t.Name == d.partType.Name && sameLayout(t.Fields, d.partType.Fields):
		d.lastPart = t
		return true
	}
	return false
}

// contextOf returns the IDs in the labels of an event.
func contextOf(e *ntconv.Event) (ctx span.Context) {
	if l := e.Labels.Find(ntconv.LabelTraceID); l != nil {
		copy(ctx.TraceID[:], l.ID[:])
	}
	if l := e.Labels.Find(ntconv.LabelSpanID); l != nil {
		copy(ctx.ID[:], l.ID[:])
	}
	return ctx
}

// addPart stores the data of a part. If the event does not continue the open item, that item is discarded.
func (d *Decoder[T]) addPart(e *ntconv.Event) {
	ctx := contextOf(e)
	c := d.reset(ctx, string(e.Payload), false)
	d.kind.ReadHead(c, &d.item)
	n := int(c.Small())
	data := c.Text()
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
	case !c.done() || n != p.n || d.openBytes+len(data) > maxOpenBytes:
		d.bad(e, "a part of otlp/"+d.kind.Name+" is invalid, or an earlier one is missing")
		d.openBytes -= len(p.data)
		p.data, p.invalid = nil, true
	default:
		p.n++
		p.data = append(p.data, data...)
		d.openBytes += len(data)
	}
}

// close removes and returns the data of the n parts that precede the last event of an item. ok is false if the item is
// invalid.
func (d *Decoder[T]) close(e *ntconv.Event, ctx span.Context, n int) (data []byte, ok bool) {
	p := d.open[e.Capture]
	switch {
	case p == nil && n == 0:
		return nil, true
	case p == nil:
		d.bad(e, "missing parts of otlp/"+d.kind.Name)
		return nil, false
	case p.Context != ctx:
		d.discard(e, e.Capture)
		return d.close(e, ctx, n)
	}
	if p.n != n && !p.invalid {
		d.bad(e, "missing parts of otlp/"+d.kind.Name)
		p.invalid = true
	}
	d.openBytes -= len(p.data)
	delete(d.open, e.Capture)
	return p.data, !p.invalid
}

// discard removes the parts of an item that does not continue, and counts the item as invalid. e may be nil.
func (d *Decoder[T]) discard(e *ntconv.Event, thread *ntconv.Thread) {
	p := d.open[thread]
	if !p.invalid {
		d.bad(e, "missing event after the parts of otlp/"+d.kind.Name)
	}
	d.openBytes -= len(p.data)
	delete(d.open, thread)
}

// reset starts a new item and returns a cursor on its payload.
func (d *Decoder[T]) reset(ctx span.Context, payload string, wide bool) *Cursor {
	d.item = d.kind.Reset(&d.item)
	if own := d.kind.Origin(&d.item).Context; own != nil {
		*own = ctx
	}
	d.cursor = Cursor{s: payload, wide: wide, attributes: d.cursor.attributes[:0]}
	return &d.cursor
}

// decodeWide decodes an item from the data of its parts.
func (d *Decoder[T]) decodeWide(ctx span.Context, data []byte) bool {
	c := d.reset(ctx, string(data), true)
	d.kind.ReadHead(c, &d.item)
	d.kind.ReadLists(c, &d.item)
	from := d.kind.Origin(&d.item)
	*from.Scope, *from.Resource = c.scope(), c.resource()
	return c.done()
}

// kept caches decoded values by their encoding, because consecutive items usually share scope and resource.
type kept[T any] struct {
	last   string // encoding of latest; "" if there is none
	latest *T
	all    map[string]*T
	bytes  int // size of all encodings
}

// get decodes the value at c, or returns a cached one. An encoding is self-delimiting, so input that begins with a
// known encoding has that value.
func (k *kept[T]) get(c *Cursor, skip func(*Cursor), decode func(*Cursor) *T) *T {
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
		own := Cursor{s: encoding}
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
