// Package samples yields the samples of a trace one by one, for exporters of your own: with the kinds, values and rules of
// the profiles that exporters/pprof writes, so that totals are the same.
//
//	r := samples.NewReader(src.Info(), add, &samples.Options{Kinds: []sample.Kind{sample.Wall}})
//	for e, err := range ntconv.Events(src) {
//		...
//		r.Add(e)
//	}
//	r.Finish()
//
// A sample is complete when its duration is known, often at a later event of its thread: samples do not come in the order
// of their times. .NET traces write symbols last, so resolve stacks with an ntconv.Namer after the last event; until then
// a Key identifies the frames.
package samples

import (
	"time"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/profile"
	"github.com/ntconv/ntconv/internal/profile/meters"
	"github.com/ntconv/ntconv/sample"
)

// A Sample is one sample. It is borrowed, with its slices, until the callback returns. Thread, Stack and strings are
// immutable and may be retained.
type Sample struct {
	Kind sample.Kind
	// Count is what the sample counts of its kind: 1, or 0 if another sample counts it.
	Count uint64
	// Types and Values are parallel: what was measured, such as a time in nanoseconds or a number of bytes. Unless the
	// kind is Imported, they omit Count.
	Types  []sample.Type
	Values []int64
	// Time is that of the event that has the stack. Duration is the first value that is a time, 0 if there is none.
	Time     ntconv.Ticks
	Duration time.Duration
	// Thread and Process are the owner; nil if unknown.
	Thread  *ntconv.Thread
	Process *ntconv.Process
	// Stack is the call stack, nil if the event has none. Leaf is the name of a frame that the kind adds below it, such
	// as an allocated type, "" if it adds none.
	Stack *ntconv.Stack
	Leaf  string
	// Key is equal for samples whose stacks have the same frames, see Key.
	Key Key
	// TraceID and SpanID identify the span that the labels of the event state; zero if they state none.
	TraceID [16]byte
	SpanID  [8]byte
	// Labels are stated by the events of the sample: the state of a thread, an allocated type.
	Labels []ntconv.Label
}

// Options configure a Reader. The zero value selects the defaults.
type Options struct {
	// Kinds are the kinds of samples; nil means Wall, CPU and Imported. Slices is not one of them: its stacks are those of
	// slices and not of functions.
	Kinds   []sample.Kind
	Options sample.KindOptions // of kinds that are computed from events
	Report  *ntconv.Report     // receives what cannot be decoded; may be nil
}

// A Reader computes the samples of one trace. Its memory grows with the number of distinct stacks and of threads. It is not
// safe for concurrent use.
type Reader struct {
	emit   func(*Sample)
	namer  ntconv.Namer
	stream *profile.Stream[origin]
	keys   keys
	sample Sample
}

// An origin is what the event with the stack of a sample states.
type origin struct {
	thread *ntconv.Thread
	stack  *ntconv.Stack
	labels *ntconv.Labels
	key    Key
}

// NewReader returns a Reader that passes samples to emit. info must not be nil. namer must observe the events that Add gets,
// before Add (symbol.Watch); nil means that no address is used by several functions. Nil o selects the defaults.
func NewReader(info *ntconv.Info, namer ntconv.Namer, emit func(*Sample), o *Options) *Reader {
	var own Options
	if o != nil {
		own = *o
	}
	if namer == nil {
		namer = new(ntconv.NoNames)
	}
	r := &Reader{emit: emit, namer: namer}
	r.stream = profile.NewStream(info, r.weighed, &profile.StreamOptions{
		Kinds: own.Kinds, Options: own.Options, Report: own.Report, TypeName: meters.TypeNameOf(namer),
	})
	return r
}

// Add reads an event, which it borrows. Add all events of the trace in time order, also those without samples.
func (r *Reader) Add(e *ntconv.Event) {
	if !r.stream.IsSample(e) {
		r.stream.Watch(e)
		return
	}
	o := origin{thread: e.Thread, stack: e.Stack, labels: e.Labels}
	if e.Stack != nil {
		p := meters.ProcessOf(e.Thread)
		number, isNew := r.keys.of(p, e.Stack)
		if isNew {
			r.namer.Want(p, e.Stack)
		}
		o.key = Key{number, r.namer.Epoch(p, e.Stack, e.Time)}
	}
	r.stream.Add(e, o)
}

// Watch reads an event that is not selected: its samples are not passed on, but it may end others. It borrows e.
func (r *Reader) Watch(e *ntconv.Event) { r.stream.Watch(e) }

// Finish passes the remaining samples on. Call it after the last event.
func (r *Reader) Finish() { r.stream.Finish() }

// weighed passes on a sample whose weight is known.
func (r *Reader) weighed(w *profile.Weighed[origin]) {
	s, o := &r.sample, &w.Subject
	*s = Sample{
		Kind: w.Kind, Count: w.Count, Types: w.Types, Values: w.Values, Time: w.Time, Duration: time.Duration(w.Lasts()), Thread: o.thread,
		Process: meters.ProcessOf(o.thread), Stack: o.stack, Leaf: w.Leaf, Key: o.key, Labels: w.Labels,
	}
	if l := o.labels.Find(ntconv.LabelTraceID); l != nil {
		s.TraceID = l.ID
	}
	if l := o.labels.Find(ntconv.LabelSpanID); l != nil {
		copy(s.SpanID[:], l.ID[:])
	}
	r.emit(s)
}
