package clr

import (
	"slices"
	"strings"
)

// ProviderNames returns the names of the providers whose events have layouts, sorted.
func ProviderNames() []string {
	var names []string
	for _, p := range providers {
		if !strings.Contains(p.name, "/") { // events of one ID that differ by a name in their payload
			names = append(names, p.name)
		}
	}
	slices.Sort(names)
	return names
}

// EventNames returns the names of all events that have layouts, sorted and distinct, as Layout.Name returns them.
func EventNames() []string {
	var names []string
	for _, e := range index {
		symbol, _, _ := strings.Cut(layoutText[e.pos:], "\t")
		names = append(names, unversioned(symbol))
	}
	slices.Sort(names)
	return slices.Compact(names)
}
