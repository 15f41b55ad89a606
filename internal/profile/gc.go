package profile

import (
	"slices"
	"strconv"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/clr"
	"github.com/ntconv/ntconv/kind"
	"github.com/ntconv/ntconv/schema"
)

// collectionSpecs returns the kind of garbage collections.
func collectionSpecs() []spec {
	return []spec{
		{
			kind:     kind.GC,
			columns:  []column{counted("collections"), nanos("pause")},
			main:     1,
			period:   ValueType{Type: "collections", Unit: "count"},
			every:    1,
			interval: noInterval,
			tags:     []string{LabelGeneration, LabelGCReason, LabelGCType},
			subject:  noSubject,
			bare:     true, // server garbage collection runs on threads of its own
			crosses:  true,
			meter:    func(c *collector) meter { return &gcMeter{c: c, heaps: map[*ntconv.Process]*heap{}} },
			choose:   preferFirst,
			sources:  []string{"collections and their pauses", "collections without a known pause"},
		},
	}
}

// A gcMeter splits the pauses of the runtime among the garbage collections of each process. A pause lasts from the
// begin of a suspension for a collection to the end of the restart. Other reasons suspend the runtime, too: the sample
// profiler does for every sample.
//
// Only one thread at a time can suspend the runtime. But a thread announces its suspension before it waits for the
// thread that suspends the runtime now, and announces the end of the restart when the next thread may already have
// suspended it. Suspensions therefore belong to threads. A background collection may restart the runtime on another
// thread than the one that suspended it.
//
// In a suspension, several collections may begin: a background collection begins with a collection of the youngest
// generations. At any time, the pause belongs to the collection that began last in the suspension and has not ended.
// The time before the first collection belongs to that one. If none begins, the pause belongs to the background
// collection that runs.
type gcMeter struct {
	c           *collector
	heaps       map[*ntconv.Process]*heap
	suspensions []*suspension // not in use
	collections []*collection // not in use
}

// A heap is the state of the garbage collections of a process.
type heap struct {
	suspensions map[*ntconv.Thread]*suspension // announced, by thread
	active      *suspension                    // the one that has suspended the runtime, if it is for a collection
	restarting  *ntconv.Thread                 // the thread that restarts the runtime after active, if it is another one
	running     []*collection                  // oldest first: not ended, or waiting for the end of their pause
	trigger     *place                         // of the event that requested the next collection, or nil
}

// A suspension is a time for which the runtime is suspended.
type suspension struct {
	place *place // nil if it is not for a collection
	owner *collection
	mark  ntconv.Ticks // the pause before has been added to a collection
}

// A collection is a garbage collection that has begun.
type collection struct {
	place, trigger *place // of its begin, and of the event that requested it or nil
	in             *suspension
	number         uint64
	reason, typ    string
	generation     string
	pause          int64
	ended          bool
	end            ntconv.Ticks
	unknown        bool // the begin of its pause is not in the trace
}

// maxCollections limits heap.running. At most one background and one foreground collection run at the same time.
const maxCollections = 4

const (
	gcStart uint8 = 1 + iota
)

const (
	gcEnd = roleEnds + iota
	gcTriggered
	suspendBegin
	suspendEnd
	restartBegin
	restartEnd
)

func (m *gcMeter) input(s *schema.Schema) (uint8, []string) {
	if s.Provider != clr.Runtime {
		return 0, nil
	}
	switch s.ID {
	case 1:
		return gcStart, []string{"Count", "Depth", "Reason", "Type"}
	case 2:
		return gcEnd, []string{"Count", "Depth"}
	case 35:
		return gcTriggered, nil
	case 9:
		return suspendBegin, []string{"Reason"}
	case 8:
		return suspendEnd, nil
	case 7:
		return restartBegin, nil
	case 3:
		return restartEnd, nil
	}
	return 0, nil
}

func (m *gcMeter) see(r *reading) {
	h := m.heapOf(r.Thread)
	switch r.role {
	case suspendBegin:
		m.suspend(h, r)
	case suspendEnd:
		h.active, h.restarting = nil, nil
		if s := h.suspensions[r.Thread]; s != nil && s.place != nil {
			h.active = s
		}
	case restartBegin:
		if h.suspensions[r.Thread] == nil && h.active != nil {
			h.restarting = r.Thread
		}
	case restartEnd:
		m.restart(h, r)
	case gcTriggered:
		m.untrigger(h)
		h.trigger = m.c.hold(r)
	case gcStart:
		m.begin(h, r)
	case gcEnd:
		m.endOf(h, r)
	}
}

func (m *gcMeter) heapOf(t *ntconv.Thread) *heap {
	var p *ntconv.Process
	if t != nil {
		p = t.Process
	}
	h := m.heaps[p]
	if h == nil {
		h = &heap{suspensions: map[*ntconv.Thread]*suspension{}}
		m.heaps[p] = h
	}
	return h
}

// suspend notes that a thread wants to suspend the runtime.
func (m *gcMeter) suspend(h *heap, r *reading) {
	if old := h.suspensions[r.Thread]; old != nil {
		m.discard(h, r.Thread, old, cutLoss)
	}
	s := take(&m.suspensions)
	*s = suspension{mark: r.Time}
	if clr.SuspendsForGC(r.fields[0].Uint()) {
		s.place = m.c.hold(r)
	}
	h.suspensions[r.Thread] = s
}

// restart ends the suspension of a thread, or the one that it took over.
func (m *gcMeter) restart(h *heap, r *reading) {
	t := r.Thread
	s := h.suspensions[t]
	if s == nil && h.restarting == t && h.active != nil {
		s, t = h.active, h.active.place.thread
	}
	if s == nil {
		return // the runtime does not announce all suspensions of the sample profiler
	}
	switch {
	case s.place == nil:
	case r.Time < s.mark:
		m.c.disordered = true
		m.discard(h, t, s, cutOrder)
		return
	default:
		m.pause(h, s, r)
	}
	m.remove(h, t, s)
}

// pause ends a suspension for a collection, and the collections that waited for its end.
func (m *gcMeter) pause(h *heap, s *suspension, r *reading) {
	if s.owner == nil && len(h.running) > 0 {
		s.owner = h.running[len(h.running)-1]
	}
	if s.owner == nil {
		o := m.c.observation()
		o.values[1] = int64(m.c.clock.Since(s.mark, r.Time))
		m.c.emit(s.place, r.Time)
		return
	}
	m.charge(s, r.Time)
	for i := 0; i < len(h.running); i++ {
		g := h.running[i]
		if g.in != s && g != s.owner {
			continue
		}
		m.c.involve(g.place)
		g.place.involved = g.place.involved || s.place.selected
		g.in, g.end = nil, r.Time
		if g.ended {
			m.emit(h, g)
			i--
		}
	}
	m.c.release(s.place)
}

// charge adds the pause since the mark of a suspension to its owner.
func (m *gcMeter) charge(s *suspension, now ntconv.Ticks) {
	if s.owner != nil && now > s.mark {
		addTo(&s.owner.pause, int64(m.c.clock.Since(s.mark, now)))
		s.mark = now
	}
}

// begin notes the begin of a collection.
func (m *gcMeter) begin(h *heap, r *reading) {
	if len(h.running) == maxCollections {
		m.drop(h, h.running[0], cutLoss)
	}
	g := take(&m.collections)
	*g = collection{
		place: m.c.hold(r), trigger: h.trigger, in: h.current(r.Thread), number: r.fields[0].Uint(),
		generation: generationOf(r.fields[1]), reason: collectionReason(r), typ: r.name(3, "Type"),
	}
	h.trigger = nil
	h.running = append(h.running, g)
	if g.in == nil {
		g.unknown = true
		return
	}
	if g.in.owner == nil {
		g.place.time = min(g.place.time, g.in.place.time)
	}
	m.charge(g.in, r.Time)
	g.in.owner = g
}

// current returns the suspension in which a thread collects garbage, or nil.
func (h *heap) current(t *ntconv.Thread) *suspension {
	if s := h.suspensions[t]; s != nil && s.place != nil {
		return s
	}
	return h.active
}

// endOf notes the end of a collection.
func (m *gcMeter) endOf(h *heap, r *reading) {
	i := slices.IndexFunc(h.running, func(g *collection) bool { return g.number == r.fields[0].Uint() && !g.ended })
	if i < 0 {
		m.c.unmatched()
		return
	}
	g := h.running[i]
	m.c.involve(g.place)
	if g.ended, g.end = true, max(r.Time, g.place.time); g.generation == "" {
		g.generation = generationOf(r.fields[1])
	}
	s := g.in
	if s == nil {
		if s = h.active; s == nil || s.owner != nil {
			m.emit(h, g)
			return
		}
		s.owner, g.in = g, s // the suspension at the end of a background collection
	}
	if s.owner != g {
		return
	}
	for _, outer := range slices.Backward(h.running[:i]) {
		if outer.in == s && !outer.ended {
			m.charge(s, r.Time)
			s.owner = outer
			return
		}
	}
}

// emit completes the sample of a collection. Its stack is the one of the thread that requested the collection.
func (m *gcMeter) emit(h *heap, g *collection) {
	p, other := g.place, g.trigger
	if other != nil && hasStack(other) && !hasStack(p) {
		other.time = p.time
		p, other = other, p
	}
	o := m.c.observation()
	o.values[0], o.values[1] = 1, g.pause
	if g.unknown {
		o.values[1], o.source = 0, 1
	}
	o.tag(0, g.generation)
	o.tag(1, g.reason)
	o.tag(2, g.typ)
	if other != nil {
		p.involved = p.involved || other.selected || other.involved
		m.c.release(other)
	}
	if g.place != p {
		m.c.involve(p)
	}
	m.c.emit(p, g.end)
	m.forget(h, g)
}

func hasStack(p *place) bool { return p.stack != nil && len(p.stack.PCs)+len(p.stack.Frames) > 0 }

// drop ends a collection whose duration is unknown.
func (m *gcMeter) drop(h *heap, g *collection, reason cutReason) {
	if g.trigger != nil {
		g.place.involved = g.place.involved || g.trigger.selected
		m.c.release(g.trigger)
	}
	m.c.drop(g.place, reason)
	m.forget(h, g)
}

// forget removes a collection whose places have been passed on.
func (m *gcMeter) forget(h *heap, g *collection) {
	h.running = slices.DeleteFunc(h.running, func(other *collection) bool { return other == g })
	if g.in != nil && g.in.owner == g {
		g.in.owner = nil
	}
	*g = collection{}
	m.collections = append(m.collections, g)
}

// discard ends a suspension whose duration is unknown, and the collections in it.
func (m *gcMeter) discard(h *heap, t *ntconv.Thread, s *suspension, reason cutReason) {
	if s.place != nil {
		alone := true
		for i := len(h.running) - 1; i >= 0; i-- {
			if g := h.running[i]; g.in == s {
				alone = false
				m.drop(h, g, reason)
			}
		}
		if alone {
			m.c.drop(s.place, reason)
		} else {
			m.c.release(s.place)
		}
	}
	m.remove(h, t, s)
}

// remove removes the suspension of a thread, whose place has been passed on.
func (m *gcMeter) remove(h *heap, t *ntconv.Thread, s *suspension) {
	delete(h.suspensions, t)
	if h.active == s {
		h.active, h.restarting = nil, nil
	}
	*s = suspension{}
	m.suspensions = append(m.suspensions, s)
}

// untrigger discards the event that requested a collection that has not begun.
func (m *gcMeter) untrigger(h *heap) {
	if h.trigger != nil {
		m.c.release(h.trigger)
		h.trigger = nil
	}
}

// lost implements meter. The pauses of all collections of the process that run now are uncertain.
func (m *gcMeter) lost(capture *ntconv.Thread) {
	if capture == nil {
		return
	}
	if h := m.heaps[capture.Process]; h != nil {
		m.interrupt(h, capture, cutLoss)
		m.abandon(h, cutLoss)
	}
}

// interrupt ends the suspension of a thread.
func (m *gcMeter) interrupt(h *heap, t *ntconv.Thread, reason cutReason) {
	if s := h.suspensions[t]; s != nil {
		m.discard(h, t, s, reason)
	}
}

// abandon ends all collections of a process.
func (m *gcMeter) abandon(h *heap, reason cutReason) {
	m.untrigger(h)
	for len(h.running) > 0 {
		m.drop(h, h.running[0], reason)
	}
}

// removed implements meter.
func (m *gcMeter) removed(list []ntconv.ThreadSeq) {
	for i := range list {
		if t := list[i].Thread; t != nil && m.heaps[t.Process] != nil {
			m.interrupt(m.heaps[t.Process], t, cutEdge)
		}
	}
}

// finish implements meter.
func (m *gcMeter) finish() {
	for _, h := range m.heaps {
		for t, s := range h.suspensions {
			m.discard(h, t, s, cutEdge)
		}
		m.abandon(h, cutEdge)
	}
}

// take returns an unused element of a list, or a new one.
func take[T any](list *[]*T) *T {
	if n := len(*list); n > 0 {
		last := (*list)[n-1]
		*list = (*list)[:n-1]
		return last
	}
	return new(T)
}

// newReasons are the reasons for collections that the runtime's manifest lacks, from newReason on (gc_reason in the
// runtime's gc.h).
var newReasons = [...]string{
	"InducedCompacting", "LowMemoryHost", "PMFullGC", "LowMemoryHostBlocking", "BgcTuningSOH", "BgcTuningLOH",
	"BgcStepping", "InducedAggressive",
}

const newReason = 10

// collectionReason returns the name of the reason for a collection, or its number if it has no name.
func collectionReason(r *reading) string {
	if n := r.fields[2].Uint(); n >= newReason && n < newReason+uint64(len(newReasons)) {
		return newReasons[n-newReason]
	}
	return r.name(2, "Reason")
}

// generationOf returns the label of a generation, "" if it is unknown.
func generationOf(v ntconv.Value) string {
	if v.Kind() != ntconv.ValueUint && v.Kind() != ntconv.ValueInt {
		return ""
	}
	if n := v.Uint(); n < uint64(len(generations)) {
		return generations[n]
	}
	return "gen" + strconv.FormatUint(v.Uint(), 10)
}

var generations = [...]string{"gen0", "gen1", "gen2"}
