package otlp

import (
	"bytes"
	"io"
	"testing"

	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/span"
	"github.com/ntconv/ntconv/internal/testing/spangen"
)

// TestConversion checks that a request contains every field of its spans in the canonical encoding, also if the memory
// of its batch was reused, and that a bound of its size is known before.
func TestConversion(t *testing.T) {
	b := new(batch)
	rapid.Check(t, func(t *rapid.T) {
		all := spanLists().Draw(t, "spans")
		own := requestOf(b, all)
		if b.size < len(own) {
			t.Fatalf("bound %d, encoded %d", b.size, len(own))
		}
		data := decodeProto(t, own)
		if want, _ := (proto.MarshalOptions{Deterministic: true}).Marshal(data); !bytes.Equal(own, want) {
			t.Fatalf("encoded %x\nwant %x", own, want)
		}
		got := spangen.FromProto(data)
		if len(got) != len(all) {
			t.Fatalf("%d spans of %d", len(got), len(all))
		}
		used := make([]bool, len(got))
		for _, want := range all {
			found := false
			for i := range got {
				if !used[i] && spangen.Equal(want, got[i]) == nil {
					used[i], found = true, true
					break
				}
			}
			if !found {
				t.Fatalf("lost %+v\ngot %+v", want, got)
			}
		}
	})
}

// TestGrouping checks that equal resources and scopes are merged, in the order of their first span, regardless of their
// pointers.
func TestGrouping(t *testing.T) {
	var spans []*span.Span
	for i, where := range []string{"aX", "bX", "aY", "aX", "bY", "bX"} {
		s := numbered(i, nil)
		s.Name = string(rune('0' + i))
		s.Resource = &span.Resource{SchemaURL: "u", Attributes: []span.Attribute{{Key: "service.name", Value: span.String(where[:1])}}}
		s.Scope = &span.Scope{Name: where[1:]}
		spans = append(spans, s)
	}
	got := ""
	for _, r := range decodeProto(t, requestOf(new(batch), spans)).ResourceSpans {
		got += "[" + r.Resource.Attributes[0].Value.GetStringValue()
		for _, s := range r.ScopeSpans {
			got += " " + s.Scope.Name
			for _, sp := range s.Spans {
				got += sp.Name
			}
		}
		got += "]"
	}
	if want := "[a X03 Y2][b X15 Y4]"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	var tab table
	if tab.resourceOf(&span.Resource{Absent: true}) == tab.resourceOf(new(span.Resource)) {
		t.Error("an absent resource is not an empty one")
	}
}

// TestResourceKeys checks that resources are distinguished even if the concatenations of their schema URL and
// attributes are equal.
func TestResourceKeys(t *testing.T) {
	var tab table
	a := tab.resourceOf(&span.Resource{SchemaURL: "x\x00\n\x04\n\x02k"})
	b := tab.resourceOf(&span.Resource{SchemaURL: "x", Attributes: []span.Attribute{{Key: "k\x00"}}})
	if a == b {
		t.Error("different resources have the same key")
	}
}

// TestBatchLimit checks that a span that does not fit is not added, unless it is the first.
func TestBatchLimit(t *testing.T) {
	var tab table
	b := new(batch)
	s := numbered(0, nil)
	s.Resource = new(span.Resource)
	add := func(limit int) bool {
		return addTo(b, s, path{tab.resourceOf(s.Resource), tab.scopeOf(s.Scope)}, limit)
	}
	if !add(1) {
		t.Fatal("a batch takes no span at all")
	}
	two := b.size
	if !add(1 << 20) {
		t.Fatal("no second span")
	}
	two = 2*b.size - two
	if add(two-1) || len(b.rows) != 2 || !add(two) || len(b.rows) != 3 {
		t.Errorf("%d spans, size %d, limit %d", len(b.rows), b.size, two)
	}
}

// TestInvalidText checks that strings that protobuf would reject are repaired.
func TestInvalidText(t *testing.T) {
	b := new(batch)
	s := numbered(1, nil)
	s.Resource = new(span.Resource)
	s.Name, s.Attributes[0].Value = "a\xffb", span.Array([]span.Value{span.String("\xc0\xaf"), span.Bytes("\xff")})
	got := spangen.FromProto(decodeProto(t, requestOf(b, []*span.Span{s})))[0]
	if got.Name != "a\uFFFDb" || b.repaired != 2 {
		t.Errorf("name %q, %d repaired", got.Name, b.repaired)
	}
	if addTo(b, s, b.rows[0].path, 1) || b.repaired != 2 {
		t.Errorf("%d repaired with a span that was not added", b.repaired)
	}
}

// TestAllocations checks that a span does not allocate once there is memory for a batch.
func TestAllocations(t *testing.T) {
	var tab table
	b := new(batch)
	spans := make([]*span.Span, 100)
	for i := range spans {
		spans[i] = numbered(i, nil)
		spans[i].Resource = new(span.Resource)
		spans[i].Events = []span.Event{{Name: "retry"}}
		spans[i].Links = []span.Link{{Flags: 1}}
		spans[i].Attributes[5].Value = span.Int(int64(i))
	}
	resource := tab.resourceOf(spans[0].Resource)
	fill := func() {
		b.reset()
		for _, s := range spans {
			addTo(b, s, path{resource, tab.scopeOf(s.Scope)}, 1<<30)
		}
	}
	for range 3 {
		fill()
	}
	if n := testing.AllocsPerRun(20, fill); n > 0 {
		t.Errorf("%v allocations for %d spans", n, len(spans))
	}
}

// TestAllocationsOfOtherEvents checks that events that belong to no span cost no allocation.
func TestAllocationsOfOtherEvents(t *testing.T) {
	s := NewFile(io.Discard, Protobuf, &ntconv.Info{Clock: ntconv.Clock{Freq: 1e9}}, nil, nil)
	thread := &ntconv.Thread{TID: 1, Process: shop}
	var events []*ntconv.Event
	for _, provider := range []string{"Microsoft-DotNETCore-SampleProfiler", "Microsoft-Windows-DotNETRuntime", "Universal.Events"} {
		events = append(events, &ntconv.Event{Type: &ntconv.Type{Provider: provider, ID: 10}, Thread: thread, Capture: thread})
	}
	write := func() {
		for _, e := range events {
			if err := s.Write(e); err != nil {
				t.Fatal(err)
			}
		}
	}
	write()
	if n := testing.AllocsPerRun(100, write); n > 0 {
		t.Errorf("%v allocations for %d events", n, len(events))
	}
	if err := s.Close(); err != nil || s.Summary().Items != 0 {
		t.Errorf("%v, %+v", err, s.Summary())
	}
}
