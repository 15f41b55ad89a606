package symbol

import (
	"cmp"
	"math"
	"slices"
	"sort"

	"github.com/ntconv/ntconv"
)

// always is the from of owners that existed before the trace began.
const always = ntconv.Ticks(math.MinInt64)

// A timeline maps an address and a time to an entry. now holds the newest owner of each range, past the ranges that
// earlier owners lost. Each change of owner gets an epoch from a counter that only grows: the latest epoch of an
// address is in its span in now, earlier ones are in past.
//
//	field       set by           invalidated by
//	now         put, renumber    put, which moves lost ranges to past
//	past        put              never; order only permutes it
//	levels      order            put: past[levels' end:] is unsorted until the next order
//	run, reach  order            order, for the levels that it merges
//	outOfOrder  put, methods     never
//	inexact     addEpochs        never
type timeline struct {
	now    spans
	past   []pastSpan
	levels []int // ends of the sorted parts of past, the largest part first; see order

	// outOfOrder reports that some event followed a newer one, so that now differs from what time order would have
	// given. inexact reports that addEpochs gave up a search.
	outOfOrder, inexact bool

	changed bool // some span in [low, high] has an epoch; no span outside has one
	low     uint64
	high    uint64
}

// A pastSpan is a range that an owner lost to a later one.
type pastSpan struct {
	start, last uint64
	from        ntconv.Ticks
	owner       uint32
	epoch       uint32
	run         uint32 // index of the first span of its level with the same start
	reach       uint64 // largest last of its level up to this span
}

// put makes n the newest owner of its addresses and moves the ranges of earlier owners to past.
func (t *timeline) put(n span) {
	t.now.put(n, func(o span) {
		t.outOfOrder = t.outOfOrder || o.from > n.from && o.owner != n.owner
		t.past = append(t.past, pastSpan{start: o.start, last: o.last, from: o.from, owner: o.owner, epoch: o.epoch})
	})
	if n.epoch != 0 {
		t.note(n.start, n.last)
	}
}

// renumber sets the epoch of a range that keeps its owner. It stops after maxInside spans, more than a valid trace has.
func (t *timeline) renumber(start, last uint64, owner, epoch uint32) {
	count := 0
	t.now.overlapping(start, last, func(s *span) bool {
		if s.owner == owner {
			s.epoch = epoch
		}
		count++
		return count < maxInside
	})
	t.note(start, last)
}

func (t *timeline) note(start, last uint64) {
	if !t.changed {
		t.changed, t.low, t.high = true, start, last
	}
	t.low, t.high = min(t.low, start), max(t.high, last)
}

// epoch returns the larger epoch of addr and addr-1; addr-1 matters for return addresses.
func (t *timeline) epoch(addr uint64) uint32 {
	if !t.changed || addr < t.low || addr-1 > t.high {
		return 0
	}
	p := t.now.seek(addr - 1)
	s := t.now.get(p)
	if s == nil || s.start > addr {
		return 0
	}
	n := s.epoch
	if s.last < addr {
		if s = t.now.get(t.now.next(p)); s != nil && s.start == addr {
			n = max(n, s.epoch)
		}
	}
	return n
}

// addEpochs adds to m the epochs in force at addr and addr-1 at the given time; addr-1 matters for return addresses. If
// past is not sorted, or the search takes too many steps, all owners but the newest share one value.
func (t *timeline) addEpochs(m *epochHash, addr uint64, when ntconv.Ticks) {
	if !t.changed || addr < t.low || addr-1 > t.high {
		return
	}
	for _, a := range [2]uint64{addr - 1, addr} {
		s := t.now.find(a)
		switch {
		case s == nil:
			m.add(0)
		case s.from <= when || len(t.past) == 0:
			m.add(s.epoch)
		case t.sorted() == len(t.past) || len(t.past) > 2*t.sorted():
			f, found := t.search(s, a, when, maxRuns)
			if t.inexact = t.inexact || !found; !found {
				f.epoch = ^s.epoch
			}
			m.add(f.epoch)
		default:
			m.add(^s.epoch)
		}
	}
}

// at returns the owner of addr at a time: the last one that began at or before it, or else the first one after it.
func (t *timeline) at(addr uint64, when ntconv.Ticks) (owner uint32, ok bool) {
	s := t.now.find(addr)
	if s == nil {
		return 0, false
	}
	if s.from <= when || len(t.past) == 0 {
		return s.owner, true
	}
	f, _ := t.search(s, addr, when, maxSearched)
	return f.owner, true
}

// Bounds on the runs of past that addEpochs and at examine. They are exceeded only if a large range once covered many
// others.
const (
	maxRuns     = 64
	maxSearched = 128
)

// maxTooShort bounds how many owners search examines that began at the right address but ended before addr.
const maxTooShort = 256

// search returns the owner of addr at a time that precedes s, the newest owner. It examines at most the given number of
// runs of past and reports whether that was sufficient; if not, best is the best owner found so far.
func (t *timeline) search(s *span, addr uint64, when ntconv.Ticks, limit int) (best pastSpan, found bool) {
	best = pastSpan{from: s.from, owner: s.owner, epoch: s.epoch}
	t.order()
	begin, tooShort := 0, maxTooShort
	for _, end := range t.levels {
		level := t.past[begin:end]
		i := sort.Search(len(level), func(i int) bool { return level[i].start > addr }) - 1
		for ; i >= 0 && level[i].reach >= addr; limit-- {
			if limit == 0 || tooShort <= 0 {
				return best, false
			}
			run := int(level[i].run) - begin
			if f := pick(level[run:i+1], addr, when, &tooShort); f != nil && better(*f, best, when) {
				best = *f
			}
			i = run - 1
		}
		begin = end
	}
	return best, true
}

// An epochHash combines the epochs in force for several addresses into one number. The zero value represents addresses
// that never changed their owner.
type epochHash struct {
	changed bool
	hash    uint64
}

func (m *epochHash) add(epoch uint32) {
	m.changed = m.changed || epoch != 0
	m.hash = (m.hash ^ uint64(epoch)) * hashFactor // an unchanged address still contributes its position
	m.hash ^= m.hash>>32 + 1
}

func (m *epochHash) number() uint32 {
	if !m.changed {
		return 0
	}
	return uint32(m.hash) | 1
}

// better reports whether a is a better owner than b at a time.
func better(a, b pastSpan, when ntconv.Ticks) bool {
	if (a.from <= when) != (b.from <= when) {
		return a.from <= when
	}
	if a.from <= when {
		return a.from >= b.from
	}
	return a.from < b.from
}

// pick returns the best owner in run, whose spans have the same start and ascending from, or nil. It decrements
// tooShort for each span that ends before addr.
func pick(run []pastSpan, addr uint64, when ntconv.Ticks, tooShort *int) *pastSpan {
	n := sort.Search(len(run), func(i int) bool { return run[i].from > when })
	for i := n - 1; i >= 0 && *tooShort > 0; i-- {
		if run[i].last >= addr {
			return &run[i]
		}
		*tooShort--
	}
	for i := n; i < len(run) && *tooShort > 0; i++ {
		if run[i].last >= addr {
			return &run[i]
		}
		*tooShort--
	}
	return nil
}

// settle sorts the past, so that addEpochs is exact. It returns false if it has been inexact before, or if events were
// out of order.
func (t *timeline) settle() bool {
	t.order()
	return !t.outOfOrder && !t.inexact
}

// sorted returns how many spans of past are in sorted levels.
func (t *timeline) sorted() int {
	if n := len(t.levels); n > 0 {
		return t.levels[n-1]
	}
	return 0
}

// order sorts the new spans of past and sets their run and reach. They form a level of their own until as many are new
// again: addresses may be resolved between any two events, and sorting the whole past each time would take quadratic
// time.
func (t *timeline) order() {
	if t.sorted() == len(t.past) {
		return
	}
	begin := t.sorted()
	for n := len(t.levels); n > 0; n-- {
		before := 0
		if n > 1 {
			before = t.levels[n-2]
		}
		if begin-before > 2*(len(t.past)-begin) {
			break
		}
		begin, t.levels = before, t.levels[:n-1]
	}
	t.levels = append(t.levels, len(t.past))
	level := t.past[begin:]
	slices.SortStableFunc(level, func(a, b pastSpan) int {
		return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.from, b.from))
	})
	reach := uint64(0)
	for i := range level {
		f := &level[i]
		reach = max(reach, f.last)
		f.reach, f.run = reach, uint32(begin+i)
		if i > 0 && level[i-1].start == f.start {
			f.run = level[i-1].run
		}
	}
}
