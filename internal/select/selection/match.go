package selection

import (
	"strings"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/select/where"
	"github.com/ntconv/ntconv/internal/span"
)

// Indices of the properties in subject.
const (
	name = iota
	propertyKind
	status
	duration
	start
	scope
	traceID
	spanID
	parentID
	attributes
)

// SpanSubject returns the properties of spans that expressions can use. Value returns them.
func SpanSubject() *where.Subject {
	return &where.Subject{
		Name:    "span",
		Example: `span.name == "GET /"`,
		Properties: []where.Property{
			name:         {Name: "name"},
			propertyKind: fact(span.FactKind, where.PropertyWord, span.KindNames()...),
			status:       fact(span.FactStatus, where.PropertyWord, span.StatusNames()...),
			duration:     {Name: "duration", Kind: where.PropertyDuration},
			start:        {Name: "start", Kind: where.PropertyTime},
			scope:        fact(span.FactScope, where.PropertyText),
			traceID:      fact(span.FactTraceID, where.PropertyWord),
			spanID:       fact(span.FactSpanID, where.PropertyWord),
			parentID:     fact(span.FactParentSpanID, where.PropertyWord),
			attributes:   {Name: "attributes", Kind: where.PropertyKeyed},
		},
	}
}

// fact returns the property that is a fact about a span.
func fact(f span.Fact, k where.PropertyKind, values ...string) where.Property {
	return where.Property{Name: f.String(), Kind: k, Values: values}
}

// A Condition selects spans. It is immutable and safe for concurrent use.
type SpanCondition struct{ where *where.Condition }

// ParseSpan parses an expression about spans. Errors are of type *where.Error.
func ParseSpan(text string) (*SpanCondition, error) {
	c, err := SpanSubject().Parse(text)
	if err != nil {
		return nil, err
	}
	return &SpanCondition{c}, nil
}

// Text returns the expression as the user wrote it.
func (c *SpanCondition) Text() string { return c.where.Text() }

// Match reports whether the condition holds for a span, which it borrows. clock is the clock of the span's trace;
// without a wall clock, no date matches.
func (c *SpanCondition) Match(s *span.Span, clock ntconv.Clock) bool {
	return c.where.Match(clock.Wall, func(property int, key string) ntconv.Value { return SpanValue(s, property, key) })
}

// SpanValue returns a property of a span, given as an index into the properties of Subject, or the zero Value if the span
// does not have it. key is the key of an attribute.
func SpanValue(s *span.Span, property int, key string) (none ntconv.Value) {
	switch property {
	case name:
		return ntconv.StringValue(s.Name)
	case propertyKind:
		return ntconv.StringValue(s.Kind.String())
	case status:
		return ntconv.StringValue(s.Status.String())
	case duration:
		if s.End == 0 {
			return none
		}
		return ntconv.IntValue(int64(s.End - s.Start))
	case start:
		return ntconv.IntValue(int64(s.Start))
	case scope:
		return ntconv.StringValue(s.Scope.Name)
	case traceID:
		return ntconv.StringValue(s.TraceID.String())
	case spanID:
		return ntconv.StringValue(s.ID.String())
	case parentID:
		if s.ParentID.IsZero() {
			return none
		}
		return ntconv.StringValue(s.ParentID.String())
	}
	return SpanAttribute(s, key)
}

// SpanAttribute returns the value of an attribute, or the zero Value if the span does not have it. If it has several with
// the key, the value is a list.
func SpanAttribute(s *span.Span, key string) (none ntconv.Value) {
	var list []ntconv.Value
	for i := range s.Attributes {
		if s.Attributes[i].Key == key {
			list = append(list, attribute(&s.Attributes[i].Value))
		}
	}
	switch len(list) {
	case 0:
		return none
	case 1:
		return list[0]
	}
	return ntconv.ListValue(list...) // like an array: one of the values must pass
}

// attribute returns the value of an attribute. Bytes and maps can only be tested with has.
func attribute(v *span.Value) ntconv.Value {
	switch v.Kind() {
	case span.ValueString:
		return ntconv.StringValue(strings.ToValidUTF8(v.Str(), "\uFFFD"))
	case span.ValueBool:
		return ntconv.BoolValue(v.Bool())
	case span.ValueInt:
		return ntconv.IntValue(v.Int())
	case span.ValueFloat:
		return ntconv.FloatValue(v.Float())
	case span.ValueArray:
		var list []ntconv.Value
		for i := range v.Elems() {
			list = append(list, attribute(&v.Elems()[i]))
		}
		return ntconv.ListValue(list...)
	case span.ValueBytes:
		return ntconv.BytesValue([]byte(v.Str()))
	}
	return ntconv.ObjectValue()
}
