package formats

import (
	"strings"
	"testing"

	"github.com/ntconv/ntconv/track"
)

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
