package clr

import (
	"slices"
	"strings"
)

// ProviderNames returns the names of the providers whose events have layouts, sorted.
func ProviderNames() []string {
	var names []string
	for _, p := range providers().list {
		if !strings.Contains(p.name, "/") { // a provider of layouts that a name in the payload selects
			names = append(names, p.name)
		}
	}
	slices.Sort(names)
	return names
}

// EventNames returns the names of all events that have layouts, as Layout.Name returns them, sorted and distinct.
func EventNames() []string {
	var names []string
	for _, p := range providers().list {
		for _, e := range p.all() {
			names = append(names, unversioned(e.symbol))
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Layouts returns the layouts of all events of a provider, by ID and version.
func Layouts(name string) []*Layout {
	p := providerOf(name)
	var list []*Layout
	for _, e := range p.all() {
		list = append(list, p.load(e))
	}
	return list
}
