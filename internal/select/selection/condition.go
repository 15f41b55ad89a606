package selection

import (
	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/events/interval"
	"github.com/ntconv/ntconv/internal/events/operation"
	"github.com/ntconv/ntconv/internal/select/where"
	"github.com/ntconv/ntconv/internal/span"
)

// A Condition is an expression about one kind of interval. It is immutable and safe for concurrent use.
type DuringCondition struct {
	where *where.Condition
	kind  *intervalKind
}

// ParseDuring parses an expression. Errors are of type *where.Error.
func ParseDuring(text string) (*DuringCondition, error) {
	list := kinds()
	subjects := make([]*where.Subject, len(list))
	for i := range list {
		subjects[i] = list[i].subject
	}
	c, err := where.ParseAbout(text, subjects...)
	if err != nil {
		return nil, err
	}
	for i := range list {
		if list[i].subject == c.Subject() {
			return &DuringCondition{c, &list[i]}, nil
		}
	}
	panic("a parsed expression is about one of the subjects")
}

// Text returns the expression as the user wrote it.
func (c *DuringCondition) Text() string { return c.where.Text() }

// Spans reports whether spans can satisfy the condition.
func (c *DuringCondition) Spans() bool { return c.kind.ofSpan != nil }

func (c *DuringCondition) matchSpan(s *span.Span, clock ntconv.Clock) bool {
	return c.where.Match(clock.Wall, func(property int, key string) ntconv.Value {
		return c.kind.ofSpan(s, property, key)
	})
}

func (c *DuringCondition) matchInterval(v *interval.Interval, clock ntconv.Clock) bool {
	return c.where.Match(clock.Wall, func(property int, key string) ntconv.Value {
		return c.kind.properties[property].read(v, key)
	})
}

// A kind is a kind of interval that expressions can describe.
type intervalKind struct {
	subject *where.Subject
	noun    string // one interval, in messages
	plural  string // "" means noun with an s
	record  string // how to record such intervals
	tallied string // what a message calls a value of the first property of the subject, which it lists

	// isSpan reports whether a span is of the kind. ofSpan returns a property of the span, or ValueNull. Both are nil if
	// no span is of the kind.
	isSpan func(*span.Span) bool
	ofSpan func(s *span.Span, property int, key string) ntconv.Value

	// wants reports whether intervals of an operation are of the kind; nil if none are.
	wants      func(*operation.Operation) bool
	properties []property
}

// A property is a property of an interval.
type property struct {
	where.Property
	read func(v *interval.Interval, key string) ntconv.Value
}
