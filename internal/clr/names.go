package clr

import (
	"slices"
	"strings"
)

// ProviderNames returns the names of the providers whose events have layouts, sorted.
func ProviderNames() []string {
	var names []string
	for _, p := range providers {
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
	for _, e := range index {
		symbol, _, _ := strings.Cut(layoutText[e.pos:], "\t")
		names = append(names, unversioned(symbol))
	}
	slices.Sort(names)
	return slices.Compact(names)
}
