package otlp

import (
	"bytes"
	"slices"
	"time"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/span"
	"github.com/ntconv/ntconv/internal/span/metrics"
)

// A batch is a list of items of one signal that are sent together. Only one goroutine uses it at a time: the Sink fills
// it under its mutex, put hands it to a worker, and the worker returns it empty.
type batch struct {
	encoder // the encoded items
	signal  Signal
	spare   bool // not one of the delivery's own, which it reuses
	rows    []row
	size    int       // upper bound of the encoded size in bytes
	since   time.Time // when the first item was added
	body    []byte    // the latest result of request
	text    []byte    // scratch of file
	// profiles holds the items of the signal Profiles, which request encodes into encoder. nil for other signals.
	profiles *profileBatch
}

// A row is an item of a batch. Rows have the order in which the items were built.
type row struct {
	start, end int          // range of the encoded item, an element of the innermost message of path
	part       *profilePart // of a batch of profiles: the item is its samples from start to end
	path       path
}

// split returns the halves of a row, if it is a profile with several samples.
func (r row) split() (first, second row, ok bool) {
	if r.part == nil || r.end-r.start < 2 {
		return r, r, false
	}
	first, second = r, r
	first.end = r.start + (r.end-r.start)/2
	second.start = first.end
	return first, second, true
}

// A path leads from a request to an item: the messages around it, from the outermost, ended by nil. All signals have a
// resource and a scope.
type path [4]*envelope

// An envelope is an encoded message without its elements, such as ResourceSpans or ScopeSpans: a distinct resource or
// scope, which batches share. For a process, head is nil until send describes the process for its first batch; after
// that, the envelope does not change.
type envelope struct {
	field      int      // number in the message around it
	head, tail []byte   // the fields before and after the elements
	size       int      // of both, or an upper bound
	process    *process // nil for an imported resource and for a scope
}

// Numbers of the fields of a resource in a request and of a scope in a resource, for all signals.
const (
	fieldResource = 1
	fieldScope    = 2
)

// maxLengthGrowth is the number of bytes by which the length prefix of a message can grow when items are added to it.
const maxLengthGrowth = 4

// add appends an item that encode appends. It returns false and changes nothing if the batch is not empty and would
// exceed limit bytes.
func (b *batch) add(at path, encode func(*encoder), limit int) bool {
	start, repaired := len(b.b), b.repaired
	encode(&b.encoder)
	total := b.size + len(b.b) - start
	if n := len(b.rows); n == 0 || b.rows[n-1].path != at {
		total += at.maxSize()
	}
	if len(b.rows) > 0 && total > limit {
		b.b, b.repaired = b.b[:start], repaired
		return false
	}
	b.rows = append(b.rows, row{start: start, end: len(b.b), path: at})
	b.size = total
	return true
}

// maxSize returns an upper bound of the size of the messages of the path without their elements.
func (p *path) maxSize() (size int) {
	for i := len(p) - 1; i >= 0; i-- {
		if p[i] != nil {
			size = sizeField(size+p[i].size) + maxLengthGrowth
		}
	}
	return size
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
	b.rows, b.size, b.profiles = b.rows[:0], 0, nil
}

// A group is a message of a request with its size. It has groups or, if it is the innermost one, rows.
type group struct {
	*envelope
	size   int
	groups []*group
	rows   []row
}

// request returns rows of the batch as a request of its signal. Rows with the same path share messages, which have the
// order of their first rows. The result is valid until the next call.
func (b *batch) request(rows []row) []byte {
	root := &group{envelope: new(envelope)}
	if b.profiles != nil {
		b.b = b.b[:0]
		rows, root.tail = b.profiles.encode(&b.encoder, rows)
		root.size = len(root.tail)
	}
	all := make(map[path]*group)
	var last path
	var current *group
	for _, r := range rows {
		if r.path != last || current == nil {
			last, current = r.path, root.at(all, r.path)
		}
		current.rows = append(current.rows, r)
		current.size += r.end - r.start
	}
	out := encoder{b: slices.Grow(b.body[:0], root.measure())}
	root.append(&out, b.b)
	b.body = out.b
	return out.b
}

// at returns the innermost group of a path, and adds missing ones.
func (g *group) at(all map[path]*group, p path) *group {
	var prefix path
	for i, e := range p {
		if e == nil {
			break
		}
		prefix[i] = e
		own := all[prefix]
		if own == nil {
			own = &group{envelope: e, size: e.size}
			all[prefix] = own
			g.groups = append(g.groups, own)
		}
		g = own
	}
	return g
}

// measure adds the sizes of the groups in g to its size, and returns it.
func (g *group) measure() int {
	for _, inner := range g.groups {
		g.size += sizeField(inner.measure())
	}
	return g.size
}

// append appends the message without its tag and length. items has the encoded rows.
func (g *group) append(out *encoder, items []byte) {
	out.b = append(out.b, g.head...)
	for _, inner := range g.groups {
		out.length(inner.field, inner.size)
		inner.append(out, items)
	}
	for _, r := range g.rows {
		out.b = append(out.b, items[r.start:r.end]...)
	}
	out.b = append(out.b, g.tail...)
}

// Limits of the resources and scopes that a table keeps between batches: their number, and the total size of their
// encodings, of which they need a small multiple.
const (
	maxInterned      = 1024
	maxInternedBytes = 4 << 20
)

// A table interns resources and scopes by content, because a decoder may return a new pointer for each item. trim
// empties a large table between batches: the same resource then gets a new envelope, which is harmless, because it
// separates only items of different batches.
type table struct {
	encoder   // scratch
	resources interned[span.Resource]
	scopes    interned[span.Scope]
	metrics   map[metrics.Metric]metricEnvelope
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

// full reports whether the table is large and trim is due.
func (t *table) full() bool {
	return len(t.resources.byPointer)+len(t.scopes.byPointer) > maxInterned || len(t.metrics) > maxInterned || t.resources.bytes+t.scopes.bytes > maxInternedBytes
}

// trim empties the table. Call it only between batches, because the envelopes of a batch are compared by pointer.
func (t *table) trim() {
	t.resources, t.scopes = interned[span.Resource]{}, interned[span.Scope]{}
	clear(t.metrics)
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
	return t.resources.keep(r, &t.encoder, fieldResource, r.SchemaURL)
}

// scopeOf returns the envelope of a scope.
func (t *table) scopeOf(s *span.Scope) *envelope {
	if e := t.scopes.find(s); e != nil {
		return e
	}
	t.b = t.b[:0]
	t.scope(s)
	return t.scopes.keep(s, &t.encoder, fieldScope, s.SchemaURL)
}

// find returns the envelope of a value that was kept, else nil.
func (t *interned[T]) find(v *T) *envelope {
	if v != t.last || t.found == nil {
		t.last, t.found = v, t.byPointer[v]
	}
	return t.found
}

// keep returns the envelope of a value whose head is in e, after it has appended the schema URL.
func (t *interned[T]) keep(v *T, e *encoder, field int, schemaURL string) *envelope {
	n := len(e.b)
	e.text(3, schemaURL)
	t.bytes += len(e.b)
	found := t.byContent[string(e.b)]
	if found == nil {
		b := bytes.Clone(e.b)
		found = &envelope{field: field, head: b[:n], tail: b[n:], size: len(b)}
		if t.byContent == nil {
			t.byPointer, t.byContent = make(map[*T]*envelope), make(map[string]*envelope)
		}
		t.byContent[string(b)] = found
	}
	t.byPointer[v], t.found = found, found
	return found
}
