package tracker

import (
	"github.com/ntconv/ntconv/internal/span"
	"github.com/ntconv/ntconv/schema"
)

// SourcesOf returns the sources whose events show a span with this evidence. It returns 0 for intervals of the runtime, which have
// several.
func SourcesOf(e span.Evidence) Sources {
	switch e {
	case span.FromOTLP:
		return Imported
	case span.FromLabels:
		return Labels
	case span.FromActivity:
		return Activities
	case span.FromPair:
		return Pairs | Requests
	case span.FromChrome:
		return Chrome
	}
	return 0
}

// SourceOf returns the one source of a span or interval. A request that an event source of .NET reports is one of Requests, although Pairs
// show it, too.
func SourceOf(s *span.Span) Sources {
	switch s.Evidence {
	case span.FromPair:
		if isRequestProvider(s.Scope.Name) {
			return Requests
		}
		return Pairs
	case span.FromRuntime:
		for i := range intervals {
			if intervals[i].name == s.Name {
				return intervals[i].source
			}
		}
	}
	return SourcesOf(s.Evidence)
}

// isContext reports whether a span is only a parent of others (Options.Context).
func (t *Tracker) isContext(s *span.Span) bool { return t.opts.Context&SourcesOf(s.Evidence) != 0 }

// HasPairs reports whether Start and Stop events of a provider can be spans of Pairs.
func HasPairs(provider string) bool { return !isInfrastructure(provider) }

// IsPart reports whether events with a description begin or end spans of Activities or Pairs. Labels of an event may say so in addition.
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
