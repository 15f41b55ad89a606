package timeline

import (
	"cmp"
	"strings"

	"github.com/ntconv/ntconv/internal/events/dotnet"
	"github.com/ntconv/ntconv/internal/events/operation"
	"github.com/ntconv/ntconv/internal/span"
	"github.com/ntconv/ntconv/internal/span/tracker"
)

// titleOf returns the name and the category of a span: the names of slices in all outputs.
func (t *Timeline) titleOf(s *span.Span) (name, category string) {
	source := tracker.SourceOf(s)
	if source == operation.Chrome {
		return cmp.Or(s.Name, CategorySpan), cmp.Or(s.Scope.Name, CategorySpan)
	}
	for _, c := range categories {
		if c.Source == source {
			return t.operationName(s), c.Slices
		}
	}
	return cmp.Or(s.Name, CategorySpan), CategorySpan // the name may be empty
}

var categories = operation.Categories()

// Keys of attributes of collections.
var (
	attrGeneration = operation.Named("gc").Attribute("generation")
	attrReason     = operation.Named("gc").Attribute("reason")
	attrNumber     = operation.Named("gc").Attribute("number")
)

// operationName returns the name of an operation of the runtime and of its object: "GC pause gen 0" or "JIT
// Shop.Cart.Add". Spans have the name of the operation only, because their names group them.
func (t *Timeline) operationName(s *span.Span) string {
	switch {
	case s.Operation == nil:
	case s.Operation.IsHeap():
		generation := cmp.Or(stringOf(s.Attributes, attrGeneration), stringOf(t.collectionOf(s), attrGeneration))
		if n, ok := strings.CutPrefix(generation, "gen"); ok {
			return s.Name + " gen " + n
		}
	case len(s.Operation.Fields) > 0 && s.Operation.Fields[0].Form == operation.Method:
		if method := stringOf(s.Attributes, operation.AttrFunction); method != "" {
			return s.Name + " " + dotnet.WithoutParameters(method)
		}
	}
	return s.Name
}

// stringOf returns the attribute with a key, or "" if there is none.
func stringOf(list []span.Attribute, key string) string {
	for i := range list {
		if list[i].Key == key {
			return list[i].Value.Str()
		}
	}
	return ""
}

// collectionOf returns the attributes of the collection to which a pause belongs. Call it only in addSpan.
func (t *Timeline) collectionOf(s *span.Span) []span.Attribute {
	if s.Operation == nil || s.Operation.Extent != operation.Pause {
		return nil
	}
	return t.tracker.Collection()
}
