package clr

import (
	"slices"
	"testing"
)

// The lists contain every provider and every event that Lookup knows, once.
func TestNames(t *testing.T) {
	names, events := ProviderNames(), EventNames()
	for _, p := range []string{Runtime, "Microsoft-DotNETCore-SampleProfiler", "System.Net.Http"} {
		if !slices.Contains(names, p) {
			t.Errorf("no provider %s in %q", p, names)
		}
	}
	for _, l := range allLayouts(t) {
		if !slices.Contains(events, l.Name()) {
			t.Errorf("no event %s", l.Name())
		}
	}
	if !slices.IsSorted(events) || len(slices.Compact(slices.Clone(events))) != len(events) {
		t.Error("events are not sorted or not distinct")
	}
}
