package symbol

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/ntconv/ntconv"
)

// check verifies the invariants of spans: sorted, blocks within their bounds, no empty span.
func (s *spans) check() error {
	var prev *span
	for i, b := range s.blocks {
		if len(b) == 0 || len(b) > maxBlock {
			return fmt.Errorf("block %d has %d spans", i, len(b))
		}
		for j := range b {
			if b[j].start > b[j].last || prev != nil && prev.last >= b[j].start {
				return fmt.Errorf("span %+v after %+v", b[j], prev)
			}
			prev = &b[j]
		}
	}
	return nil
}

func (s *spans) len() (n int) {
	for _, b := range s.blocks {
		n += len(b)
	}
	return n
}

// TestSpansAgainstTable compares spans with a table of one entry per address.
func TestSpansAgainstTable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const size = 200
		base := rapid.SampledFrom([]uint64{0, 1 << 40, ^uint64(0) - size + 1}).Draw(t, "base")
		var table [size]uint32
		var s spans
		ops := rapid.IntRange(1, 60).Draw(t, "ops")
		for i := range uint32(ops) {
			a, b := rapid.IntRange(0, size-1).Draw(t, "a"), rapid.IntRange(0, size-1).Draw(t, "b")
			a, b = min(a, b), max(a, b)
			n := span{start: base + uint64(a), last: base + uint64(b), owner: i + 1, from: ntconv.Ticks(i)}
			if rapid.Bool().Draw(t, "fill") {
				s.fill(n)
				for j := a; j <= b; j++ {
					if table[j] == 0 {
						table[j] = n.owner
					}
				}
			} else {
				var lost [size]uint32
				s.put(n, func(o span) {
					for x := o.start - base; ; x++ {
						lost[x] = o.owner
						if x == o.last-base {
							break
						}
					}
				})
				for j := range table {
					if want := table[j]; (j < a || j > b) && lost[j] != 0 || j >= a && j <= b && lost[j] != want {
						t.Fatalf("put of %d to %d took %d from %d, which had %d", a, b, lost[j], j, want)
					}
					if j >= a && j <= b {
						table[j] = n.owner
					}
				}
			}
			if err := s.check(); err != nil {
				t.Fatal(err)
			}
			if s.len() > 2*int(i)+1 {
				t.Fatalf("%d spans after %d calls", s.len(), i+1)
			}
		}
		for j, want := range table {
			got := uint32(0)
			if f := s.find(base + uint64(j)); f != nil {
				got = f.owner
			}
			if got != want {
				t.Fatalf("address %d belongs to %d, want %d", j, got, want)
			}
		}
	})
}

// TestSpansManyBlocks does the same with so many spans that blocks split, in three orders.
func TestSpansManyBlocks(t *testing.T) {
	const n = 3000
	for name, at := range map[string]func(int) int{
		"up": func(i int) int { return i }, "down": func(i int) int { return n - 1 - i }, "scattered": func(i int) int { return i * 1709 % n },
	} {
		t.Run(name, func(t *testing.T) {
			var s spans
			for i := range n {
				k := at(i)
				s.put(span{start: uint64(k) * 10, last: uint64(k)*10 + 5, owner: uint32(k)}, func(span) { t.Fatal("took from another") })
			}
			if err := s.check(); err != nil || s.len() != n {
				t.Fatal(s.len(), err)
			}
			for k := range uint64(n) {
				if f := s.find(k*10 + 5); f == nil || f.owner != uint32(k) {
					t.Fatalf("span %d: %+v", k, f)
				}
				if f := s.find(k*10 + 6); f != nil {
					t.Fatalf("after span %d: %+v", k, f)
				}
			}
			taken := 0
			s.put(span{start: 15, last: 10*n - 20}, func(span) { taken++ })
			if err := s.check(); err != nil || s.len() != 5 || taken != n-2 {
				t.Fatalf("%d spans, %d taken, %v", s.len(), taken, err)
			}
		})
	}
}

// TestTimelineAgainstList compares lookups with a linear search through all changes.
func TestTimelineAgainstList(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		type entry struct {
			start, last uint64
			from        ntconv.Ticks
		}
		var all []entry
		var line timeline
		for i := range rapid.IntRange(1, 40).Draw(t, "entries") {
			start := rapid.Uint64Range(0, 30).Draw(t, "start")
			e := entry{start, start + rapid.Uint64Range(0, 15).Draw(t, "size"), ntconv.Ticks(i/2*2) * 10}
			line.put(span{start: e.start, last: e.last, from: e.from, owner: uint32(i)})
			all = append(all, e)
		}
		for addr := range uint64(50) {
			for when := ntconv.Ticks(-5); when < 420; when += 5 {
				want := -1
				for i, e := range all {
					if addr < e.start || addr > e.last {
						continue
					}
					if want < 0 || e.from <= when {
						want = i
					} else if all[want].from == e.from {
						continue // both are later: the first one
					}
				}
				got, ok := line.at(addr, when)
				if ok != (want >= 0) || ok && int(got) != want && all[got].from != all[want].from {
					t.Fatalf("address %d at %d belongs to %d, want %d of %+v", addr, when, got, want, all)
				}
			}
		}
	})
}

func TestTexts(t *testing.T) {
	x := newStringTable()
	var want [][]byte
	var ids []stringID
	for i := range 5000 {
		b := bytes.Repeat([]byte(fmt.Sprint(i%3000, "-")), 1+i%3000%40)
		if i%3000 == 77 {
			b = bytes.Repeat([]byte{7}, chunkSize+5)
		}
		want, ids = append(want, b), append(ids, x.add(slices.Clone(b)))
	}
	if x.add(nil) != 0 || x.get(0) != nil {
		t.Error("the empty string is not 0")
	}
	for i, id := range ids {
		if !bytes.Equal(x.get(id), want[i]) {
			t.Fatalf("string %d is %q, want %q", i, x.get(id), want[i])
		}
		if i >= 3000 && id != ids[i-3000] {
			t.Fatalf("string %d was stored twice", i)
		}
	}
}

// TestSettledMeaning checks that, once settled, times with equal epochs have the same owner, and that events out of
// order are detected.
func TestSettledMeaning(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var line timeline
		late := false
		latest := map[uint64]ntconv.Ticks{} // of the newest owner of each address
		for i := range rapid.IntRange(1, 40).Draw(t, "entries") {
			start := rapid.Uint64Range(1, 30).Draw(t, "start")
			n := span{
				start: start, last: start + rapid.Uint64Range(0, 15).Draw(t, "size"), owner: uint32(i), epoch: uint32(i),
				from: ntconv.Ticks(rapid.IntRange(0, i).Draw(t, "from")),
			}
			for a := n.start; a <= n.last; a++ {
				from, taken := latest[a]
				late = late || taken && from > n.from
				latest[a] = n.from
			}
			line.put(n)
			var m epochHash
			line.addEpochs(&m, start, n.from-1) // in between, so that part of the past is sorted
		}
		if line.settle() == late {
			t.Fatalf("late: %v, settled: %v", late, !late)
		}
		for addr := range uint64(50) {
			owners := map[uint32][2]uint32{}
			for when := ntconv.Ticks(-1); when < 42; when++ {
				var m epochHash
				line.addEpochs(&m, addr+1, when)
				before, _ := line.at(addr, when)
				at, _ := line.at(addr+1, when)
				got := [2]uint32{before, at}
				if first, ok := owners[m.number()]; ok && first != got {
					t.Fatalf("address %d: number %d represents owners %v, and %v at %d", addr+1, m.number(), first, got, when)
				}
				owners[m.number()] = got
			}
		}
	})
}
