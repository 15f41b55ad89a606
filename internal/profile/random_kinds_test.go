package profile_test

import (
	"math/rand/v2"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/profile"
	"github.com/ntconv/ntconv/sample"
)

// randomSteps returns events of a kind in random order on random threads, with losses and exits of threads (nil
// types).
func randomSteps(rng *rand.Rand, k sample.Kind) (list []step) {
	var pool []step
	for _, c := range cycles() {
		if c.kind == k {
			pool = c.steps
		}
	}
	switch k {
	case sample.GC:
		pool = pool[:0:0]
		for _, name := range []byte("BPOERFTBERFTSX") {
			typ := uint32(rng.IntN(3))
			pool = append(pool, gcEvent(name, uint32(rng.IntN(3)), uint32(rng.IntN(3)), typ), gcEvent(name, 1, 2, typ))
		}
	case sample.Requests:
		types := httpTypes()
		for _, name := range []byte("HhKkCc") {
			s := httpStep{name: name, id: string(rune('a' + rng.IntN(2)))}
			pool = append(pool, step{typ: types[name], payload: s.payload()})
		}
	}
	for range rng.IntN(80) {
		s := pool[rng.IntN(len(pool))]
		s.thread, s.bare = rng.IntN(3), rng.IntN(2) == 0
		if rng.IntN(25) == 0 {
			s.typ = nil
		}
		list = append(list, s)
	}
	return list
}

// Whatever the order of events, selections add up: every sample of the whole is in at least one of the parts, the
// pauses of collections last no longer than the suspensions, and at the end no meter holds anything of an event.
func TestRandomKinds(t *testing.T) {
	samples := map[sample.Kind]int{}
	for seed := range uint64(2000) {
		rng := rand.New(rand.NewPCG(seed, 3))
		kinds := pairedKinds()
		k := kinds[rng.IntN(len(kinds))]
		steps := randomSteps(rng, k)
		labeled := rng.IntN(2) == 0
		var totals [3]int64
		for part := range totals { // the whole, and two parts
			p := newPlayer()
			if !labeled {
				p.labels = nil
			}
			b := profile.New(testInfo(), nil, &profile.Options{Kind: k, Report: new(ntconv.Report)})
			for i := range steps {
				e := p.event(&steps[i])
				if steps[i].typ == nil {
					p.interrupt(b, []string{"loss", "exit"}[i%2])
					continue
				}
				b.Watch(e)
				if part == 0 || i%2 == part-1 {
					b.Add(e)
				}
			}
			result := b.Finish()
			for s := range result.Samples() {
				totals[part] += s.Values[0]
				if limit := int64(p.at) * 100 * 3; k == sample.GC && s.Values[1] > limit {
					t.Fatalf("seed %d: pause of %d ns in %d ns of 3 threads", seed, s.Values[1], limit)
				}
			}
			if n := profile.Held(b); n != 0 {
				t.Fatalf("seed %d, %v: %d places are held at the end", seed, k, n)
			}
		}
		if totals[0] > totals[1]+totals[2] {
			t.Fatalf("seed %d, %v: %d samples, but %d and %d in the parts", seed, k, totals[0], totals[1], totals[2])
		}
		samples[k] += int(totals[0])
	}
	for _, k := range pairedKinds() {
		if samples[k] < 40 {
			t.Errorf("%v: only %d samples", k, samples[k])
		}
	}
}
