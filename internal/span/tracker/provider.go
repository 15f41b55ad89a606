package tracker

import (
	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/events/chromeevent"
	"github.com/ntconv/ntconv/internal/events/operation"
	"github.com/ntconv/ntconv/internal/span"
	"github.com/ntconv/ntconv/schema"
)

// SourcesOf returns the sources that yield spans with the given evidence. It returns 0 for intervals of the runtime,
// which have several sources.
func SourcesOf(e span.Evidence) operation.Sources {
	switch e {
	case span.FromOTLP:
		return operation.Imported
	case span.FromLabels:
		return operation.Labels
	case span.FromActivity:
		return operation.Activities
	case span.FromPair:
		return operation.Pairs | operation.Requests
	case span.FromChrome:
		return operation.Chrome
	}
	return 0
}

// SourceOf returns the source of a span or interval. For a request that an event source of .NET reports it is Requests,
// although Pairs yields it too.
func SourceOf(s *span.Span) operation.Sources {
	switch s.Evidence {
	case span.FromPair:
		if isRequestProvider(s.Scope.Name) {
			return operation.Requests
		}
		return operation.Pairs
	case span.FromRuntime:
		return s.Operation.Source
	}
	return SourcesOf(s.Evidence)
}

// IsAsync reports whether a span is an asynchronous slice of Chrome's format: an ID identifies it, and it is not part
// of the call stack of its thread.
func IsAsync(s *span.Span) bool {
	return s.Evidence == span.FromChrome && find(s.Attributes, attrID) >= 0
}

// isContext reports whether a span is not emitted but only a possible parent (Options.Context).
func (t *Tracker) isContext(s *span.Span) bool { return t.opts.Context&SourcesOf(s.Evidence) != 0 }

// IsSlice reports whether events of a type may begin or end a slice of Chrome's format, or are parts of such events.
// end means that they end one or are a complete slice.
func IsSlice(t *ntconv.Type) (part, end bool) {
	phase, ok := chromeevent.Of(t)
	if !ok {
		return false, false
	}
	switch chromeevent.RoleOf(phase) {
	case chromeevent.RoleComplete, chromeevent.RoleEnd:
		return true, true
	case chromeevent.RoleBegin:
		return true, false
	}
	return phase == "", false
}

// HasPairs reports whether Start and Stop events of a provider can be spans of the source Pairs.
func HasPairs(provider string) bool { return !isInfrastructure(provider) }

// IsPart reports whether events with this schema begin or end spans of Activities or Pairs. The labels of an event may
// make it a part of a span too.
func IsPart(s *schema.Schema) (begin, end bool) {
	if !HasPairs(s.Provider) {
		return false, false
	}
	for _, p := range s.EndedBy() {
		begin = begin || p.Key == schema.KeyActivity
	}
	for _, p := range s.Ends() {
		end = end || p.Key == schema.KeyActivity
	}
	return begin, end
}
