package otlp

import (
	"encoding/binary"
	"slices"
	"time"

	"github.com/ntconv/ntconv"
	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	resourcepb "go.opentelemetry.io/proto/otlp/resource/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/ntconv/ntconv/internal/span"
)

// A batch is a list of spans that are sent together. Only one goroutine uses it at a time: the Sink fills it under its
// mutex, put hands it to a worker, and the worker returns it empty.
type batch struct {
	converter
	rows  []row
	size  int       // upper bound of the encoded size in bytes
	since time.Time // when the first span was added
}

// A row is a span of a batch. Rows have the order in which spans ended.
type row struct {
	pb       *tracepb.Span
	resource *resourceRow
	scope    *scopeRow
	size     int // bytes of the encoded span
}

// A resourceRow is a distinct resource. Batches share it. For a process, pb is nil until send describes the process for
// its first batch; after that, the row does not change.
type resourceRow struct {
	pb        *resourcepb.Resource // bytes of an encoded ResourceSpans without spans
	schemaURL string
	size      int      // of an encoded ResourceSpans without spans
	process   *process // nil for the resource of an imported span
}

// A scopeRow is a distinct scope. Batches share it.
type scopeRow struct {
	pb        *commonpb.InstrumentationScope
	schemaURL string
	size      int // bytes of an encoded ScopeSpans without spans
}

// maxLengthGrowth is the number of bytes by which the length prefix of a message can grow when spans are added to it.
const maxLengthGrowth = 4

// add converts a span and appends it. It returns false and changes nothing but the arena if the batch is not empty and
// would exceed limit bytes.
func (b *batch) add(s *span.Span, extra []span.Attribute, resource *resourceRow, scope *scopeRow, limit int) bool {
	pb, size := b.span(s, extra)
	total := b.size + sizeMessage(2, size)
	if n := len(b.rows); n == 0 || b.rows[n-1].resource != resource || b.rows[n-1].scope != scope {
		total += sizeMessage(1, sizeMessage(2, scope.size)+resource.size) + 2*maxLengthGrowth
	}
	if len(b.rows) > 0 && total > limit {
		return false
	}
	b.rows = append(b.rows, row{pb, resource, scope, size})
	b.size = total
	return true
}

func (b *batch) reset() {
	b.arena.reset()
	clear(b.rows)
	b.rows, b.size = b.rows[:0], 0
}

// A group holds the message of a resource or scope in a batch, and its encoded size.
type group[T any] struct {
	pb   *T
	size int
}

// assemble groups spans by resource and scope, each in the order of its first span. size is the total size in bytes of
// all groups as a field of a TracesData message.
func assemble(rows []row) (all []*tracepb.ResourceSpans, size int) {
	type key struct {
		resource *resourceRow
		scope    *scopeRow
	}
	resources := make(map[*resourceRow]*group[tracepb.ResourceSpans])
	scopes := make(map[key]*group[tracepb.ScopeSpans])
	var last key
	var current *group[tracepb.ScopeSpans]
	for i := range rows {
		if k := (key{rows[i].resource, rows[i].scope}); k != last {
			last, current = k, scopes[k]
			if current == nil {
				current = &group[tracepb.ScopeSpans]{
					&tracepb.ScopeSpans{Scope: k.scope.pb, SchemaUrl: k.scope.schemaURL},
					k.scope.size,
				}
				scopes[k] = current
				r := resources[k.resource]
				if r == nil {
					r = &group[tracepb.ResourceSpans]{
						&tracepb.ResourceSpans{Resource: k.resource.pb, SchemaUrl: k.resource.schemaURL},
						k.resource.size,
					}
					resources[k.resource] = r
					all = append(all, r.pb)
				}
				r.pb.ScopeSpans = append(r.pb.ScopeSpans, current.pb)
			}
		}
		current.pb.Spans = append(current.pb.Spans, rows[i].pb)
		current.size += sizeMessage(2, rows[i].size)
	}
	for k, g := range scopes {
		resources[k.resource].size += sizeMessage(2, g.size)
	}
	for _, g := range resources {
		size += sizeMessage(1, g.size)
	}
	return all, size
}

// Limits of the resources and scopes that a table keeps between batches: their number, and the total size of their
// keys, of which they need a small multiple.
const (
	maxInterned      = 1024
	maxInternedBytes = 4 << 20
)

// A table interns resources and scopes by content, because a decoder may return a new pointer for each span. resources
// and scopes cache rows by pointer, resourceKeys and scopeKeys find them by content. trim empties a large table between
// batches: the same resource then gets a new row, which is harmless, because it separates only spans of different
// batches.
type table struct {
	converter
	resources    map[*span.Resource]*resourceRow
	scopes       map[*span.Scope]*scopeRow
	resourceKeys map[string]*resourceRow
	scopeKeys    map[string]*scopeRow
	key          []byte
	bytes        int          // total size of all keys that were built, including equal ones
	added        ntconv.Attrs // added to all resources of imported spans

	lastResource *span.Resource
	resourceRow  *resourceRow
	lastScope    *span.Scope
	scopeRow     *scopeRow
}

// trim empties the table if it is large. Call it only between batches, because the rows of a batch are compared by
// pointer.
func (t *table) trim() {
	if t.resources == nil || len(t.resources)+len(t.scopes) > maxInterned || t.bytes > maxInternedBytes {
		*t = table{
			resources: make(map[*span.Resource]*resourceRow), scopes: make(map[*span.Scope]*scopeRow),
			resourceKeys: make(map[string]*resourceRow), scopeKeys: make(map[string]*scopeRow),
			converter: converter{repaired: t.repaired}, added: t.added,
		}
	}
}

func (r *resourceRow) measure() {
	if r.size = sizeText(3, r.schemaURL); r.pb != nil {
		r.size += sizeMessage(1, proto.Size(r.pb))
	}
}

// resourceOf returns the row of an imported resource, with the attributes of Options.ImportedResource.
func (t *table) resourceOf(r *span.Resource) *resourceRow {
	if r == t.lastResource && r != nil {
		return t.resourceRow
	}
	row := t.resources[r]
	if row == nil {
		whole := *r
		if len(t.added) > 0 {
			whole.Attributes, whole.Absent = withAttributes(slices.Clone(r.Attributes), t.added), false
		}
		made := &resourceRow{pb: t.resource(&whole), schemaURL: t.text(r.SchemaURL)}
		made.measure()
		key := t.keyOf(made.pb, made.schemaURL, whole.Absent)
		if row = t.resourceKeys[string(key)]; row == nil {
			row = made
			t.resourceKeys[string(key)] = row
		}
		t.resources[r] = row
	}
	t.lastResource, t.resourceRow = r, row
	return row
}

// scopeOf returns the row of a scope.
func (t *table) scopeOf(s *span.Scope) *scopeRow {
	if s == t.lastScope && s != nil {
		return t.scopeRow
	}
	row := t.scopes[s]
	if row == nil {
		made := &scopeRow{pb: t.scope(s), schemaURL: t.text(s.SchemaURL)}
		if made.size = sizeText(3, made.schemaURL); made.pb != nil {
			made.size += sizeMessage(1, proto.Size(made.pb))
		}
		key := t.keyOf(made.pb, made.schemaURL, s.Absent)
		if row = t.scopeKeys[string(key)]; row == nil {
			row = made
			t.scopeKeys[string(key)] = row
		}
		t.scopes[s] = row
	}
	t.lastScope, t.scopeRow = s, row
	return row
}

// keyOf returns the same bytes for equal messages. The result is valid until the next call.
func (t *table) keyOf(m proto.Message, schemaURL string, absent bool) []byte {
	t.key = append(t.key[:0], 'p')
	if absent {
		t.key[0] = 'a'
	}
	t.key = append(binary.AppendUvarint(t.key, uint64(len(schemaURL))), schemaURL...)
	t.key, _ = proto.MarshalOptions{Deterministic: true}.MarshalAppend(t.key, m) // cannot fail: all strings are valid
	t.bytes += len(t.key)
	return t.key
}
