package formats

import (
	"testing"

	"github.com/ntconv/ntconv/internal/events/operation"
	"github.com/ntconv/ntconv/track"
)

// The names of --tracks are distinct elements, of which each group of operations is one, and String is the inverse of
// Set.
func TestTracks(t *testing.T) {
	rest := track.All | track.Suspensions
	for _, n := range track.Names() {
		var set track.Set
		v := tracksValue{set: &set}
		if err := v.Set(n.Name); err != nil || set != n.Set || v.String() != n.Name {
			t.Errorf("%s is %#x, shown as %s: %v", n.Name, set, v.String(), err)
		}
		if rest&set != set {
			t.Errorf("%s has bits of another element, or all lacks it", n.Name)
		}
		rest &^= set
	}
	if rest != 0 {
		t.Errorf("all has %#x, which has no name", rest)
	}
	for _, c := range operation.Categories() {
		var set track.Set
		if v := (tracksValue{set: &set}); v.Set(c.Name) != nil || set != track.Set(c.Source) {
			t.Errorf("%s is %#x, want that of its operations, %#x", c.Name, set, c.Source)
		}
	}
}
