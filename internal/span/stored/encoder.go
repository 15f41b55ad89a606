package stored

import (
	"encoding/binary"
	"math"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/span"
)

// An Encoder converts items to events of a trace. It is not safe for concurrent use.
//
// Encode sets final, data, parts and pending for one item, and Next consumes them.
type Encoder[T any] struct {
	kind       *Kind[T]
	item, part *ntconv.Type
	event      ntconv.Event
	final      Payload // payload of the last event
	data       Payload // data of all events before it, in the wide encoding
	chunk      Payload // payload of the current one of them
	header     int     // size of the fields at the start of final, with which all events begin
	next       int     // number of the next part
	parts      int     // number of events before the last; 0 if the item is one event
	pending    bool    // the last event has not been returned yet

	// Encodings of the latest scope and resource, because consecutive items usually share them. body sets and clears
	// them.
	scope    *span.Scope
	resource *span.Resource
	scopeEnc []byte
	resEnc   []byte
}

// NewEncoder returns an Encoder. Its events have one of its two types, so a source uses one Encoder for all items of a
// kind.
func NewEncoder[T any](kind *Kind[T]) *Encoder[T] {
	return &Encoder[T]{kind: kind, item: kind.itemType(), part: kind.partType(), data: Payload{wide: true}}
}

// Types returns the two types of the events. They are immutable.
func (c *Encoder[T]) Types() []*ntconv.Type { return []*ntconv.Type{c.item, c.part} }

// Encode starts the conversion of an item, which it borrows until Next returns nil. The events that Next returns are
// copies of like with the Type, Labels and Payload of the item.
//
// Encode encodes items of any size without loss, with two exceptions: values nested deeper than span.MaxDepth become
// empty, and a nil resource or scope becomes one with Absent set.
func (c *Encoder[T]) Encode(v *T, like *ntconv.Event) {
	from := c.kind.Origin(v)
	c.event = *like
	c.event.Labels = labels(from.Context)
	c.next, c.parts, c.pending = 0, 0, true
	c.final.reset()
	c.kind.WriteHead(&c.final, v, math.MaxInt)
	c.kind.WriteLists(&c.final, v)
	c.origin(&c.final, *from.Scope, *from.Resource)
	c.final.Varuint(0)
	if len(c.final.b) <= maxPayload && !c.final.over {
		return
	}
	c.data.reset()
	c.kind.WriteHead(&c.data, v, math.MaxInt)
	c.kind.WriteLists(&c.data, v)
	c.data.scope(*from.Scope)
	c.data.resource(*from.Resource)
	c.abridge(v)
}

// labels returns the labels of an item with these IDs, of which zero ones have none.
func labels(ctx *span.Context) *ntconv.Labels {
	var list [2]ntconv.Label
	n := 0
	if ctx != nil && !ctx.TraceID.IsZero() {
		list[n].Kind = ntconv.LabelTraceID
		copy(list[n].ID[:], ctx.TraceID[:])
		n++
	}
	if ctx != nil && !ctx.ID.IsZero() {
		list[n].Kind = ntconv.LabelSpanID
		copy(list[n].ID[:], ctx.ID[:])
		n++
	}
	if n == 0 {
		return nil
	}
	return ntconv.NewLabels(list[:n:n])
}

// Next returns the next event of the item, or nil after the last one. Write the events in this order on one capture
// thread, with no event of another item of the kind in between on that thread, and set Event.Seq. The event and its
// payload are borrowed until the next call of Next or Encode; Type and Labels are immutable and may be retained.
func (c *Encoder[T]) Next() *ntconv.Event {
	switch {
	case !c.pending:
		return nil
	case c.next == c.parts:
		c.pending = false
		c.event.Type, c.event.Payload = c.item, c.final.b
		return &c.event
	}
	size := c.chunkSize()
	from := c.next * size
	data := c.data.b[from:min(from+size, len(c.data.b))]
	c.chunk.reset()
	c.chunk.b = append(c.chunk.b, c.final.b[:c.header]...)
	c.chunk.Varuint(uint64(c.next))
	c.chunk.Count(len(data))
	c.chunk.b = append(c.chunk.b, data...)
	c.next++
	c.event.Type, c.event.Payload = c.part, c.chunk.b
	return &c.event
}

// chunkSize returns the size in bytes of the data of each part but the last.
func (c *Encoder[T]) chunkSize() int { return maxPayload - c.header - binary.MaxVarintLen64 - 2 }

// origin appends a scope and a resource.
func (c *Encoder[T]) origin(p *Payload, scope *span.Scope, resource *span.Resource) {
	if scope == nil || scope != c.scope {
		from := len(p.b)
		p.scope(scope)
		c.scope, c.scopeEnc = scope, append(c.scopeEnc[:0], p.b[from:]...)
	} else {
		p.b = append(p.b, c.scopeEnc...)
	}
	if resource == nil || resource != c.resource {
		from := len(p.b)
		p.resource(resource)
		c.resource, c.resEnc = resource, append(c.resEnc[:0], p.b[from:]...)
	} else {
		p.b = append(p.b, c.resEnc...)
	}
	if p.over { // the appended bytes are incomplete
		c.scope, c.resource = nil, nil
	}
}

// Limits of the abstract of an item that has several events. With maxEntries attributes of the item, its scope and its
// resource, an abstract is smaller than half of maxPayload.
const (
	maxEntries = 32  // attributes of a list
	maxText    = 256 // bytes of a string
)

// abridge sets final to the abstract of an item whose data is in parts.
func (c *Encoder[T]) abridge(v *T) {
	p := &c.final
	p.reset()
	c.kind.WriteHead(p, v, maxText)
	c.header = len(p.b)
	c.parts = (len(c.data.b) + c.chunkSize() - 1) / c.chunkSize()
	short := c.kind.Abridge(v)
	c.kind.WriteLists(p, &short)
	from := c.kind.Origin(v)
	var scope span.Scope
	if s := *from.Scope; s != nil {
		scope = span.Scope{
			Name:       Cut(s.Name, maxText),
			Version:    Cut(s.Version, maxText),
			Attributes: Abridged(s.Attributes),
		}
	}
	p.scope(&scope)
	var resource span.Resource
	if r := *from.Resource; r != nil {
		resource.Attributes = Abridged(r.Attributes)
	}
	p.resource(&resource)
	p.Varuint(uint64(c.parts))
}

// Abridged returns the first attributes of a list with truncated keys and values. A truncated value of another type
// becomes a string.
func Abridged(list []span.Attribute) []span.Attribute {
	short := make([]span.Attribute, min(len(list), maxEntries))
	for i := range short {
		a := &list[i]
		short[i] = span.Attribute{Key: Cut(a.Key, maxText), Value: AbridgedValue(a.Value)}
	}
	return short
}

// AbridgedValue returns a value that is truncated like those of Abridged.
func AbridgedValue(v span.Value) span.Value {
	switch v.Kind() {
	case span.ValueString:
		return span.String(Cut(v.Str(), maxText))
	case span.ValueBytes, span.ValueArray, span.ValueMap:
		if text := v.AppendText(nil); len(text) > maxText {
			return span.String(Cut(string(text), maxText))
		}
	}
	return v
}
