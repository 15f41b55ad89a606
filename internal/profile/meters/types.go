package meters

import (
	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/sample"
	"github.com/ntconv/ntconv/schema"
)

// Describe returns the sample types of a kind, the index of the one to show first, and the keys of the labels that come
// from payloads. The types of Imported are those of its profile. The caller must not change the slices.
func Describe(k sample.Kind) (types []sample.Type, main int, labels []string) {
	spec := &Specs()[k]
	for _, c := range spec.Columns {
		types = append(types, c.Type)
	}
	return types, spec.main, spec.Tags
}

// SampleTypes returns a function that reports whether events of a type begin samples of one of the kinds, or are such
// samples. Auto represents all kinds but Events. Imported samples do not count, because they were not taken from the
// recorded program. The function remembers its results, so it is not safe for concurrent use.
func SampleTypes(kinds ...sample.Kind) func(*ntconv.Type) bool {
	var matchers []func(*ntconv.Type) bool
	for _, k := range kinds {
		if k != sample.Auto {
			matchers = append(matchers, matcher(k))
			continue
		}
		for _, k := range sample.All() {
			if k != sample.Events {
				matchers = append(matchers, matcher(k))
			}
		}
	}
	known := map[*ntconv.Type]bool{}
	return func(t *ntconv.Type) bool {
		matches, ok := known[t]
		if !ok {
			for _, m := range matchers {
				matches = matches || m(t)
			}
			known[t] = matches
		}
		return matches
	}
}

// matcher returns SampleTypes of one kind.
func matcher(k sample.Kind) func(*ntconv.Type) bool {
	spec := &Specs()[k]
	switch {
	case spec.Meter != nil:
		tags := NewTagTable()
		p := &Tables{Drop: map[string]bool{}, Tags: &tags, Schemas: new(schema.Table)}
		c := NewCollector(spec, p, &ntconv.Info{Clock: ntconv.Clock{Freq: 1e9}}, new(Settings))
		return func(t *ntconv.Type) bool {
			role := c.Role(&ntconv.Event{Type: t})
			return role > 0 && role < RoleEnds
		}
	case spec.Matches != nil && k != sample.Imported:
		return spec.Matches
	}
	return func(*ntconv.Type) bool { return false }
}

// OnlyTotals reports whether a kind has only totals, and no single samples, see Spec.Totals.
func OnlyTotals(k sample.Kind) bool { return Specs()[k].Totals }
