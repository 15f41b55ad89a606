package timeline

import (
	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/data/bin"
	"github.com/ntconv/ntconv/internal/profile"
	"github.com/ntconv/ntconv/internal/profile/meters"
	"github.com/ntconv/ntconv/sample"
)

// A sampleReader creates the records of samples once their weights are known.
type sampleReader struct {
	t      *Timeline
	stream *profile.Stream[unweighed]
	types  [][]sample.Type // by number
	ids    map[*sample.Type]uint32
	states []string // by number

	computed bool // the kinds include some that are computed from events
}

// An unweighed is a sample whose weight is not known yet.
type unweighed struct {
	at           int64 // nanoseconds since clock.Tick
	track, stack uint32
}

func newSampleReader(t *Timeline, info *ntconv.Info) *sampleReader {
	r := &sampleReader{
		t: t, ids: map[*sample.Type]uint32{}, types: make([][]sample.Type, 1),
		states: make([]string, 1),
	}
	o := &t.opts
	for _, k := range o.Kinds {
		r.computed = r.computed || k > sample.Imported
	}
	r.stream = profile.NewStream(info, r.weighed, &profile.StreamOptions{
		Kinds: o.Kinds, Options: o.KindOptions, Window: o.Window, Report: o.Report,
		TypeName: meters.TypeNameOf(t.stacks.namer),
	})
	return r
}

// isComputed reports whether samples are computed from e, which is not a sample itself.
func (r *sampleReader) isComputed(e *ntconv.Event) bool {
	return r != nil && r.computed && r.stream.IsSample(e)
}

func (r *sampleReader) add(e *ntconv.Event, at int64) {
	r.stream.Add(e, unweighed{at, r.t.owners.thread(e.Thread), r.t.stacks.number(e)})
}

// weighed adds a sample whose weight is known: stack, kind, types, state, duration, values.
func (r *sampleReader) weighed(w *profile.Weighed[unweighed]) {
	t, s := r.t, &w.Subject
	stack := s.stack
	if w.Leaf != "" {
		stack = t.stacks.withLeaf(stack, w.Leaf)
	}
	rec := appendHead(t.rec[:0], recordSample, s.track)
	rec = append(appendNumber(rec, stack), byte(w.Kind))
	rec = appendNumber(rec, r.typesOf(w.Types))
	rec = appendNumber(rec, r.stateOf(w.State()))
	rec = appendSigned(rec, w.Lasts())
	for _, v := range w.Values {
		rec = appendSigned(rec, v)
	}
	t.rec = rec
	t.counts.Samples++
	t.add(s.at, rankOther)
}

// typesOf returns the number of a list of types. All samples of an event type share one list, so its address identifies
// it.
func (r *sampleReader) typesOf(list []sample.Type) uint32 {
	if len(list) == 0 {
		return 0
	}
	id := r.ids[&list[0]]
	if id == 0 {
		id = uint32(len(r.types))
		r.ids[&list[0]] = id
		r.types = append(r.types, list)
	}
	return id
}

// stateOf returns the number of a state. A linear search suffices for the few states.
func (r *sampleReader) stateOf(state string) uint32 {
	for i, s := range r.states {
		if s == state {
			return uint32(i)
		}
	}
	r.states = append(r.states, state)
	return uint32(len(r.states) - 1)
}

// read decodes a record of weighed. w.Until is then the duration.
func (r *sampleReader) read(c *bin.Reader, w *Weight) {
	w.Kind = sample.Kind(c.Byte())
	types, state := c.Uvarint32(), c.Uvarint32()
	w.Until = c.Varint()
	if int(types) >= len(r.types) || int(state) >= len(r.states) {
		c.Failed = true
		return
	}
	w.Types, w.State = r.types[types], r.states[state]
	w.Values = w.Values[:0]
	for range w.Types {
		w.Values = append(w.Values, c.Varint())
	}
}
