package otlp

import (
	"bytes"
	"slices"
	"time"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/span"
)

// A batch is a list of spans that are sent together. Only one goroutine uses it at a time: the Sink fills it under its
// mutex, put hands it to a worker, and the worker returns it empty.
type batch struct {
	encoder // the encoded spans
	rows    []row
	size    int       // upper bound of the encoded size in bytes
	since   time.Time // when the first span was added
	body    []byte    // the latest result of request
	text    []byte    // scratch of file
}

// A row is a span of a batch. Rows have the order in which spans ended.
type row struct {
	start, end      int // range of the encoded span, an element of a ScopeSpans message
	resource, scope *envelope
}

// An envelope is an encoded ResourceSpans or ScopeSpans message without its elements: a distinct resource or scope,
// which batches share. For a process, head is nil until send describes the process for its first batch; after that, the
// envelope does not change.
type envelope struct {
	head, tail []byte   // the fields before and after the elements
	size       int      // of both, or an upper bound
	process    *process // nil for an imported resource and for a scope
}

// maxLengthGrowth is the number of bytes by which the length prefix of a message can grow when spans are added to it.
const maxLengthGrowth = 4

// add encodes a span and appends it. It returns false and changes nothing if the batch is not empty and would exceed
// limit bytes.
func (b *batch) add(s *span.Span, extra []span.Attribute, resource, scope *envelope, limit int) bool {
	start, repaired := len(b.b), b.repaired
	b.span(s, extra)
	total := b.size + len(b.b) - start
	if n := len(b.rows); n == 0 || b.rows[n-1].resource != resource || b.rows[n-1].scope != scope {
		total += sizeField(sizeField(scope.size)+resource.size) + 2*maxLengthGrowth
	}
	if len(b.rows) > 0 && total > limit {
		b.b, b.repaired = b.b[:start], repaired
		return false
	}
	b.rows = append(b.rows, row{start, len(b.b), resource, scope})
	b.size = total
	return true
}

// maxIdle is the maximum size in bytes of each buffer that an empty batch keeps.
const maxIdle = 8 << 20

func (b *batch) reset() {
	for _, buf := range []*[]byte{&b.b, &b.body, &b.text} {
		if *buf = (*buf)[:0]; cap(*buf) > maxIdle {
			*buf = nil
		}
	}
	clear(b.rows)
	b.rows, b.size = b.rows[:0], 0
}

// A group is a resource or scope of a request with the size of its message.
type group struct {
	*envelope
	size   int
	groups []*group // of a resource: its scopes
	rows   []row    // of a scope
}

// request returns rows of the batch as an ExportTraceServiceRequest message, grouped by resource and scope, each in the
// order of its first span. The result is valid until the next call.
func (b *batch) request(rows []row) []byte {
	type key struct{ resource, scope *envelope }
	var list []*group
	resources, scopes := make(map[*envelope]*group), make(map[key]*group)
	var last key
	var current *group
	for _, r := range rows {
		if k := (key{r.resource, r.scope}); k != last {
			last, current = k, scopes[k]
			if current == nil {
				current = &group{envelope: k.scope, size: k.scope.size}
				scopes[k] = current
				parent := resources[k.resource]
				if parent == nil {
					parent = &group{envelope: k.resource, size: k.resource.size}
					resources[k.resource] = parent
					list = append(list, parent)
				}
				parent.groups = append(parent.groups, current)
			}
		}
		current.rows = append(current.rows, r)
		current.size += r.end - r.start
	}
	total := 0
	for _, r := range list {
		for _, s := range r.groups {
			r.size += sizeField(s.size)
		}
		total += sizeField(r.size)
	}
	out := encoder{b: slices.Grow(b.body[:0], total)}
	for _, r := range list {
		out.length(1, r.size)
		out.b = append(out.b, r.head...)
		for _, s := range r.groups {
			out.length(2, s.size)
			out.b = append(out.b, s.head...)
			for _, span := range s.rows {
				out.b = append(out.b, b.b[span.start:span.end]...)
			}
			out.b = append(out.b, s.tail...)
		}
		out.b = append(out.b, r.tail...)
	}
	b.body = out.b
	return out.b
}

// Limits of the resources and scopes that a table keeps between batches: their number, and the total size of their
// encodings, of which they need a small multiple.
const (
	maxInterned      = 1024
	maxInternedBytes = 4 << 20
)

// A table interns resources and scopes by content, because a decoder may return a new pointer for each span. trim
// empties a large table between batches: the same resource then gets a new envelope, which is harmless, because it
// separates only spans of different batches.
type table struct {
	encoder   // scratch
	resources interned[span.Resource]
	scopes    interned[span.Scope]
	added     ntconv.Attrs // added to all resources of imported spans
}

// interned holds envelopes by pointer, as a cache, and by content. last and found cache the latest lookup.
type interned[T any] struct {
	byPointer map[*T]*envelope
	byContent map[string]*envelope
	bytes     int // total size of all encodings that were built, including equal ones
	last      *T
	found     *envelope
}

// trim empties the table if it is large. Call it only between batches, because the envelopes of a batch are compared by
// pointer.
func (t *table) trim() {
	if len(t.resources.byPointer)+len(t.scopes.byPointer) > maxInterned || t.resources.bytes+t.scopes.bytes > maxInternedBytes {
		t.resources, t.scopes = interned[span.Resource]{}, interned[span.Scope]{}
	}
}

// resourceOf returns the envelope of an imported resource, with the attributes of Options.ImportedResource.
func (t *table) resourceOf(r *span.Resource) *envelope {
	if e := t.resources.find(r); e != nil {
		return e
	}
	whole := *r
	if len(t.added) > 0 {
		whole.Attributes, whole.Absent = withAttributes(slices.Clone(r.Attributes), t.added), false
	}
	t.b = t.b[:0]
	t.resource(&whole)
	return t.resources.keep(r, &t.encoder, r.SchemaURL)
}

// scopeOf returns the envelope of a scope.
func (t *table) scopeOf(s *span.Scope) *envelope {
	if e := t.scopes.find(s); e != nil {
		return e
	}
	t.b = t.b[:0]
	t.scope(s)
	return t.scopes.keep(s, &t.encoder, s.SchemaURL)
}

// find returns the envelope of a value that was kept, else nil.
func (t *interned[T]) find(v *T) *envelope {
	if v != t.last || t.found == nil {
		t.last, t.found = v, t.byPointer[v]
	}
	return t.found
}

// keep returns the envelope of a value whose head is in e, after it has appended the schema URL.
func (t *interned[T]) keep(v *T, e *encoder, schemaURL string) *envelope {
	n := len(e.b)
	e.text(3, schemaURL)
	t.bytes += len(e.b)
	found := t.byContent[string(e.b)]
	if found == nil {
		b := bytes.Clone(e.b)
		found = &envelope{head: b[:n], tail: b[n:], size: len(b)}
		if t.byContent == nil {
			t.byPointer, t.byContent = make(map[*T]*envelope), make(map[string]*envelope)
		}
		t.byContent[string(b)] = found
	}
	t.byPointer[v], t.found = found, found
	return found
}
