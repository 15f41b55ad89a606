package meters

import (
	"strconv"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/events/clr"
	"github.com/ntconv/ntconv/internal/events/interval"
	"github.com/ntconv/ntconv/sample"
	"github.com/ntconv/ntconv/schema"
)

// collectionSpecs returns the kind of garbage collections.
func collectionSpecs() []Spec {
	return []Spec{
		{
			Kind:    sample.GC,
			Columns: []Column{counted("collections"), nanos("pause")},
			main:    1,
			Tags:    []string{LabelGeneration, LabelGCReason, LabelGCType},
			Subject: noSubject,
			Bare:    true, // server garbage collection runs on threads of its own
			crosses: true,
			Meter:   newGCMeter,
		},
	}
}

// A gcMeter turns each collection into a sample with the pauses that interval.Heaps assigns to it. A pause without a
// collection is a sample without a count.
type gcMeter struct {
	c        *Collector
	heaps    *interval.Heaps[gcData]
	triggers map[*ntconv.Process]*Place // of events that requested the next collection
	r        *reading                   // the current event
}

// gcData is what a gcMeter keeps of a pause or a collection.
type gcData struct {
	place, trigger *Place // of its begin, and of the event that requested it or nil
	reason, typ    string
	generation     string
}

const gcTriggered = 2 * RoleEnds // other roles are those of an interval.HeapEvent, see input

func newGCMeter(c *Collector) meter {
	m := &gcMeter{c: c, triggers: map[*ntconv.Process]*Place{}}
	m.heaps = interval.NewHeaps(c.clock, interval.HeapUser[gcData](m))
	return m
}

func (m *gcMeter) input(s *schema.Schema) (uint8, []string) {
	switch what, field := interval.HeapEventOf(s); {
	case what == interval.CollectionBegin:
		return uint8(what), []string{field, "Depth", "Reason", "Type"}
	case what != interval.NoHeapEvent:
		return RoleEnds + uint8(what), []string{field, "Depth"}
	case s.Provider == clr.Runtime && s.ID == 35:
		return gcTriggered, nil
	}
	return 0, nil
}

func (m *gcMeter) see(r *reading) {
	if r.role == gcTriggered {
		m.untrigger(ProcessOf(r.Thread))
		m.triggers[ProcessOf(r.Thread)] = m.c.hold(r)
		return
	}
	m.r = r
	m.heaps.Add(interval.HeapEvent(r.role%RoleEnds), r.Event, r.fields[0])
}

// Suspending implements interval.HeapUser.
func (m *gcMeter) Suspending(s *interval.Suspension[gcData]) {
	if s.IsPause() {
		s.Data.place = m.c.hold(m.r)
	}
}

// Collecting implements interval.HeapUser.
func (m *gcMeter) Collecting(g *interval.Collection[gcData]) {
	p := ProcessOf(m.r.Thread)
	g.Data = gcData{
		place: m.c.hold(m.r), trigger: m.triggers[p], generation: generationOf(m.r.fields[1]),
		reason: m.r.name(2, "Reason"), typ: m.r.name(3, "Type"),
	}
	delete(m.triggers, p)
	if g.In != nil && g.In.Owner == nil {
		g.Data.place.Time = min(g.Data.place.Time, g.In.Data.place.Time)
	}
}

// Ending implements interval.HeapUser.
func (m *gcMeter) Ending(g *interval.Collection[gcData]) {
	m.c.involve(g.Data.place)
	if g.Data.generation == "" {
		g.Data.generation = generationOf(m.r.fields[1])
	}
}

// Resumed implements interval.HeapUser.
func (m *gcMeter) Resumed(s *interval.Suspension[gcData], of []*interval.Collection[gcData]) {
	p := s.Data.place
	if p == nil {
		return
	}
	for _, g := range of {
		m.c.involve(g.Data.place)
		g.Data.place.involved = g.Data.place.involved || p.Selected
	}
	if alone := m.heaps.Unowned(s); alone > 0 || s.Owner == nil {
		m.c.observation().Values[1] = alone
		m.c.emit(p, s.End)
		return
	}
	m.c.release(p)
}

// Collected implements interval.HeapUser. The stack of the sample is that of the thread that requested the collection.
func (m *gcMeter) Collected(g *interval.Collection[gcData]) {
	p, other := g.Data.place, g.Data.trigger
	if other != nil && hasStack(other) && !hasStack(p) {
		other.Time = p.Time
		p, other = other, p
	}
	m.observe(g).Values[0] = 1
	if other != nil {
		p.involved = p.involved || other.Selected || other.involved
		m.c.release(other)
	}
	if g.Data.place != p {
		m.c.involve(p)
	}
	m.c.emit(p, g.End)
}

// observe returns an observation of the pauses of a collection.
func (m *gcMeter) observe(g *interval.Collection[gcData]) *Observation {
	o := m.c.observation()
	o.Values[1] = g.Paused
	o.tag(0, g.Data.generation)
	o.tag(1, g.Data.reason)
	o.tag(2, g.Data.typ)
	return o
}

func hasStack(p *Place) bool { return p.Stack != nil && len(p.Stack.PCs)+len(p.Stack.Frames) > 0 }

// CutCollection implements interval.HeapUser. The pauses before are a sample without a count.
func (m *gcMeter) CutCollection(g *interval.Collection[gcData], reason interval.Cut) {
	p := g.Data.place
	if t := g.Data.trigger; t != nil {
		p.involved = p.involved || t.Selected
		m.c.release(t)
	}
	if g.Paused == 0 {
		m.c.drop(p, reason)
		return
	}
	m.c.cut(p, reason)
	m.observe(g)
	m.c.complete(p, g.End).alone = true
}

// CutSuspension implements interval.HeapUser.
func (m *gcMeter) CutSuspension(s *interval.Suspension[gcData], reason interval.Cut) {
	if s.Data.place != nil {
		m.c.drop(s.Data.place, reason)
	}
}

// Unmatched implements interval.HeapUser.
func (m *gcMeter) Unmatched() { m.c.unmatched() }

// untrigger discards the event that requested a collection that has not begun.
func (m *gcMeter) untrigger(p *ntconv.Process) {
	if t := m.triggers[p]; t != nil {
		m.c.release(t)
		delete(m.triggers, p)
	}
}

// Lost implements meter.
func (m *gcMeter) lost(capture *ntconv.Thread) {
	m.untrigger(ProcessOf(capture))
	m.heaps.Lost(capture)
}

// Removed implements meter.
func (m *gcMeter) removed(list []ntconv.ThreadSeq) { m.heaps.Removed(list) }

// Finish implements meter.
func (m *gcMeter) finish() {
	m.heaps.Finish()
	for p := range m.triggers {
		m.untrigger(p)
	}
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
