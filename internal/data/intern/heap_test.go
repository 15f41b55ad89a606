package intern

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
)

type ranked struct{ rank, number int }

func (a *ranked) Before(b *ranked) bool {
	return a.rank < b.rank || a.rank == b.rank && a.number > b.number
}

// TestHeap pushes and pops at random: each Pop returns the first of the elements that a sorted list holds.
func TestHeap(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var h Heap[ranked, *ranked]
	var list []ranked
	for i := range 20_000 {
		if len(list) == 0 || r.IntN(20_000) > i {
			v := ranked{r.IntN(50), i}
			h.Push(v)
			list = append(list, v)
			continue
		}
		first := slices.MinFunc(list, func(a, b ranked) int { return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(b.number, a.number)) })
		if h[0] != first || h.Pop() != first {
			t.Fatalf("%d elements: %v is not the first", len(list), first)
		}
		list = slices.DeleteFunc(list, func(v ranked) bool { return v == first })
		if len(h) != len(list) || h[:len(h)+1][len(h)] != (ranked{}) {
			t.Fatalf("%d elements, want %d, and none behind them", len(h), len(list))
		}
	}
}
