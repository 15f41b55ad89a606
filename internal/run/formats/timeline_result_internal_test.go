package formats

import (
	"strings"
	"testing"

	"github.com/ntconv/ntconv/track"
)

// All that an exporter counted is an item, except what others contain or what is not in the file.
func TestItemsOfTimeline(t *testing.T) {
	c := track.Counts{Slices: 1, Instants: 10, Counters: 100, Samples: 1000, Losses: 10000, Raw: 100000, Flows: 5, Spans: 5, Short: 5, Rundown: 5, Unfinished: 5}
	if got := newTimelineResult(c, false).Items; got != 111111 {
		t.Errorf("%d items", got)
	}
}

// TestRenumberedUnchanged states that a file whose events are all written unchanged reports no new numbers, because it
// has the old ones.
func TestRenumberedUnchanged(t *testing.T) {
	for _, c := range []struct {
		counts track.Counts
		want   bool
	}{
		{track.Counts{Events: 2, Raw: 2, Renumbered: 1}, false},
		{track.Counts{Events: 2, Raw: 1, Samples: 1, Renumbered: 1}, true},
		{track.Counts{Events: 1, Slices: 1, Renumbered: 1}, true},
	} {
		if got := strings.Contains(newTimelineResult(c.counts, false).Text, "renumbered"); got != c.want {
			t.Errorf("%+v: remark %v, want %v", c.counts, got, c.want)
		}
	}
}
