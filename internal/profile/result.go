package profile

import (
	"cmp"
	"iter"
	"slices"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/data/bin"
	"github.com/ntconv/ntconv/internal/profile/meters"
	"github.com/ntconv/ntconv/internal/profile/rounds"
	"github.com/ntconv/ntconv/sample"
)

// A Profile is the aggregated samples of one kind. It is not safe for concurrent use.
type Profile struct {
	Kind       sample.Kind
	Types      []sample.Type // one per value of a sample; none for kind Imported without samples
	Main       int           // index of the type to show first
	PeriodType sample.Type
	Period     int64         // nominal sampling interval, in the unit of PeriodType
	Start, End ntconv.Ticks  // recorded time range; includes the interval of each thread's last sample
	Events     uint64        // number of events that were samples
	Unseen     rounds.Unseen // time of threads without a sample, in the whole trace; kind Wall only
	// Adopted lists the types whose samples were added up, in the order of their first samples; the columns of the
	// profile are theirs. It is empty unless the kind is Imported and the trace has a type of imported samples.
	Adopted  []*ntconv.Type
	Others   []sample.Other // other kinds with samples, if Options.Kind is Auto
	Estimate Estimate       // of kinds that are computed from events

	// Frames, Total and Unresolved are those of a sample.Summary. The first complete iteration over Samples sets them.
	Frames, Total int64
	Unresolved    sample.Unresolved

	visited bool // Samples has been iterated
	b       *Builder
	s       *set
	report  *ntconv.Report // receives notes on the profile
	common  *ntconv.Report // for Options.Each: of the whole trace
}

// MainType returns the type to show first, or the zero value if there is none.
func (p *Profile) MainType() sample.Type {
	if p.Main >= len(p.Types) {
		return sample.Type{}
	}
	return p.Types[p.Main]
}

// Summary returns the description of the profile, without the number of items.
func (p *Profile) Summary() *sample.Summary {
	return &sample.Summary{
		Kind: p.Kind, Events: p.Events, Main: p.MainType(), Total: p.Total, Frames: p.Frames, Unresolved: p.Unresolved,
		Others: p.Others, Estimate: p.Estimate.String(),
	}
}

// A Sample is a stack with its labels and values. It is borrowed until the next one.
type Sample struct {
	Process *ntconv.Process
	Thread  *ntconv.Thread // nil if thread IDs are dropped
	// Labels are strings and numbers with units: those of the owner, of the kind, and of the event.
	Labels []ntconv.Label
	Frames []ntconv.Frame // leaf first; empty if the sample has no stack
	Values []int64        // parallel to Profile.Types
	Source int            // index in Profile.Adopted if Builder.Separate was called, else 0
}

// Samples returns an iterator over all samples: stacks in the order of their first event, and the samples of a stack
// consecutively. No two samples have equal frames and labels. The first complete iteration sets Unresolved and notes
// unresolved frames in the report.
func (p *Profile) Samples() iter.Seq[*Sample] {
	return func(yield func(*Sample) bool) {
		v := newVisit(p)
		for from := 0; from < len(v.order); {
			to := from + 1
			for to < len(v.order) && v.stack(v.order[to]) == v.stack(v.order[from]) {
				to++
			}
			if !v.group(v.order[from:to], yield) {
				return
			}
			from = to
		}
		if !p.visited {
			p.visited = true
			v.names.finish(p)
			p.report.Note(ntconv.CodeUnresolved, uint64(p.Unresolved.Frames), -1, DescribeUnresolved(p.Summary()))
		}
	}
}

// A visit is one iteration over the rows.
//
// Rows are visited in groups with equal stacks; if the Namer is an ntconv.FrameGrouper, with equal frames. Within a
// group, frames are resolved once per frameKey; equal frames form a class, owners with equal names are one owner, and
// rows with equal class, owner, labels and tag form one sample.
//
// order, owners and labels are fixed when the visit begins. group resets members, classes, same and known; classes
// keeps the memory of earlier frames.
type visit struct {
	p      *Profile
	order  []uint32 // rows by group
	owners owners
	labels [][]ntconv.Label // by label list number, in the form of profiles
	names  names
	ranks  struct{ owners, labels, tags ranking } // numbers that do not depend on the order of events
	namer  ntconv.Namer                           // of recorded frames
	shown  *shownStacks                           // what a FrameGrouper shows, or nil if it changes nothing

	classes []class
	same    classIndex
	known   map[frameKey]uint32
	members []member
	sums    []int64
	carry   []int64                     // by column: what rounding has omitted so far, in steps of scaleFraction
	leaves  map[uint32]*ntconv.Function // by list of label values
	frames  []ntconv.Frame
	sample  Sample
}

// A frameKey is what the frames of a row depend on in addition to its stack.
type frameKey struct {
	process *ntconv.Process
	epoch   uint32
}

// A class is a distinct list of frames in the group.
type class struct{ frames []ntconv.Frame }

// A member is a row of a group with the keys for merging it.
type member struct{ class, owner, labels, tag, source, row uint32 } // owner, labels and tag are ranks

func newVisit(p *Profile) *visit {
	v := &visit{p: p, namer: p.b.namer, owners: mergeOwners(p), known: map[frameKey]uint32{}}
	for _, list := range p.s.pool.labels.list {
		plainList := make([]ntconv.Label, 0, len(list))
		for _, l := range list {
			plainList = append(plainList, p.s.pool.labels.plain(l))
		}
		v.labels = append(v.labels, plainList)
	}
	if p.s.meter != nil {
		v.ranks.owners, v.ranks.labels, v.ranks.tags = ranking{}, ranking{}, ranking{}
		for i := range p.s.rows {
			v.member(uint32(i), 0)
		}
	}
	v.sums, v.carry = make([]int64, len(p.Types)), make([]int64, len(p.Types))
	v.sample.Values = make([]int64, len(p.Types))
	v.order = make([]uint32, len(p.s.rows))
	for i := range v.order {
		v.order[i] = uint32(i)
	}
	v.sort(len(p.b.pool.stacks.list))
	if g, ok := p.b.namer.(ntconv.FrameGrouper); ok {
		v.namer = g.Recorded()
		if v.shown = v.regroup(g); v.shown != nil {
			v.sort(len(v.shown.stacks.list))
		}
	}
	return v
}

// stack returns the number of the stack of a row.
func (v *visit) stack(row uint32) uint32 {
	if v.shown != nil {
		return v.shown.ids[row]
	}
	return v.p.s.rows[row].stack
}

// sort sorts the rows by the first row with their stack, of which there are n including the empty one.
func (v *visit) sort(n int) {
	first := make([]uint32, n) // first row of each stack, plus 1
	for i := range v.p.s.rows {
		if s := v.stack(uint32(i)); first[s] == 0 {
			first[s] = uint32(i) + 1
		}
	}
	slices.SortFunc(v.order, func(a, b uint32) int {
		return cmp.Or(cmp.Compare(first[v.stack(a)], first[v.stack(b)]), cmp.Compare(a, b))
	})
}

// group yields the samples of the rows of one stack.
func (v *visit) group(rows []uint32, yield func(*Sample) bool) bool {
	v.members = v.members[:0]
	if len(v.known) > fewClasses { // clear takes time proportional to the largest size of the map
		v.known = map[frameKey]uint32{}
	}
	clear(v.known)
	v.same.reset()
	v.classes = v.classes[:0]
	for _, r := range rows {
		v.members = append(v.members, v.member(r, v.class(r)))
	}
	slices.SortFunc(v.members, func(a, b member) int {
		return cmp.Or(cmp.Compare(a.class, b.class), cmp.Compare(a.owner, b.owner), cmp.Compare(a.labels, b.labels),
			cmp.Compare(a.tag, b.tag), cmp.Compare(a.source, b.source), cmp.Compare(a.row, b.row))
	})
	for i := 0; i < len(v.members); {
		first := v.members[i]
		clear(v.sums)
		for ; i < len(v.members) && v.members[i].like(first); i++ {
			v.sum(v.members[i].row)
		}
		if !v.emit(first, yield) {
			return false
		}
	}
	return true
}

// member returns a row as a member.
func (v *visit) member(r, class uint32) member {
	row := &v.p.s.rows[r]
	m := member{
		class, v.ranks.owners.of(v.owners.ids[row.owner]), v.ranks.labels.of(row.labels), v.ranks.tags.of(row.tag), 0, r,
	}
	if v.p.b.separate && v.p.s.imported != nil {
		m.source = row.source
	}
	return m
}

func (m member) like(n member) bool {
	m.row = n.row
	return m == n
}

// class returns the class of a row's frames.
func (v *visit) class(number uint32) uint32 {
	r := &v.p.s.rows[number]
	if v.shown != nil && len(v.classes) > 0 {
		return 0 // all rows of the group have equal frames
	}
	k := frameKey{v.p.s.owners[r.owner].process, r.epoch}
	if id, ok := v.known[k]; ok {
		return id
	}
	if len(v.classes) < cap(v.classes) {
		v.classes = v.classes[:len(v.classes)+1] // reuses the memory of an earlier group's frames
	} else {
		v.classes = append(v.classes, class{})
	}
	id := len(v.classes) - 1
	c := &v.classes[id]
	c.frames = c.frames[:0]
	switch {
	case v.shown != nil:
		c.frames = append(c.frames, v.shown.stacks.At(v.stack(number)).Frames...)
	case r.stack != 0:
		c.frames = v.namer.AppendFrames(c.frames, k.process, v.p.b.pool.stacks.At(r.stack), r.first)
	}
	if other := v.same.find(v.classes, v.p.b.pool.stacks.frames); other < id {
		v.classes = v.classes[:id]
		id = other
	}
	v.known[k] = uint32(id)
	return uint32(id)
}

func (v *visit) sum(row uint32) {
	n := len(v.sums)
	for i, x := range v.p.s.values[int(row)*n:][:n] {
		v.sums[i] = bin.AddClamped(v.sums[i], x)
	}
}

// emit converts the totals and yields a sample.
func (v *visit) emit(m member, yield func(*Sample) bool) bool {
	s := &v.sample
	for i, sum := range v.sums {
		if v.p.s.columns[i].Scale == meters.ScaleFraction {
			s.Values[i], v.carry[i] = meters.Rounded(sum, v.carry[i])
		} else {
			s.Values[i] = v.value(i, sum)
		}
	}
	row := &v.p.s.rows[m.row]
	o := v.p.s.owners[row.owner]
	s.Process, s.Thread, s.Source = o.process, o.thread, int(m.source)
	s.Frames = v.withLeaf(v.classes[m.class].frames, row.tag)
	s.Labels = append(s.Labels[:0], v.owners.labels[v.owners.ids[row.owner]]...)
	s.Labels = v.p.s.pool.Tags.AppendTags(s.Labels, row.tag, v.p.s.keys, v.p.s.pool.Drop)
	s.Labels = withLabels(s.Labels, v.labels[row.labels])
	events := s.Values[0]
	if len(v.p.Adopted) > 0 {
		events = 1 // the number of events per imported sample is unknown
	}
	if v.shown == nil { // regroup has counted the recorded frames
		v.names.count(s.Frames, events, s.Values[v.p.Main])
	}
	return yield(s)
}

// value converts the total of a column to its unit. It truncates fractions.
func (v *visit) value(column int, sum int64) int64 {
	switch v.p.s.columns[column].Scale {
	case meters.ScaleTicks:
		return int64(v.p.b.info.Clock.Duration(ntconv.Ticks(sum)))
	case meters.ScalePeriod:
		return bin.MulClamped(sum, v.p.Period)
	case meters.ScaleFraction:
		return sum / meters.Fraction
	}
	return sum
}

// withLeaf returns the frames of a sample with its subject as the innermost frame, borrowed until the next call.
func (v *visit) withLeaf(frames []ntconv.Frame, tag uint32) []ntconv.Frame {
	name := v.p.s.pool.Tags.Value(tag, v.p.s.leaf)
	if name == "" {
		return frames
	}
	f := v.leaves[tag]
	if f == nil {
		if v.leaves == nil {
			v.leaves = map[uint32]*ntconv.Function{}
		}
		f = &ntconv.Function{Name: name}
		v.leaves[tag] = f
	}
	v.frames = append(append(v.frames[:0], ntconv.Frame{Func: f}), frames...)
	return v.frames
}

// withLabels replaces labels by the event's own labels with the same key and appends the others. Consumers show one
// value per key, and the event's own is more specific.
func withLabels(list, own []ntconv.Label) []ntconv.Label {
	if len(own) == 0 {
		return list
	}
	list = slices.DeleteFunc(list, func(l ntconv.Label) bool {
		return slices.ContainsFunc(own, func(o ntconv.Label) bool { return o.Key == l.Key })
	})
	return append(list, own...)
}
