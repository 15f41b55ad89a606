package profile

import (
	"slices"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/events/operation"
	"github.com/ntconv/ntconv/schema"
)

// A meter is the state of one kind in one trace: it turns events into samples. It sees all events with a role, also
// those that a selection omits, so that a selection by event name never loses the other half of an interval. The
// collector decides which samples are selected.
type meter interface {
	// input returns what the meter does with the events of a schema: a role, 0 if it ignores them, and the paths of the
	// fields that it reads. An event with a role below roleEnds begins a sample, or is one.
	input(s *schema.Schema) (role uint8, fields []string)
	// see processes an event with a role. It borrows r.
	see(r *reading)
	// lost notes that events of a capture thread are missing here.
	lost(capture *ntconv.Thread)
	// removed notes that threads have exited. It borrows list.
	removed(list []ntconv.ThreadSeq)
	// finish notes the end of the trace.
	finish()
}

// roleEnds is the first role of events that only end or describe the samples of earlier events.
const roleEnds uint8 = 64

// roleBegins is the role of events that begin an operation, as roleIn returns it.
const roleBegins uint8 = 1

// roleIn returns roleBegins or roleEnds for events that begin or end an operation, and 0 for others.
func roleIn(s *schema.Schema, of *operation.Operation) uint8 {
	is := func(p *schema.Pair) bool { return p.Provider == of.Provider && p.Name == of.Pair }
	switch {
	case slices.ContainsFunc(s.EndedBy(), is):
		return roleBegins
	case slices.ContainsFunc(s.Ends(), is):
		return roleEnds
	}
	return 0
}

// A reading is an event with the fields that its meter reads.
type reading struct {
	*ntconv.Event
	role   uint8
	schema *schema.Schema
	fields []ntconv.Value // in the order of the paths of meter.input; null if the event has no such field
}

// name returns the name of the i-th field's value in the runtime's manifest, or else the value as text. field is the
// name of the field. The result is "" if the event has no such field.
func (r *reading) name(i int, field string) string {
	v := r.fields[i]
	if v.Kind() == ntconv.ValueUint || v.Kind() == ntconv.ValueInt {
		if name := r.schema.ValueName(field, v.Uint()); name != "" {
			return name
		}
	}
	return textOf(v)
}

// A place is what a sample keeps of the event that gives it its stack: immutable parts of the trace.
type place struct {
	thread *ntconv.Thread
	stack  *ntconv.Stack
	labels *ntconv.Labels
	time   ntconv.Ticks
	offset int64
	epoch  uint32
	slot   int      // of the place; a released place is used again
	extra  [][]byte // values of the labels that the user requested

	selected bool
	involved bool // another event of the sample is selected
}

// process returns the process of the place, nil if unknown.
func (p *place) process() *ntconv.Process { return processOf(p.thread) }

// processOf returns the process of a thread, nil if unknown.
func processOf(t *ntconv.Thread) *ntconv.Process {
	if t == nil {
		return nil
	}
	return t.Process
}

// A finished is a sample that is complete, except that the selection of its latest event may be unknown.
type finished struct {
	*place
	end       ntconv.Ticks
	selected  bool // an event that ended the sample is selected
	tags      uint32
	source    uint8
	values    []int64
	variances []float64
	lacks     bool // the event has no value to add up
	alone     bool // the latest event has nothing to do with the sample
}

// A collector connects a meter with its owner, a Builder or a Stream: it reads the fields of events, keeps the places of
// samples, and decides which samples are selected. A sample is selected if one of its events is, and if it lies
// completely in the selected time.
//
// If the owner watches all events, watch precedes add for the same event. A sample therefore waits in done until the
// selection of the event that ended it is known.
//
//	field     set by         cleared by
//	touched   hold           settle
//	involved  involve        settle
//	orphan    unmatched      settle
//	done      emit           settle
//	watched   watch          add
type collector struct {
	spec     *spec
	meter    meter
	schemas  *schema.Table
	tags     *tagTable
	clock    ntconv.Clock
	settings *settings

	epoch  func(*place) uint32 // identifies the owners of the addresses; nil if they do not matter
	accept func(*finished)     // receives selected samples, borrowed

	inputs  map[*schema.Schema]*meterInput
	recent  [16]*meterInput // by the ID of the event, so that alternating events need no map
	last    *meterInput     // of the current event
	r       reading
	o       observation
	kept    []bool
	free    []*place
	slots   int
	touched []*place
	// involved are the places of samples to which the current event belongs, although it does not begin them.
	involved []*place
	orphan   bool // the current event ended nothing
	done     []finished
	watched  bool

	latest     ntconv.Ticks
	some       bool // an event had a role
	disordered bool // another order of the events could have given other samples
	cuts       cuts
	invalid    tally // events whose payload does not fit their layout, selected or not
	lacking    tally // selected samples without a value to add up
}

// A meterInput is the use of the events of one schema.
type meterInput struct {
	of     *schema.Schema
	role   uint8
	read   *schema.Projection
	own    int // number of fields that the meter reads; those of labels on request follow
	values []ntconv.Value
}

func newCollector(s *spec, p *pool, info *ntconv.Info, o *settings) *collector {
	c := &collector{
		spec: s, schemas: p.schemas, tags: p.tags, clock: info.Clock, settings: o,
		inputs: map[*schema.Schema]*meterInput{}, cuts: cuts{offset: -1},
	}
	keys := o.keys(s)
	c.o = newObservation(len(o.columns(s)), len(keys))
	c.kept = keptTags(keys, p, o.leaf(s))
	c.meter = s.meter(c)
	return c
}

// role returns the role of an event, 0 if it has none.
func (c *collector) role(e *ntconv.Event) uint8 { return c.input(e).role }

func (c *collector) input(e *ntconv.Event) *meterInput {
	s := c.schemas.Of(e)
	recent := &c.recent[s.ID%uint32(len(c.recent))]
	if c.last = *recent; c.last != nil && c.last.of == s {
		return c.last
	}
	in, ok := c.inputs[s]
	if !ok {
		in = &meterInput{of: s}
		c.inputs[s] = in
		var fields []string
		if in.role, fields = c.meter.input(s); in.role != 0 {
			in.own = len(fields)
			in.read, _ = s.Project(append(fields[:len(fields):len(fields)], c.settings.paths...)...)
			in.values = make([]ntconv.Value, len(fields)+len(c.settings.paths))
		}
	}
	*recent, c.last = in, in
	return in
}

// watch shows an event to the meter that a selection may omit. If it is selected, add follows.
func (c *collector) watch(e *ntconv.Event) {
	c.see(e)
	c.watched = true
}

// add shows a selected event to the meter, unless watch has.
func (c *collector) add(e *ntconv.Event) {
	if !c.watched {
		c.see(e)
	}
	c.watched = false
	for _, p := range c.touched {
		p.selected = true
	}
	for _, p := range c.involved {
		p.involved = true
	}
	for i := range c.done {
		c.done[i].selected = !c.done[i].alone
	}
	if c.orphan {
		c.cuts.add(cutEdge, e.Offset)
	}
	c.settle()
}

func (c *collector) see(e *ntconv.Event) {
	c.settle()
	in := c.input(e)
	if in.role == 0 {
		return
	}
	if c.spec.crosses && c.some && e.Time < c.latest {
		c.disordered = true
	}
	c.latest, c.some = max(c.latest, e.Time), true
	in.read.Read(e, in.values)
	c.r = reading{e, in.role, in.of, in.values[:in.own]}
	c.meter.see(&c.r)
	c.r.Event = nil
}

// hold returns the place of a sample that the current event begins. Every place must be passed to emit or to release.
func (c *collector) hold(r *reading) *place { return c.holdAt(r, r.Time) }

// holdAt is hold for a sample that began at another time than the current event.
func (c *collector) holdAt(r *reading, at ntconv.Ticks) *place {
	var p *place
	if n := len(c.free); n > 0 {
		p, c.free = c.free[n-1], c.free[:n-1]
	} else {
		p = &place{slot: c.slots, extra: make([][]byte, len(c.settings.paths))}
		c.slots++
	}
	extra := p.extra
	for i := range extra {
		extra[i] = extra[i][:0]
	}
	*p = place{
		thread: r.Thread, stack: r.Stack, labels: r.Labels, time: at, offset: r.Offset, slot: p.slot, extra: extra,
	}
	c.fill(p)
	if c.epoch != nil {
		p.epoch = c.epoch(p)
	}
	c.touched = append(c.touched, p)
	return p
}

// fill reads the values of requested labels that a place lacks from the current event.
func (c *collector) fill(p *place) {
	if len(p.extra) == 0 {
		return
	}
	values := c.last.values[c.last.own:]
	for i := range p.extra {
		if len(p.extra[i]) == 0 {
			p.extra[i] = c.settings.appendText(p.extra[i], c.last.of, i, values[i])
		}
	}
}

// involve notes that the current event belongs to the sample of a place. If it is selected, so is the sample.
func (c *collector) involve(p *place) { c.involved = append(c.involved, p) }

// observation returns an empty observation, borrowed until the next call of emit.
func (c *collector) observation() *observation {
	c.o.clear()
	return &c.o
}

// emit completes the sample of a place with c.o, at the time of the current event, or at the place's own time if the
// current event is earlier.
func (c *collector) emit(p *place, end ntconv.Ticks) {
	c.fill(p)
	c.complete(p, end)
}

// emitAlone completes the sample of a place with c.o, at the place's own time, regardless of the current event.
func (c *collector) emitAlone(p *place) { c.complete(p, p.time).alone = true }

func (c *collector) complete(p *place, end ntconv.Ticks) *finished {
	for i := range p.extra {
		at := len(c.o.tags) - len(p.extra) + i
		c.o.tags[at] = append(c.o.tags[at][:0], p.extra[i]...)
	}
	if len(c.done) < cap(c.done) {
		c.done = c.done[:len(c.done)+1]
	} else {
		c.done = append(c.done, finished{})
	}
	f := &c.done[len(c.done)-1]
	*f = finished{
		place: p, end: max(end, p.time), tags: c.tags.id(omitTags(c.o.tags, c.kept)), source: c.o.source,
		values: append(f.values[:0], c.o.values...), variances: append(f.variances[:0], c.o.variances...),
		lacks: c.o.lacks,
	}
	return f
}

// drop ends the sample of a place without a result.
func (c *collector) drop(p *place, reason cutReason) {
	c.cut(p, reason)
	c.release(p)
}

// cut notes that the sample of a place is incomplete. The reason is reported if the place is selected.
func (c *collector) cut(p *place, reason cutReason) {
	if reason == cutOrder {
		c.disordered = true
	}
	if p.selected || p.involved {
		c.cuts.add(reason, p.offset)
	}
}

// release discards a place without a report.
func (c *collector) release(p *place) {
	p.stack, p.labels, p.thread = nil, nil, nil
	c.touched = slices.DeleteFunc(c.touched, func(q *place) bool { return p == q })
	c.involved = slices.DeleteFunc(c.involved, func(q *place) bool { return p == q })
	c.free = append(c.free, p)
}

// unmatched notes that the current event ended nothing: the trace lacks the event that began it.
func (c *collector) unmatched() { c.orphan = true }

// settle passes on the samples whose selection is known.
func (c *collector) settle() {
	for i := range c.done {
		f := &c.done[i]
		switch {
		case !f.selected && !f.place.selected && !f.place.involved:
		case c.settings.inWindow(f.time, f.end):
			c.accept(f)
			if f.lacks {
				c.lacking.add(f.offset)
			}
		case f.end != f.time:
			c.cuts.add(cutSelection, f.offset)
		} // otherwise a later event that describes the sample is selected, but not the time of the sample
		c.release(f.place)
	}
	c.done, c.touched, c.involved, c.orphan = c.done[:0], c.touched[:0], c.involved[:0], false
}

// lost notes that events of a capture thread are missing.
func (c *collector) lost(capture *ntconv.Thread) {
	c.settle()
	c.meter.lost(capture)
}

func (c *collector) removed(list []ntconv.ThreadSeq) {
	c.settle()
	c.meter.removed(list)
}

// flush ends all samples. No event may follow.
func (c *collector) flush() {
	c.settle()
	c.meter.finish()
	c.settle()
}

// finish ends all samples and reports what is incomplete.
func (c *collector) finish(report *ntconv.Report) {
	c.flush()
	kind := c.spec.kind.String()
	c.cuts.note(report, kind)
	report.Note(ntconv.CodePayload, c.invalid.n, c.invalid.offset, kind+" events")
	report.Note(ntconv.CodeNoValue, c.lacking.n, c.lacking.offset, c.settings.weight)
}
