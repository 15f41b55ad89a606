package inventory_test

import (
	"testing"

	"github.com/ntconv/ntconv/internal/show/inventory"
)

// One item has a singular noun, and the noun says how many events the command prints if those are not the items.
func TestNouns(t *testing.T) {
	for _, c := range []struct {
		item inventory.Extractable
		want string
	}{
		{inventory.Extractable{What: "sampled allocations", Events: 2}, "sampled allocations"},
		{inventory.Extractable{What: "sampled allocations", Events: 1, Kind: "alloc"}, "sampled allocation"},
		{inventory.Extractable{What: "ends of spans", Events: 1, Printed: 2}, "end of spans (2 events)"},
		{inventory.Extractable{What: "context switches", Events: 1, Kind: "off-cpu"}, "context switch"},
		{inventory.Extractable{What: "samples of threads (wall clock)", Events: 1}, "sample of threads (wall clock)"},
		{inventory.Extractable{What: "garbage collections", Events: 10, Printed: 20}, "garbage collections (20 events)"},
	} {
		if got := c.item.Noun(); got != c.want {
			t.Errorf("%+v: %q, want %q", c.item, got, c.want)
		}
	}
}
