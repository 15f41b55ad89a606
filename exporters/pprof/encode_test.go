package pprof_test

import (
	"math/rand/v2"

	"github.com/ntconv/ntconv"
)

// randomEvents returns samples of the given number of different stacks.
func randomEvents(n, stacks int) []*ntconv.Event {
	rng := rand.New(rand.NewPCG(3, 4))
	var list []*ntconv.Stack
	for range stacks {
		s := &ntconv.Stack{}
		for range 20 + rng.IntN(20) {
			s.PCs = append(s.PCs, 0x7f0000000000+rng.Uint64N(5000)*16)
		}
		list = append(list, s)
	}
	var events []*ntconv.Event
	for i := range n {
		who := till
		if i%3 == 0 {
			who = idle
		}
		events = append(events, sampled(who, ntconv.Ticks(i*5000), list[i%stacks]))
	}
	return events
}
