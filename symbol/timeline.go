package symbol

import (
	"cmp"
	"math"
	"slices"
	"sort"

	"github.com/ntconv/ntconv"
)

// always is the from of what was there before the trace began.
const always = ntconv.Ticks(math.MinInt64)

// A timeline answers which of many numbered entries an address belonged to at a time. The newest owner of each address
// stands in now; what it took from others is kept in past, because addresses are used again.
//
// Every change of meaning has a number, its epoch, taken from a counter that only grows: the latest one of an address
// is in its span, those before in past.
type timeline struct {
	now    spans
	past   []former
	levels []int // ends of the parts of past that are in order and have their aids set, the largest first; see order

	// late: something came after what is newer, so that now is not what it would be if all had come in the order of
	// time. vague: meaning did not look for an answer to its end.
	late, vague bool

	changed bool // some span has an epoch, all of them in [low, high]
	low     uint64
	high    uint64
}

// A former is what an owner had before another one took it.
type former struct {
	start, last uint64
	from        ntconv.Ticks
	owner       uint32
	epoch       uint32
	run         uint32 // index of the first one of its level with the same start
	reach       uint64 // largest last of its level up to here
}

// put makes n the newest owner of its addresses.
func (t *timeline) put(n span) {
	t.now.put(n, func(o span) {
		t.late = t.late || o.from > n.from && o.owner != n.owner
		t.past = append(t.past, former{start: o.start, last: o.last, from: o.from, owner: o.owner, epoch: o.epoch})
	})
	if n.epoch != 0 {
		t.note(n.start, n.last)
	}
}

// renumber gives a range that keeps its owner a new epoch, or as much of it as an honest input can have.
func (t *timeline) renumber(start, last uint64, owner, epoch uint32) {
	count := 0
	t.now.overlapping(start, last, func(s *span) bool {
		if s.owner == owner {
			s.epoch = epoch
		}
		count++
		return count < mostInside
	})
	t.note(start, last)
}

func (t *timeline) note(start, last uint64) {
	if !t.changed {
		t.changed, t.low, t.high = true, start, last
	}
	t.low, t.high = min(t.low, start), max(t.high, last)
}

// epoch returns the largest epoch of addr and of the address before it, which may decide about a return address.
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

// meaning adds the change that addr, and the one that the address before it, which may decide about a return address,
// had its meaning from at a time. Where the past is not in order, or it would take too long to find out, all meanings
// but the newest are one.
func (t *timeline) meaning(m *meaning, addr uint64, when ntconv.Ticks) {
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
			f, found := t.search(s, a, when, mostRuns)
			if t.vague = t.vague || !found; !found {
				f.epoch = ^s.epoch
			}
			m.add(f.epoch)
		default:
			m.add(^s.epoch)
		}
	}
}

// at returns the entry that addr belonged to: the last one that came not after the time, else the first one after it.
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

// mostRuns and maxSearched are how much of the past meaning and at look at for an answer. Only where something large
// once lay over all else it is not enough.
const (
	mostRuns    = 64
	maxSearched = 128
)

// maxTooShort is how many owners search looks at that began at one address and ended before another one.
const maxTooShort = 256

// search is at for an address whose newest owner, that of s, came after the time. It looks at so many runs of the past
// and reports whether that was enough.
func (t *timeline) search(s *span, addr uint64, when ntconv.Ticks, most int) (best former, found bool) {
	best = former{from: s.from, owner: s.owner, epoch: s.epoch}
	t.order()
	begin, tooShort := 0, maxTooShort
	for _, end := range t.levels {
		level := t.past[begin:end]
		i := sort.Search(len(level), func(i int) bool { return level[i].start > addr }) - 1
		for ; i >= 0 && level[i].reach >= addr; most-- {
			if most == 0 || tooShort <= 0 {
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

// A meaning is the changes that some addresses have their meaning from, as one number. Its zero value is that of
// addresses that never changed.
type meaning struct {
	changed bool
	hash    uint64
}

func (m *meaning) add(epoch uint32) {
	m.changed = m.changed || epoch != 0
	m.hash = (m.hash ^ uint64(epoch)) * hashFactor // what does not change counts for its place
	m.hash ^= m.hash>>32 + 1
}

func (m *meaning) number() uint32 {
	if !m.changed {
		return 0
	}
	return uint32(m.hash) | 1
}

// better reports whether a is a better answer than b for a time.
func better(a, b former, when ntconv.Ticks) bool {
	if (a.from <= when) != (b.from <= when) {
		return a.from <= when
	}
	if a.from <= when {
		return a.from >= b.from
	}
	return a.from < b.from
}

// pick returns the best answer among formers with the same start, which are in order of from. It takes from tooShort
// those that do not have the address.
func pick(run []former, addr uint64, when ntconv.Ticks, tooShort *int) *former {
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

// settle makes meaning exact, and reports whether nothing was late or vague.
func (t *timeline) settle() bool {
	t.order()
	return !t.late && !t.vague
}

// sorted returns how much of past is in order.
func (t *timeline) sorted() int {
	if n := len(t.levels); n > 0 {
		return t.levels[n-1]
	}
	return 0
}

// order sorts what is new in the past, and sets its aids. It is a level of its own until as much is new again: names
// may be asked for between all events, and then sorting everything each time would take quadratic time.
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
	slices.SortStableFunc(level, func(a, b former) int {
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
