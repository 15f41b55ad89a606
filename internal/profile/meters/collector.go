package meters

import (
	"slices"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/events/operation"
	"github.com/ntconv/ntconv/schema"
)

// A Meter is the state of one kind in one trace: it turns events into samples. It sees all events with a role, also
// those that a selection omits, so that a selection by event name never loses the other half of an interval. The
// Collector decides which samples are selected.
type meter interface {
	// input returns what the meter does with the events of a schema: a role, 0 if it ignores them, and the paths of the
	// fields that it reads. An event with a role below roleEnds begins a sample, or is one.
	input(s *schema.Schema) (role uint8, fields []string)
	// see processes an event with a role. It borrows r.
	see(r *reading)
	// Lost notes that events of a capture thread are missing here.
	lost(capture *ntconv.Thread)
	// Removed notes that threads have exited. It borrows list.
	removed(list []ntconv.ThreadSeq)
	// Finish notes the end of the trace.
	finish()
}

// An accepter is a meter that needs to know which of its samples are selected.
type accepter interface {
	// accepted borrows a selected sample.
	accepted(f *Finished)
	// remark says what readers of the profile must know about the values, "" if nothing.
	remark() string
}

// RoleEnds is the first role of events that only end or describe the samples of earlier events.
const RoleEnds uint8 = 64

// roleBegins is the role of events that begin an operation, as roleIn returns it.
const roleBegins uint8 = 1

// roleIn returns roleBegins or roleEnds for events that begin or end an operation, and 0 for others.
func roleIn(s *schema.Schema, of *operation.Operation) uint8 {
	is := func(p *schema.Pair) bool { return p.Provider == of.Provider && p.Name == of.Pair }
	switch {
	case slices.ContainsFunc(s.EndedBy(), is):
		return roleBegins
	case slices.ContainsFunc(s.Ends(), is):
		return RoleEnds
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

// A Place is what a sample keeps of the event that gives it its stack: immutable parts of the trace.
type Place struct {
	Thread *ntconv.Thread
	Stack  *ntconv.Stack
	Labels *ntconv.Labels
	Time   ntconv.Ticks
	Offset int64
	Epoch  uint32
	Slot   int      // of the place; a released place is used again
	extra  [][]byte // values of the labels that the user requested

	Selected bool
	involved bool // another event of the sample is selected

	process *ntconv.Process // of a sample without a thread
	async   bool            // the sample is an async slice
}

// Process returns the process of the place, nil if unknown.
func (p *Place) Process() *ntconv.Process {
	if p.Thread == nil {
		return p.process
	}
	return ProcessOf(p.Thread)
}

// ProcessOf returns the process of a thread, nil if unknown.
func ProcessOf(t *ntconv.Thread) *ntconv.Process {
	if t == nil {
		return nil
	}
	return t.Process
}

// A Finished is a sample that is complete, except that the selection of its latest event may be unknown.
type Finished struct {
	*Place
	End       ntconv.Ticks
	selected  bool // an event that ended the sample is selected
	Tags      uint32
	Source    uint8
	Values    []int64
	Variances []float64
	lacks     bool // the event has no value to add up
	alone     bool // the latest event has nothing to do with the sample
}

// A Collector connects a meter with its owner, a Builder or a Stream: it reads the fields of events, keeps the places of
// samples, and decides which samples are selected. A sample is selected if one of its events is, and if it lies
// completely in the selected time.
//
// If the owner watches all events, Watch precedes Add for the same event. A sample therefore waits in done until the
// selection of the event that ended it is known.
//
//	field     set by         cleared by
//	Touched   hold           settle
//	involved  involve        settle
//	orphan    unmatched      settle
//	done      emit           settle
//	Watched   Watch          Add
type Collector struct {
	Spec     *Spec
	meter    meter
	schemas  *schema.Table
	tags     *TagTable
	clock    ntconv.Clock
	settings *Settings

	Epoch  func(*Place) uint32 // identifies the owners of the addresses; nil if they do not matter
	Accept func(*Finished)     // receives selected samples, borrowed

	accepter accepter      // meter, or nil
	event    *ntconv.Event // for meter.input: an event with the schema

	inputs  map[*schema.Schema]*meterInput
	recent  [16]*meterInput // by the ID of the event, so that alternating events need no map
	last    *meterInput     // of the current event
	r       reading
	o       Observation
	kept    []bool
	free    []*Place
	slots   int
	Touched []*Place
	// involved are the places of samples to which the current event belongs, although it does not begin them.
	involved []*Place
	orphan   bool // the current event ended nothing
	done     []Finished
	Watched  bool

	latest     ntconv.Ticks
	some       bool // an event had a role
	Disordered bool // another order of the events could have given other samples
	Cuts       cuts
	invalid    Tally // events whose payload does not fit their layout, selected or not
	lacking    Tally // selected samples without a value to add up
}

// Tables are what the samples of all kinds share.
type Tables struct {
	Drop      map[string]bool // keys of labels to omit
	Unlabeled bool            // samples have no labels but those of their owner
	Tags      *TagTable
	Schemas   *schema.Table
}

// A Tally counts occurrences and keeps the offset of the first one.
type Tally struct {
	N      uint64
	Offset int64
}

// Add counts one more.
func (t *Tally) Add(offset int64) {
	if t.N == 0 {
		t.Offset = offset
	}
	t.N++
}

// A meterInput is the use of the events of one schema.
type meterInput struct {
	of     *schema.Schema
	role   uint8
	read   *schema.Projection
	own    int // number of fields that the meter reads; those of labels on request follow
	values []ntconv.Value
}

// NewCollector returns the Collector of a kind. p may be shared by several.
func NewCollector(s *Spec, p *Tables, info *ntconv.Info, o *Settings) *Collector {
	c := &Collector{
		Spec: s, schemas: p.Schemas, tags: p.Tags, clock: info.Clock, settings: o,
		inputs: map[*schema.Schema]*meterInput{}, Cuts: cuts{offset: -1},
	}
	keys := o.Keys(s)
	c.o = NewObservation(len(o.Columns(s)), len(keys))
	c.kept = KeptTags(keys, p, o.Leaf(s))
	c.meter = s.Meter(c)
	c.accepter, _ = c.meter.(accepter)
	return c
}

// Role returns the role of an event, 0 if it has none.
func (c *Collector) Role(e *ntconv.Event) uint8 { return c.input(e).role }

func (c *Collector) input(e *ntconv.Event) *meterInput {
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
		c.event = e
		if in.role, fields = c.meter.input(s); in.role != 0 {
			in.own = len(fields)
			in.read, _ = s.Project(append(fields[:len(fields):len(fields)], c.settings.paths...)...)
			in.values = make([]ntconv.Value, len(fields)+len(c.settings.paths))
		}
	}
	*recent, c.last, c.event = in, in, nil
	return in
}

// Watch shows an event to the meter that a selection may omit. If it is selected, add follows.
func (c *Collector) Watch(e *ntconv.Event) {
	c.see(e)
	c.Watched = true
}

// Add shows a selected event to the meter, unless watch has.
func (c *Collector) Add(e *ntconv.Event) {
	if !c.Watched {
		c.see(e)
	}
	c.Watched = false
	for _, p := range c.Touched {
		p.Selected = true
	}
	for _, p := range c.involved {
		p.involved = true
	}
	for i := range c.done {
		c.done[i].selected = !c.done[i].alone
	}
	if c.orphan {
		c.Cuts.add(cutEdge, e.Offset)
	}
	c.settle()
}

func (c *Collector) see(e *ntconv.Event) {
	c.settle()
	in := c.input(e)
	if in.role == 0 {
		return
	}
	if c.Spec.crosses && c.some && e.Time < c.latest {
		c.Disordered = true
	}
	c.latest, c.some = max(c.latest, e.Time), true
	in.read.Read(e, in.values)
	c.r = reading{e, in.role, in.of, in.values[:in.own]}
	c.meter.see(&c.r)
	c.r.Event = nil
}

// hold returns the place of a sample that the current event begins. Every place must be passed to emit or to release.
func (c *Collector) hold(r *reading) *Place { return c.holdAt(r, r.Time) }

// holdAt is hold for a sample that began at another time than the current event.
func (c *Collector) holdAt(r *reading, at ntconv.Ticks) *Place {
	var p *Place
	if n := len(c.free); n > 0 {
		p, c.free = c.free[n-1], c.free[:n-1]
	} else {
		p = &Place{Slot: c.slots, extra: make([][]byte, len(c.settings.paths))}
		c.slots++
	}
	extra := p.extra
	for i := range extra {
		extra[i] = extra[i][:0]
	}
	*p = Place{
		Thread: r.Thread, Stack: r.Stack, Labels: r.Labels, Time: at, Offset: r.Offset, Slot: p.Slot, extra: extra,
	}
	c.fill(p)
	if c.Epoch != nil {
		p.Epoch = c.Epoch(p)
	}
	c.Touched = append(c.Touched, p)
	return p
}

// fill reads the values of requested labels that a place lacks from the current event.
func (c *Collector) fill(p *Place) {
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
func (c *Collector) involve(p *Place) { c.involved = append(c.involved, p) }

// Held returns the number of places that the meter has neither passed on nor released.
func (c *Collector) Held() int { return c.slots - len(c.free) }

// Observation returns an empty observation, borrowed until the next call of emit.
func (c *Collector) observation() *Observation {
	c.o.Clear()
	return &c.o
}

// emit completes the sample of a place with c.o, at the time of the current event, or at the place's own time if the
// current event is earlier.
func (c *Collector) emit(p *Place, end ntconv.Ticks) {
	c.fill(p)
	c.complete(p, end)
}

// emitAlone completes the sample of a place with c.o, at the place's own time, regardless of the current event.
func (c *Collector) emitAlone(p *Place) { c.complete(p, p.Time).alone = true }

func (c *Collector) complete(p *Place, end ntconv.Ticks) *Finished {
	for i := range p.extra {
		at := len(c.o.Tags) - len(p.extra) + i
		c.o.Tags[at] = append(c.o.Tags[at][:0], p.extra[i]...)
	}
	if len(c.done) < cap(c.done) {
		c.done = c.done[:len(c.done)+1]
	} else {
		c.done = append(c.done, Finished{})
	}
	f := &c.done[len(c.done)-1]
	*f = Finished{
		Place: p, End: max(end, p.Time), Tags: c.tags.Id(OmitTags(c.o.Tags, c.kept)), Source: c.o.source,
		Values: append(f.Values[:0], c.o.Values...), Variances: append(f.Variances[:0], c.o.Variances...),
		lacks: c.o.lacks,
	}
	return f
}

// Drop ends the sample of a place without a result.
func (c *Collector) drop(p *Place, reason cutReason) {
	c.cut(p, reason)
	c.release(p)
}

// cut notes that the sample of a place is incomplete. The reason is reported if the place is selected.
func (c *Collector) cut(p *Place, reason cutReason) {
	if reason == cutOrder {
		c.Disordered = true
	}
	if p.Selected || p.involved {
		c.Cuts.add(reason, p.Offset)
	}
}

// release discards a place without a report.
func (c *Collector) release(p *Place) {
	p.Stack, p.Labels, p.Thread = nil, nil, nil
	c.Touched = slices.DeleteFunc(c.Touched, func(q *Place) bool { return p == q })
	c.involved = slices.DeleteFunc(c.involved, func(q *Place) bool { return p == q })
	c.free = append(c.free, p)
}

// unmatched notes that the current event ended nothing: the trace lacks the event that began it.
func (c *Collector) unmatched() { c.orphan = true }

// settle passes on the samples whose selection is known.
func (c *Collector) settle() {
	for i := range c.done {
		f := &c.done[i]
		switch {
		case !f.selected && !f.Place.Selected && !f.Place.involved:
		case c.settings.inWindow(f.Time, f.End):
			c.Accept(f)
			if c.accepter != nil {
				c.accepter.accepted(f)
			}
			if f.lacks {
				c.lacking.Add(f.Offset)
			}
		case f.End != f.Time:
			c.Cuts.add(cutSelection, f.Offset)
		} // otherwise a later event that describes the sample is selected, but not the time of the sample
		c.release(f.Place)
	}
	c.done, c.Touched, c.involved, c.orphan = c.done[:0], c.Touched[:0], c.involved[:0], false
}

// Remark says what readers of the profile must know about the values, "" if nothing. Call it after Finish.
func (c *Collector) Remark() string {
	if c.accepter == nil {
		return ""
	}
	return c.accepter.remark()
}

// Lost notes that events of a capture thread are missing.
func (c *Collector) Lost(capture *ntconv.Thread) {
	c.settle()
	c.meter.lost(capture)
}

// Removed notes that threads have exited. It borrows list.
func (c *Collector) Removed(list []ntconv.ThreadSeq) {
	c.settle()
	c.meter.removed(list)
}

// Flush ends all samples. No event may follow.
func (c *Collector) Flush() {
	c.settle()
	c.meter.finish()
	c.settle()
}

// Finish ends all samples and reports what is incomplete.
func (c *Collector) Finish(report *ntconv.Report) {
	c.Flush()
	kind := c.Spec.Kind.String()
	c.Cuts.note(report, kind)
	report.Note(ntconv.CodePayload, c.invalid.N, c.invalid.Offset, kind+" events")
	report.Note(ntconv.CodeNoValue, c.lacking.N, c.lacking.Offset, c.settings.weight)
}
