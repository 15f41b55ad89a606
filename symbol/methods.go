package symbol

import (
	"math"
	"slices"
	"sort"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/clr"
)

// forever is the end of code that was not said to be gone.
const forever = ntconv.Ticks(math.MaxInt64)

// A method is one piece of managed code in memory. The record has no pointers: a trace's rundown names tens of
// thousands of methods, of which few are ever asked for.
type method struct {
	start                  uint64
	size, token            uint32
	id, module             uint64
	from, end              ntconv.Ticks // from is always if no event said when it came
	namespace, name, param text         // as recorded; all 0 if no event said
}

func (m *method) last() uint64 { return m.start + uint64(m.size) - 1 }
func (m *method) named() bool  { return m.namespace|m.name|m.param != 0 }

// is reports whether a later event speaks of the same code. The method's id does not decide: the runtime uses it again
// for the next dynamic method, at the same address. Events without names have nothing else.
func (m *method) is(n *method) bool {
	if m.start != n.start || m.size != n.size {
		return false
	}
	if m.named() && n.named() {
		return m.namespace == n.namespace && m.name == n.name && m.param == n.param
	}
	return m.id == n.id
}

// methods is the managed code of a process over time.
//
// Entries come from four kinds of events, in any order:
//
//	load           the code is there from now on
//	unload         the code was there up to now. Without a load before, it always was, or since its predecessor went
//	rundown start  the code is there, like an unload it does not say since when
//	rundown end    the same
//
// What was announced already is announced again by most of them; that changes nothing but adds names to an entry
// without.
type methods struct {
	list []method
	when timeline // entries are indexes of list
}

// learn adds what an event of a time said about n. It reports whether an entry got its name only now.
func (s *methods) learn(n method, action clr.MethodAction, now ntconv.Ticks, epochs *uint32) (renamed uint32, ok bool) {
	if o := s.when.now.find(n.start); o != nil && s.list[o.owner].is(&n) {
		return s.again(o.owner, &n, action, now, epochs)
	}
	since, taken, live := s.before(n.start, n.last(), now, action == clr.MethodUnloaded)
	if action == clr.MethodUnloaded && live {
		s.when.late = true // others have its place already
		return 0, false
	}
	n.from, n.end = since, forever
	switch action {
	case clr.MethodLoaded:
		n.from = now
	case clr.MethodUnloaded:
		n.end = now
	}
	epoch := uint32(0)
	if taken || action == clr.MethodUnloaded {
		*epochs++
		epoch = *epochs
	}
	owner := uint32(len(s.list))
	s.list = append(roomy(s.list), n)
	s.when.put(span{start: n.start, last: n.last(), from: n.from, owner: owner, epoch: epoch})
	return 0, false
}

// maxDoubled is how many entries a slice may have that doubles when it is full. append adds a quarter instead, so that
// growing a slice takes five times its memory in all, each page of which costs more than what is written to it.
const maxDoubled = 1 << 14

// roomy returns a slice that has room for another entry.
func roomy[E any](list []E) []E {
	if len(list) == cap(list) && len(list) <= maxDoubled {
		return slices.Grow(list, len(list)+1)
	}
	return list
}

// again takes in an event about an entry that is there already.
func (s *methods) again(
	owner uint32,
	n *method,
	action clr.MethodAction,
	now ntconv.Ticks,
	epochs *uint32,
) (uint32, bool) {
	m := &s.list[owner]
	m.end = forever
	if action == clr.MethodUnloaded {
		m.end = now
		// From here on the place is free for code that no event announces, so this is a change of meaning.
		*epochs++
		s.when.renumber(m.start, m.last(), owner, *epochs)
	}
	if m.named() || !n.named() {
		return 0, false
	}
	m.namespace, m.name, m.param = n.namespace, n.name, n.param
	m.module = n.module
	return owner, true
}

// before looks at who had the addresses up to now: since when they are free, whether there was somebody, and whether
// somebody still is there. Where several went at different times, they count as free from now on: one time must do for
// all of them, and it must be one at which all of them change their epoch. With first it only looks for somebody who
// still is there, and assumes that there is somebody among many: the event then changes nothing, so nothing else bounds
// the time for such events.
func (s *methods) before(start, last uint64, now ntconv.Ticks, first bool) (since ntconv.Ticks, taken, live bool) {
	since = always
	count := 0
	s.when.now.overlapping(start, last, func(o *span) bool {
		if count++; first && count > mostInside {
			live = true
			return false
		}
		end := min(s.list[o.owner].end, now)
		live = live || s.list[o.owner].end > now
		if taken && end != since {
			end = now
		}
		since, taken = end, true
		return !live || !first
	})
	return since, taken, live
}

// A module is what method events call by an id: the address of a structure of the runtime, which may be used again.
type module struct {
	file    string // path; a mere name for dynamic modules
	buildID string
	from    ntconv.Ticks
}

// modules are by ID.
type modules map[uint64]*moduleHistory

// A moduleHistory is the modules that had an ID, in the order in which they were learned.
type moduleHistory struct {
	list []module
	// latest are the indexes of modules that are the last ones in list for some time: none that was learned later came
	// before. Their times ascend.
	latest []uint32
}

// add adds a module.
func (h *moduleHistory) add(n module) {
	k := len(h.latest)
	for k > 0 && h.list[h.latest[k-1]].from >= n.from {
		k--
	}
	h.latest = append(h.latest[:k], uint32(len(h.list)))
	h.list = append(h.list, n)
}

// at returns the last module in the list that came no later than a time, or else the first one.
func (h *moduleHistory) at(when ntconv.Ticks) *module {
	k := sort.Search(len(h.latest), func(k int) bool { return h.list[h.latest[k]].from > when })
	if k == 0 {
		return &h.list[0]
	}
	return &h.list[h.latest[k-1]]
}

// learn adds a module. It reports whether that changes anything, and whether one that is newer came before it.
func (s modules) learn(id uint64, n module) (changed, late bool) {
	h := s[id]
	if h == nil {
		h = new(moduleHistory)
		s[id] = h
	}
	if list := h.list; len(list) > 0 {
		if last := &list[len(list)-1]; last.file == n.file {
			if n.buildID == "" || last.buildID != "" {
				return false, false
			}
			last.buildID = n.buildID
			return true, false
		}
		late = n.from < list[len(list)-1].from
	}
	h.add(n)
	return true, late
}

// of returns the module that a method belongs to, or nil.
func (s modules) of(m *method) *module {
	h := s[m.module]
	if h == nil {
		return nil
	}
	if m.from != always { // a module is loaded before its methods
		return h.at(m.from)
	}
	return &h.list[len(h.list)-1]
}
