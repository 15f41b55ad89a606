// Package spangen generates spans for tests, and converts them to OTLP messages with code independent of the product.
package spangen

import (
	"fmt"
	"math"
	"reflect"
	"strings"

	"github.com/ntconv/ntconv/internal/span"
	"pgregory.net/rapid"
)

// Text generates valid UTF-8, including NUL and quotes, which is sometimes long.
func Text() *rapid.Generator[string] {
	return rapid.OneOf(
		rapid.SampledFrom(
			[]string{"", "GET", "a\x00b", `"\`, "\u2028é\U0001f600", "http.method", "\ufeff", "]},{", "\x1f\x7f"},
		),
		rapid.String(),
		rapid.Map(rapid.IntRange(0, 300), func(n int) string { return strings.Repeat("ä", n) }),
	)
}

// Value generates values of every kind with at most depth levels of nesting.
func Value(depth int) *rapid.Generator[span.Value] {
	return rapid.Custom(func(t *rapid.T) span.Value {
		most := 7
		if depth > 0 {
			most = 9
		}
		switch rapid.IntRange(0, most).Draw(t, "kind") {
		case 0:
			return span.Value{}
		case 1:
			return span.Empty()
		case 2, 3:
			return span.String(Text().Draw(t, "string"))
		case 4:
			return span.Bool(rapid.Bool().Draw(t, "bool"))
		case 5:
			return span.Int(rapid.Int64().Draw(t, "int"))
		case 6:
			return span.Float(float().Draw(t, "double"))
		case 7:
			return span.Bytes(string(rapid.SliceOf(rapid.Byte()).Draw(t, "bytes")))
		case 8:
			elems := rapid.SliceOfN(Value(depth-1), 0, 4).Draw(t, "elems")
			for i := range elems {
				if elems[i].Kind() == span.ValueAbsent { // messages cannot represent it
					elems[i] = span.Empty()
				}
			}
			return span.Array(elems)
		}
		return span.Map(attributes(depth-1).Draw(t, "members"))
	})
}

func float() *rapid.Generator[float64] {
	return rapid.OneOf(rapid.Float64(), rapid.Map(rapid.Uint64(), math.Float64frombits), rapid.SampledFrom([]float64{
		0, math.Copysign(0, -1), 0.1, math.Inf(1), math.Inf(-1), math.NaN(), math.Float64frombits(0xfff8000000000000),
		math.Float64frombits(0x7ff8000000000000), math.MaxFloat64, math.SmallestNonzeroFloat64, 1 << 53,
	}))
}

func attributes(depth int) *rapid.Generator[[]span.Attribute] {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) span.Attribute {
		return span.Attribute{Key: Text().Draw(t, "key"), Value: Value(depth).Draw(t, "value")}
	}), 0, 4)
}

func id[T any](fill func(*T, []byte), size int) *rapid.Generator[T] {
	return rapid.Custom(func(t *rapid.T) (id T) {
		b := rapid.SliceOfN(rapid.Byte(), size, size).Draw(t, "id")
		b[0] |= 1 // not all zero
		fill(&id, b)
		return id
	})
}

// TraceID generates valid trace IDs.
func TraceID() *rapid.Generator[span.TraceID] {
	return id(func(id *span.TraceID, b []byte) { copy(id[:], b) }, 16)
}

// ID generates valid span IDs.
func ID() *rapid.Generator[span.ID] { return id(func(id *span.ID, b []byte) { copy(id[:], b) }, 8) }

// Span generates spans, some of which share scopes and resources.
func Span(scopes []*span.Scope, resources []*span.Resource) *rapid.Generator[*span.Span] {
	return rapid.Custom(func(t *rapid.T) *span.Span {
		s := &span.Span{
			Context:    span.Context{TraceID: TraceID().Draw(t, "trace"), ID: ID().Draw(t, "span")},
			TraceState: Text().Draw(t, "state"), Flags: rapid.Uint32().Draw(t, "flags"), Name: Text().Draw(t, "name"),
			Kind: span.Kind(rapid.Int32().Draw(t, "kind")), Start: rapid.Uint64().Draw(t, "start"), End: rapid.Uint64().Draw(t, "end"),
			Attributes: attributes(3).Draw(t, "attributes"), DroppedAttributes: rapid.Uint32().Draw(t, "dropped"),
			DroppedEvents: rapid.Uint32().
				Draw(t, "dropped events"),
			DroppedLinks: rapid.Uint32().Draw(t, "dropped links"),
			Status:       span.StatusCode(rapid.Int32Range(-1, 3).Draw(t, "status")), HasStatus: rapid.Bool().Draw(t, "has status"),
			StatusMessage: Text().Draw(t, "message"),
			Scope: rapid.SampledFrom(scopes).
				Draw(t, "scope"),
			Resource: rapid.SampledFrom(resources).Draw(t, "resource"),
		}
		s.HasStatus = s.HasStatus || s.Status != 0 || s.StatusMessage != ""
		if rapid.Bool().Draw(t, "child") {
			s.ParentID = ID().Draw(t, "parent")
		}
		for range rapid.IntRange(0, 3).Draw(t, "events") {
			s.Events = append(s.Events, span.Event{
				Time: rapid.Uint64().
					Draw(t, "time"),
				Name: Text().Draw(t, "event"), Attributes: attributes(1).Draw(t, "of event"),
				DroppedAttributes: rapid.Uint32().Draw(t, "dropped of event"),
			})
		}
		for range rapid.IntRange(0, 2).Draw(t, "links") {
			s.Links = append(s.Links, span.Link{
				Context:    span.Context{TraceID: TraceID().Draw(t, "linked trace"), ID: ID().Draw(t, "linked span")},
				TraceState: Text().Draw(t, "state"), Attributes: attributes(1).Draw(t, "of link"),
				DroppedAttributes: rapid.Uint32().
					Draw(t, "dropped of link"),
				Flags: rapid.Uint32().Draw(t, "flags of link"),
			})
		}
		return s
	})
}

// Scope generates scopes, including nil.
func Scope() *rapid.Generator[*span.Scope] {
	return rapid.Custom(func(t *rapid.T) *span.Scope {
		if rapid.IntRange(0, 4).Draw(t, "absent") == 0 {
			return &span.Scope{Absent: true, SchemaURL: Text().Draw(t, "url")}
		}
		return &span.Scope{
			Name: Text().Draw(t, "name"), Version: Text().Draw(t, "version"), SchemaURL: Text().Draw(t, "url"),
			Attributes: attributes(1).Draw(t, "attributes"), DroppedAttributes: rapid.Uint32().Draw(t, "dropped"),
		}
	})
}

// Resource generates resources, including nil.
func Resource() *rapid.Generator[*span.Resource] {
	return rapid.Custom(func(t *rapid.T) *span.Resource {
		if rapid.IntRange(0, 4).Draw(t, "absent") == 0 {
			return &span.Resource{Absent: true, SchemaURL: Text().Draw(t, "url")}
		}
		r := &span.Resource{
			SchemaURL:  Text().Draw(t, "url"),
			Attributes: attributes(1).Draw(t, "attributes"), DroppedAttributes: rapid.Uint32().Draw(t, "dropped"),
		}
		for range rapid.IntRange(0, 2).Draw(t, "entities") {
			keys := rapid.SliceOfN(Text(), 0, 2)
			r.Entities = append(r.Entities, span.Entity{
				SchemaURL: Text().Draw(t, "url"),
				Type:      Text().Draw(t, "type"),
				IDKeys:    keys.Draw(t, "ids"), DescriptionKeys: keys.Draw(t, "descriptions"),
			})
		}
		return r
	})
}

// Spans generates spans in an order that OTLP can represent: spans with the same resource are consecutive, and among
// them those with the same scope.
func Spans() *rapid.Generator[[]*span.Span] {
	return rapid.Custom(func(t *rapid.T) (spans []*span.Span) {
		for _, r := range rapid.SliceOfN(Resource(), 1, 2).Draw(t, "resources") {
			for _, s := range rapid.SliceOfN(Scope(), 1, 2).Draw(t, "scopes") {
				one := Span([]*span.Scope{s}, []*span.Resource{r})
				spans = append(spans, rapid.SliceOfN(one, 0, 3).Draw(t, "spans")...)
			}
		}
		return spans
	})
}

// WantEqual fails the test unless got has the same spans as want in the same order.
func WantEqual(t rapid.TB, want, got []*span.Span) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("want %d spans, got %d", len(want), len(got))
	}
	for i := range want {
		if err := Equal(want[i], got[i]); err != nil {
			t.Fatal(err)
		}
	}
}

// Equal returns an error with the first field in which two spans differ, and nil if they are equal. It compares the
// fields of OTLP. Empty and nil lists are equal; doubles are equal if their bits are.
func Equal(want, got *span.Span) error {
	a, b := reflect.ValueOf(*normal(want)), reflect.ValueOf(*normal(got))
	for i := range a.NumField() {
		if x, y := a.Field(i).Interface(), b.Field(i).Interface(); !reflect.DeepEqual(x, y) {
			return fmt.Errorf("span %q: %s: want %+v, got %+v", want.Name, a.Type().Field(i).Name, deref(x), deref(y))
		}
	}
	return nil
}

func deref(x any) any {
	if v := reflect.ValueOf(x); v.Kind() == reflect.Pointer && !v.IsNil() {
		return v.Elem().Interface()
	}
	return x
}

// normal returns a deep copy of the fields of OTLP in which empty lists are nil.
func normal(s *span.Span) *span.Span {
	c := Clone(s)
	c.HasStatus = c.HasStatus || c.Status != 0 || c.StatusMessage != ""
	c.Process, c.Thread, c.EndThread = nil, nil, nil
	return c
}

// Clone returns a deep copy of a span, which may be retained.
func Clone(s *span.Span) *span.Span {
	c := *s
	c.Attributes = cloneAttributes(s.Attributes)
	c.Events, c.Links = nil, nil
	for _, e := range s.Events {
		e.Attributes = cloneAttributes(e.Attributes)
		c.Events = append(c.Events, e)
	}
	for _, l := range s.Links {
		l.Attributes = cloneAttributes(l.Attributes)
		c.Links = append(c.Links, l)
	}
	if s.Scope != nil {
		scope := *s.Scope
		scope.Attributes = cloneAttributes(scope.Attributes)
		c.Scope = &scope
	}
	if s.Resource != nil {
		r := *s.Resource
		r.Attributes, r.Entities = cloneAttributes(r.Attributes), nil
		for _, e := range s.Resource.Entities {
			e.IDKeys, e.DescriptionKeys = append([]string(nil), e.IDKeys...), append([]string(nil), e.DescriptionKeys...)
			r.Entities = append(r.Entities, e)
		}
		c.Resource = &r
	}
	return &c
}

func cloneAttributes(list []span.Attribute) (c []span.Attribute) {
	for _, a := range list {
		c = append(c, span.Attribute{Key: a.Key, Value: cloneValue(a.Value)})
	}
	return c
}

func cloneValue(v span.Value) span.Value {
	switch v.Kind() {
	case span.ValueArray:
		var elems []span.Value
		for _, e := range v.Elems() {
			elems = append(elems, cloneValue(e))
		}
		return span.Array(elems)
	case span.ValueMap:
		return span.Map(cloneAttributes(v.Members()))
	}
	return v
}
