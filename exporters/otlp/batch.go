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

// A batch is spans that leave together. One goroutine at a time uses it: that of the caller fills it, a worker delivers
// it.
type batch struct {
	converter
	rows  []row
	size  int       // at least the encoded size
	since time.Time // when the first span was added
}

// A row is a span of a batch, in the order in which spans ended.
type row struct {
	pb       *tracepb.Span
	resource *resourceRow
	scope    *scopeRow
	size     int // of the encoded span
}

// A resourceRow is a distinct resource. Rows are shared by batches. That of a process is set when the first batch with
// it leaves.
type resourceRow struct {
	pb        *resourcepb.Resource
	schemaURL string
	size      int // of an encoded ResourceSpans without spans
	process   *process
}

// A scopeRow is a distinct scope.
type scopeRow struct {
	pb        *commonpb.InstrumentationScope
	schemaURL string
	size      int // of an encoded ScopeSpans without spans
}

// maxLengthGrowth is how many bytes the length of a message may need in addition once spans are added to it.
const maxLengthGrowth = 4

// add converts a span. It returns false, and adds nothing, if the batch is not empty and would exceed limit bytes.
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

// A group is the spans of a scope or a resource in a batch, with their encoded size.
type group[T any] struct {
	pb   *T
	size int
}

// assemble groups spans by resource and by scope, each in the order of their first span. It also returns the size of
// the result as the field of a TracesData message.
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

// Limits on the resources and scopes that a table keeps after a batch: their number, and the bytes of their encodings,
// of which they need a small multiple.
const (
	maxInterned      = 1024
	maxInternedBytes = 4 << 20
)

// A table finds equal resources and scopes, because a decoder may return another pointer for each span. It is emptied
// between batches when it is large: a row that is needed again is another one then, which separates nothing within a
// batch.
type table struct {
	converter
	resources    map[*span.Resource]*resourceRow
	scopes       map[*span.Scope]*scopeRow
	resourceKeys map[string]*resourceRow
	scopeKeys    map[string]*scopeRow
	key          []byte
	bytes        int          // of all keys that were made, also of equal ones
	added        ntconv.Attrs // of all resources of imported spans

	lastResource *span.Resource
	resourceRow  *resourceRow
	lastScope    *span.Scope
	scopeRow     *scopeRow
}

// trim empties the table if it is large. Call it between batches.
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

// keyOf returns bytes that are equal for equal messages, valid until the next call.
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
