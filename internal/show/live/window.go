package live

import (
	"math"
	"time"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/data/bin"
	"github.com/ntconv/ntconv/internal/profile"
	"github.com/ntconv/ntconv/internal/profile/meters"
	"github.com/ntconv/ntconv/sample"
)

// WindowOptions configure a Window.
type WindowOptions struct {
	Length  time.Duration      // of the window; 0 means without an end
	Kinds   []sample.Kind      // of samples, at least one
	Options sample.KindOptions // of kinds that are computed from events
}

// A Window adds up the samples of the last seconds by stack. A sample is in the window if it ended there: the length of a
// wait is known only at its end. It is not safe for concurrent use.
//
// Its memory grows with the distinct stacks of the window, and with the threads of the process.
type Window struct {
	clock  ntconv.Clock
	namer  ntconv.Namer
	stream *profile.Stream[*place]
	kinds  [sample.Count]*added // nil if not asked for
	length ntconv.Ticks         // 0: no sample leaves the window
	step   ntconv.Ticks         // of buckets
	latest ntconv.Ticks         // of the events and of Advance

	stacks *profile.Stacks
	places map[placeKey]*place
	rank   int // number of rankings so far
}

// stepsPerWindow is the number of buckets of a window: a sample leaves it at most that part too early or too late.
const stepsPerWindow = 50

// A placeKey identifies the stack of samples in Window.stacks.
type placeKey struct {
	process *ntconv.Process
	stack   uint32 // 0: none
	epoch   uint32 // of the Namer
	native  bool   // the thread was in native code, where it mostly waits
}

// A place is where samples were taken.
type place struct {
	placeKey
	in    *profile.Stacks // that has the stack
	time  ntconv.Ticks    // of a sample
	names []string        // of functions, leaf first; nil until they are resolved
	// resolved is the number of the ranking that resolved names, and open means that some of them are not known yet.
	resolved int
	open     bool
	asked    bool // since they are open
}

// A cell is what samples are added up by.
type cell struct {
	*place
	leaf string // a type that the kind adds as the innermost frame, "" for none
}

// A sum is the number of samples and their values.
type sum struct {
	samples uint64
	value   int64
}

// An added has the samples of a kind.
type added struct {
	main    sample.Type // of values
	counts  bool        // values are numbers of samples
	buckets []bucket    // by time
	all     map[cell]sum
}

// A bucket has the samples that ended in a step of the window.
type bucket struct {
	number int64
	sums   map[cell]sum
}

// NewWindow returns an empty window. namer must have observed the events that Add gets, before Add.
func NewWindow(info *ntconv.Info, namer ntconv.Namer, o *WindowOptions) *Window {
	w := &Window{clock: info.Clock, namer: namer, stacks: profile.NewStacks(), places: map[placeKey]*place{}, latest: math.MinInt64}
	if w.namer == nil {
		w.namer = new(ntconv.NoNames)
	}
	w.length = w.ticks(o.Length)
	w.step = max(1, w.length/stepsPerWindow)
	settings := meters.NewSettings(&o.Options, nil)
	for _, k := range o.Kinds {
		spec := &meters.Specs()[k]
		main := settings.Columns(spec)[settings.Main(spec)]
		w.kinds[k] = &added{main: main.Type, counts: main.One, all: map[cell]sum{}}
	}
	w.stream = profile.NewStream(info, w.weighed, &profile.StreamOptions{
		Kinds: o.Kinds, Options: o.Options, TypeName: meters.TypeNameOf(w.namer), Keep: func(string) bool { return false },
	})
	return w
}

// ticks returns a duration in ticks.
func (w *Window) ticks(d time.Duration) ntconv.Ticks { return w.clock.TicksAt(d) - w.clock.TicksAt(0) }

// Add adds an event, which it borrows.
func (w *Window) Add(e *ntconv.Event) {
	if e.Kind == ntconv.KindEvent {
		w.latest = max(w.latest, e.Time)
	}
	if !w.stream.IsSample(e) {
		w.stream.Watch(e)
		return
	}
	w.stream.Add(e, w.placeOf(e))
}

// Watch notes an event that is not selected: it may end samples that are. It borrows e.
func (w *Window) Watch(e *ntconv.Event) { w.stream.Watch(e) }

// Finish adds the samples whose end is not known. Only Rank may be called after it.
func (w *Window) Finish() { w.stream.Finish() }

// Advance moves the end of the window to a time. Events move it, too, but an idle process has none.
func (w *Window) Advance(now ntconv.Ticks) {
	w.latest = max(w.latest, now)
	if w.length == 0 {
		return
	}
	from := w.number(w.latest) - stepsPerWindow
	for _, a := range w.kinds {
		if a != nil {
			a.discard(from)
		}
	}
}

// number returns the number of the bucket of a time.
func (w *Window) number(at ntconv.Ticks) int64 {
	if w.length == 0 {
		return 0
	}
	n := int64(at / w.step)
	if at%w.step < 0 {
		n--
	}
	return n
}

// discard removes the buckets up to a number.
func (a *added) discard(number int64) {
	for len(a.buckets) > 0 && a.buckets[0].number <= number {
		for c, s := range a.buckets[0].sums {
			all := a.all[c]
			all.samples -= s.samples
			all.value -= s.value
			if all.samples == 0 && all.value == 0 {
				delete(a.all, c)
			} else {
				a.all[c] = all
			}
		}
		a.buckets = a.buckets[1:]
	}
}

// placeOf returns the place of a sample.
func (w *Window) placeOf(e *ntconv.Event) *place {
	k := placeKey{process: meters.ProcessOf(e.Thread), native: meters.IsExternal(e)}
	if e.Stack != nil {
		k.stack = w.stacks.ID(e.Stack)
	}
	if k.stack != 0 {
		k.epoch = w.namer.Epoch(k.process, e.Stack, e.Time)
	}
	p := w.places[k]
	if p == nil {
		w.compact()
		if k.stack != 0 {
			k.stack = w.stacks.ID(e.Stack)
			w.namer.Want(k.process, e.Stack)
		}
		p = &place{placeKey: k, in: w.stacks, time: e.Time}
		w.places[k] = p
	}
	return p
}

// minPlaces is the number of places below which none are removed.
const minPlaces = 1 << 14

// compact removes the places without samples in the window if they are many. Samples whose end is not known keep theirs.
func (w *Window) compact() {
	if len(w.places) < minPlaces || w.length == 0 {
		return
	}
	live := map[*place]bool{}
	for _, a := range w.kinds {
		if a != nil {
			for c := range a.all {
				live[c.place] = true
			}
		}
	}
	if 2*len(live) > len(w.places) {
		return
	}
	w.stacks, w.places = profile.NewStacks(), map[placeKey]*place{}
	for p := range live {
		if p.stack != 0 {
			p.stack = w.stacks.ID(p.in.At(p.stack))
		}
		p.in = w.stacks
		w.places[p.placeKey] = p
	}
}

// weighed adds a sample whose weight is known.
func (w *Window) weighed(s *profile.Weighed[*place]) {
	a := w.kinds[s.Kind]
	end := min(w.latest, bin.AddClamped(s.Time, w.ticks(time.Duration(s.Lasts()))))
	a.add(w.number(end), cell{s.Subject, s.Leaf}, sum{s.Count, a.value(s)})
}

// value returns the value of a sample.
func (a *added) value(s *profile.Weighed[*place]) int64 {
	if a.counts {
		return int64(s.Count)
	}
	for i, t := range s.Types {
		if t == a.main {
			return s.Values[i]
		}
	}
	return 0
}

// add adds a sample to the bucket with a number. Nearly all samples are in the last bucket.
func (a *added) add(number int64, c cell, s sum) {
	i := len(a.buckets)
	for i > 0 && a.buckets[i-1].number > number {
		i--
	}
	if i == 0 || a.buckets[i-1].number < number {
		a.buckets = append(a.buckets, bucket{})
		copy(a.buckets[i+1:], a.buckets[i:])
		a.buckets[i] = bucket{number, map[cell]sum{}}
		i++
	}
	a.buckets[i-1].sums[c] = a.buckets[i-1].sums[c].plus(s)
	a.all[c] = a.all[c].plus(s)
}

func (s sum) plus(t sum) sum {
	return sum{s.samples + t.samples, bin.AddClamped(s.value, t.value)}
}
