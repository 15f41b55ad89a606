package symbol

import (
	"math"
	"slices"
	"sort"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/events/clr"
)

// forever is the end of code without an unload event.
const forever = ntconv.Ticks(math.MaxInt64)

// A method is one piece of managed code in memory. The record contains no pointers, which keeps it out of the garbage
// collector's scans: the rundown of a trace describes tens of thousands of methods, and few of them are ever resolved.
type method struct {
	start                  uint64
	size, token            uint32
	id, module             uint64
	from, end              ntconv.Ticks // from is always if no event reported the load
	namespace, name, param stringID     // as recorded; all 0 if unknown
}

func (m *method) last() uint64  { return m.start + uint64(m.size) - 1 }
func (m *method) hasName() bool { return m.namespace|m.name|m.param != 0 }

// sameCode reports whether n describes the same code as m. The method ID is not sufficient: the runtime reuses it for
// the next dynamic method at the same address. It decides only if one of the two has no name.
func (m *method) sameCode(n *method) bool {
	if m.start != n.start || m.size != n.size {
		return false
	}
	if m.hasName() && n.hasName() {
		return m.namespace == n.namespace && m.name == n.name && m.param == n.param
	}
	return m.id == n.id
}

// methods is the managed code of a process over time. Its entries come from four kinds of events, in any order:
//
//	load           the code exists from now on
//	unload         the code existed until now; without a load event, always or since its predecessor was unloaded
//	rundown start  the code exists; like an unload, the event does not say since when
//	rundown end    the same
//
// Most of these events describe code that is already known. They change nothing, except that they add the name to an
// entry without one.
type methods struct {
	list []method
	when timeline // entries are indexes of list
}

// learn adds the content of an event about n at the given time. If ok, entry renamed got its name only now, and a
// memoized placeholder for it is stale.
func (s *methods) learn(n method, action clr.MethodAction, now ntconv.Ticks, epochs *uint32) (renamed uint32, ok bool) {
	if o := s.when.now.find(n.start); o != nil && s.list[o.owner].sameCode(&n) {
		return s.update(o.owner, &n, action, now, epochs)
	}
	since, taken, live := s.before(n.start, n.last(), now, action == clr.MethodUnloaded)
	if action == clr.MethodUnloaded && live {
		s.when.outOfOrder = true // the addresses already have a later owner
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

// update applies an event about an entry that already exists. The results are those of learn.
func (s *methods) update(
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
		// From now on the addresses are free for code that no event announces, so their owner changes.
		*epochs++
		s.when.renumber(m.start, m.last(), owner, *epochs)
	}
	if m.hasName() || !n.hasName() {
		return 0, false
	}
	m.namespace, m.name, m.param = n.namespace, n.name, n.param
	m.module = n.module
	return owner, true
}

// before examines the previous owners of [start, last]: since is when the range became free, taken whether it had an
// owner, live whether one is still loaded. If owners were unloaded at different times, since is now, because all
// addresses of the range must change their epoch together. With first, before stops at the first live owner, and
// assumes a live one if there are many: such an event changes nothing, so only this bound limits the time spent on it.
func (s *methods) before(start, last uint64, now ntconv.Ticks, first bool) (since ntconv.Ticks, taken, live bool) {
	since = always
	count := 0
	s.when.now.overlapping(start, last, func(o *span) bool {
		if count++; first && count > maxInside {
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

// A module is what a module ID of method events refers to. The ID is the address of a runtime structure, and the
// runtime may reuse it.
type module struct {
	file    string // path; dynamic modules have only a name
	buildID string
	from    ntconv.Ticks
}

// modules holds the modules by ID.
type modules map[uint64]*moduleHistory

// A moduleHistory lists the modules that had one ID, in the order in which they were learned.
type moduleHistory struct {
	list []module
	// latest holds the indexes of modules that no module learned later precedes in time. Their times ascend.
	latest []uint32
}

// add appends a module.
func (h *moduleHistory) add(n module) {
	k := len(h.latest)
	for k > 0 && h.list[h.latest[k-1]].from >= n.from {
		k--
	}
	h.latest = append(h.latest[:k], uint32(len(h.list)))
	h.list = append(h.list, n)
}

// at returns the last module of the list that was loaded at or before when, or else the first module.
func (h *moduleHistory) at(when ntconv.Ticks) *module {
	k := sort.Search(len(h.latest), func(k int) bool { return h.list[h.latest[k]].from > when })
	if k == 0 {
		return &h.list[0]
	}
	return &h.list[h.latest[k-1]]
}

// learn adds a module. changed reports whether the table differs afterwards, outOfOrder whether a newer module was
// learned before this one.
func (s modules) learn(id uint64, n module) (changed, outOfOrder bool) {
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
		outOfOrder = n.from < list[len(list)-1].from
	}
	h.add(n)
	return true, outOfOrder
}

// of returns the module of a method, or nil if it is unknown.
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
