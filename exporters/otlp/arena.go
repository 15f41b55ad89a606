package otlp

import (
	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
)

// An arena owns the messages of one batch. Without it a span costs 30 allocations; an arena that is reused for the next
// batch allocates only if that batch is larger than all earlier ones.
type arena struct {
	spans     slab[spanNode]
	attrs     slab[attrNode]
	events    slab[tracepb.Span_Event]
	links     slab[linkNode]
	ints      slab[commonpb.AnyValue_IntValue]
	bools     slab[commonpb.AnyValue_BoolValue]
	floats    slab[commonpb.AnyValue_DoubleValue]
	attrLists slab[*commonpb.KeyValue]
	eventList slab[*tracepb.Span_Event]
	linkList  slab[*tracepb.Span_Link]
}

// A spanNode is a span message and the values that it points to.
type spanNode struct {
	pb         tracepb.Span
	status     tracepb.Status
	trace      [16]byte
	id, parent [8]byte
}

// A linkNode is a link message and the values that it points to.
type linkNode struct {
	pb    tracepb.Span_Link
	trace [16]byte
	id    [8]byte
}

// An attrNode is an attribute message and its value. It has room for a string, because most values are strings.
type attrNode struct {
	pb    commonpb.KeyValue
	value commonpb.AnyValue
	text  commonpb.AnyValue_StringValue
}

// maxKept is the maximum number of attributes, events or links for which an idle arena keeps memory: a batch of tiny
// attributes needs 15 times its encoded size.
const maxKept = 1 << 16

// reset invalidates all messages and prepares the arena for the next batch.
func (a *arena) reset() {
	if max(a.attrs.room, a.attrLists.room, a.events.room, a.links.room) > maxKept {
		*a = arena{}
		return
	}
	a.spans.reset()
	a.attrs.reset()
	a.events.reset()
	a.links.reset()
	a.ints.reset()
	a.bools.reset()
	a.floats.reset()
	a.attrLists.reset()
	a.eventList.reset()
	a.linkList.reset()
}

// A slab allocates zero values from blocks, which it reuses after reset.
type slab[T any] struct {
	blocks [][]T
	at     int // index of the current block
	used   int // elements of the current block that are allocated
	room   int // elements of all blocks
}

const (
	minBlock = 8
	maxBlock = 1024
)

// take returns a pointer to a zero value that is valid until reset.
func (s *slab[T]) take() *T { return &s.slice(1)[0] }

// slice returns n zero values that are valid until reset, or nil if n is 0.
func (s *slab[T]) slice(n int) []T {
	if n == 0 {
		return nil
	}
	for {
		if s.at == len(s.blocks) {
			size := max(n, min(max(s.room, minBlock), maxBlock))
			s.blocks = append(s.blocks, make([]T, size))
			s.room += size
		}
		b := s.blocks[s.at]
		if s.used+n <= len(b) {
			part := b[s.used : s.used+n : s.used+n]
			s.used += n
			return part
		}
		s.at, s.used = s.at+1, 0
	}
}

// reset zeroes all values, so that they do not keep strings alive.
func (s *slab[T]) reset() {
	for i := 0; i <= s.at && i < len(s.blocks); i++ {
		clear(s.blocks[i])
	}
	s.at, s.used = 0, 0
}
