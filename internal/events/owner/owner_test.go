package owner

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestNumbers compares Numbers with a search through a list.
func TestNumbers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var n Numbers
		var used []uint64
		for range rapid.IntRange(0, 60).Draw(t, "operations") {
			id := rapid.Uint64Range(0, 20).Draw(t, "id")
			if rapid.Bool().Draw(t, "add") {
				if n.Add(id) == slices.Contains(used, id) {
					t.Fatalf("Add(%d) with %d in use", id, used)
				}
			} else {
				from := id
				for slices.Contains(used, id) {
					id++
				}
				if got := n.New(from); got != id {
					t.Fatalf("New(%d) = %d, want %d", from, got, id)
				}
			}
			if !slices.Contains(used, id) {
				used = append(used, id)
			}
			if n.Len() != len(used) || !n.Has(id) {
				t.Fatalf("%d numbers, want %d", n.Len(), len(used))
			}
		}
	})
}

// TestNumbersQuickly has IDs before which a search for each new one would take minutes.
func TestNumbersQuickly(t *testing.T) {
	const half = 1 << 19
	var n Numbers
	for id := range uint64(half) {
		n.Add(half + 1 + id)
	}
	for range half {
		n.New(uint64(n.Len()) + 1)
	}
	if last := n.New(1); last != 1 {
		t.Errorf("the first unused ID is %d, want 1", last)
	}
}
