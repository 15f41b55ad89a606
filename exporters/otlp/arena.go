package otlp

import (
	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
)

// An arena owns the messages of one batch. A span costs 30 allocations without it; an arena that is reused for the next
// batch allocates only what is larger than all batches before.
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

// A spanNode is a span with what it points to.
type spanNode struct {
	pb         tracepb.Span
	status     tracepb.Status
	trace      [16]byte
	id, parent [8]byte
}

// A linkNode is a link with what it points to.
type linkNode struct {
	pb    tracepb.Span_Link
	trace [16]byte
	id    [8]byte
}

// An attrNode is an attribute with its value. Most values are strings, so those have their place here.
type attrNode struct {
	pb    commonpb.KeyValue
	value commonpb.AnyValue
	text  commonpb.AnyValue_StringValue
}

// maxKept is how many attributes, events or links an arena keeps room for: a batch of tiny ones needs 15 times its
// encoded size.
const maxKept = 1 << 16

// reset makes the arena ready for the next batch. All messages become invalid.
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

// A slab hands out zero values from blocks that it reuses after reset.
type slab[T any] struct {
	blocks [][]T
	at     int // index of the block that is in use
	used   int // elements of it that were handed out
	room   int // elements of all blocks
}

const (
	minBlock = 8
	maxBlock = 1024
)

// take returns a zero value that is valid until reset.
func (s *slab[T]) take() *T { return &s.slice(1)[0] }

// slice returns n zero values that are valid until reset; nil if n is 0.
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

// reset clears all values, so that they pin no strings.
func (s *slab[T]) reset() {
	for i := 0; i <= s.at && i < len(s.blocks); i++ {
		clear(s.blocks[i])
	}
	s.at, s.used = 0, 0
}
