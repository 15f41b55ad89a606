package meters

import (
	"strings"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/events/clr"
	"github.com/ntconv/ntconv/sample"
	"github.com/ntconv/ntconv/schema"
)

// Inputs returns the layouts of the events, of providers that .NET describes, from which profiles of a kind are computed:
// what a recorder must ask for. It returns nothing for kinds that any event may be part of, and for imported profiles.
func Inputs(k sample.Kind) (list []*clr.Layout) {
	if k == sample.Auto || k >= sample.Count || k == sample.Events || k == sample.Slices {
		return nil
	}
	spec := &Specs()[k]
	uses := usesOf(spec)
	for _, provider := range clr.ProviderNames() {
		if provider == clr.Rundown || strings.Contains(provider, "/") {
			continue // the end of a recording repeats events; parts of events are no events
		}
		for _, l := range clr.Layouts(provider) {
			t := &ntconv.Type{Provider: provider, ID: l.ID, Version: l.Version}
			if !clr.IsRuntime(provider) {
				t.Name = l.Name()
			}
			if uses(&ntconv.Event{Type: t}) {
				list = append(list, l)
			}
		}
	}
	return list
}

// usesOf returns a function that reports whether a kind reads an event.
func usesOf(spec *Spec) func(*ntconv.Event) bool {
	if spec.Meter == nil {
		return func(e *ntconv.Event) bool { return spec.Matches(e.Type) }
	}
	tags := NewTagTable()
	settings := NewSettings(&sample.KindOptions{}, nil)
	settings.TypeName, settings.MethodName = TypeNameOf(nil), MethodNameOf(nil)
	p := &Tables{Drop: map[string]bool{}, Tags: &tags, Schemas: new(schema.Table)}
	c := NewCollector(spec, p, &ntconv.Info{Clock: ntconv.Clock{Freq: 1e9}}, settings)
	return func(e *ntconv.Event) bool { return c.Role(e) != 0 }
}
