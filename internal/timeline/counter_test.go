package timeline_test

import (
	"strings"
	"testing"

	"github.com/ntconv/ntconv/internal/testing/corpus"
	"github.com/ntconv/ntconv/internal/timeline"
)

// Page faults of a machine-wide trace are instants, not a counter whose value is always 1.
func TestPageFaultsAreInstants(t *testing.T) {
	instants := 0
	for _, it := range collect(t, build(t, corpus.Trace(t, "waits-v6").Data, nil)) {
		switch {
		case it.Name != "soft_page_fault":
		case it.Kind == timeline.Instant:
			instants++
		default:
			t.Fatalf("a page fault is %+v", it)
		}
	}
	if instants != 213 { // as many as the events of TraceEvent
		t.Errorf("%d instants", instants)
	}
}

// An instrument that may shrink has a track of its total but none of its rate; a counter has both.
func TestRates(t *testing.T) {
	tracks := map[string]bool{}
	for _, it := range collect(t, build(t, corpus.SharedTrace(t, "own/metrics").Data, nil)) {
		if it.Kind == timeline.Counter {
			name, _, _ := strings.Cut(it.Name, "{")
			_, statistic, _ := strings.Cut(it.Name, "} ")
			tracks[name+" "+statistic] = true
		}
	}
	for name, want := range map[string]bool{
		"Shop.Meter/carts total": true, "Shop.Meter/carts rate": false, "Shop.Meter/balance total": true, "Shop.Meter/balance rate": false,
		"Shop.Meter/orders total": true, "Shop.Meter/orders rate": true,
	} {
		if tracks[name] != want {
			t.Errorf("the track %s exists: %t", name, !want)
		}
	}
}
