package overview

import (
	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/data/intern"
	"github.com/ntconv/ntconv/internal/events/recording"
	"github.com/ntconv/ntconv/internal/profile"
	"github.com/ntconv/ntconv/internal/profile/meters"
	"github.com/ntconv/ntconv/internal/profile/rounds"
	"github.com/ntconv/ntconv/sample"
	"github.com/ntconv/ntconv/schema"
)

// A Sink adds up the events of a trace. They may arrive in file order, unless OrderMatters returns true at the end. It
// is not safe for concurrent use.
type Sink struct {
	info    *ntconv.Info
	stream  *profile.Stream[struct{}]
	kinds   [sample.Count]*kindTotals
	schemas schema.Table
	roles   map[*ntconv.Type]*typeRole
	recent  intern.Cache[*ntconv.Type, *typeRole]

	count    int64  // events without rundown
	events   series // their number
	cpu      series // ticks of CPU time
	managed  series // ticks of threads in managed code
	pauses   series // ticks
	counters *counters
	pools    threadPools
	pool     [1]ntconv.Value

	disordered bool
	evidence   bool
}

// A typeRole is the use of the events of a type.
type typeRole struct {
	after  bool // written after the recording: rundown, weights
	counts bool // they may state values of counters
	pool   *schema.Projection
}

var (
	_ ntconv.Watcher        = (*Sink)(nil)
	_ ntconv.OrderSensitive = (*Sink)(nil)
)

// Options configure a Sink. The zero value selects the defaults.
type Options struct {
	Window   func(ntconv.Ticks) bool      // reports whether a time is selected; nil means all times
	TypeName func(recorded string) string // spells names of types; nil leaves them as recorded
	Evidence bool                         // records what the sampling error of totals is estimated from
}

// New returns a Sink for a trace.
func New(info *ntconv.Info, o Options) *Sink {
	s := &Sink{
		info: info, roles: map[*ntconv.Type]*typeRole{}, counters: newCounters(), pools: threadPools{},
		recent: intern.NewCache[*ntconv.Type, *typeRole](8), evidence: o.Evidence,
	}
	keep := isPartLabel
	if o.Evidence {
		keep = func(key string) bool { return isPartLabel(key) || key == meters.LabelRequest }
	}
	var kinds []sample.Kind
	for _, k := range sample.All() {
		if k != sample.Events { // every event is one
			kinds = append(kinds, k)
		}
	}
	s.stream = profile.NewStream(info, s.sample, &profile.StreamOptions{
		Kinds: kinds, Options: sample.KindOptions{SubjectAs: sample.SubjectLabel}, Keep: keep, Window: o.Window,
		TypeName: o.TypeName, Unselected: true,
	})
	return s
}

// Write adds a selected event, which it borrows. It always returns nil.
func (s *Sink) Write(e *ntconv.Event) error {
	if e.Kind != ntconv.KindEvent {
		s.stream.Add(e, struct{}{})
		return nil
	}
	if recording.IsReplica(e) {
		return nil
	}
	r := s.roleOf(e)
	if !r.after {
		s.events.add(e.Time, 1)
		s.count++
	}
	s.stream.Add(e, struct{}{})
	if r.counts {
		s.counters.add(e)
	}
	if r.pool != nil {
		r.pool.Read(e, s.pool[:])
		if n := s.pool[0]; n.Kind() == ntconv.ValueUint || n.Kind() == ntconv.ValueInt {
			s.pools.add(e, int64(n.Uint()))
		}
	}
	return nil
}

// Watch notes an event that the selection may omit: it may be the other half of an interval, or the sample after a
// selected one.
func (s *Sink) Watch(e *ntconv.Event) { s.stream.Watch(e) }

// Long returns the long samples of the sample profiler. It is complete after Close.
func (s *Sink) Long() rounds.Long { return s.stream.Long(sample.Wall) }

// OrderMatters reports whether the same events in time order could have given other totals.
func (s *Sink) OrderMatters() bool { return s.stream.OrderMatters() }

// Disordered returns the result of OrderMatters at the time of Close.
func (s *Sink) Disordered() bool { return s.disordered }

// Close ends all samples. It returns nil.
func (s *Sink) Close() error {
	s.disordered = s.stream.OrderMatters()
	s.stream.Finish()
	return nil
}

func (s *Sink) roleOf(e *ntconv.Event) *typeRole {
	hash := uint64(e.Type.ID)<<8 ^ uint64(len(e.Type.Provider))
	if r := s.recent.Get(hash, &e.Type); r != nil {
		return *r
	}
	r := s.roles[e.Type]
	if r == nil {
		of := s.schemas.Of(e)
		r = &typeRole{
			after:  recording.IsAfter(e.Type),
			counts: s.counters.reader.Reads(e),
			pool:   poolField(of),
		}
		s.roles[e.Type] = r
	}
	s.recent.Put(hash, &e.Type, r)
	return r
}

// sample adds a sample, which it borrows.
func (s *Sink) sample(w *profile.Weighed[struct{}]) {
	k := s.kinds[w.Kind]
	if k == nil {
		k = newKindTotals(w.Kind)
		s.kinds[w.Kind] = k
	}
	k.add(w)
	if s.evidence {
		k.observe(w)
	}
	switch w.Kind {
	case sample.Wall:
		if w.State() == managedState {
			s.managed.addSpan(w.Time, w.Time+s.ticks(w, "wall"))
		}
	case sample.CPU:
		s.cpu.add(w.Time, int64(s.ticks(w, "cpu")))
	case sample.GC:
		s.pauses.addSpan(w.Time, w.Time+s.ticks(w, "pause"))
	}
}

// managedState is the state of a thread that runs managed code, or waits in it, according to the sample profiler.
const managedState = "Managed"

// ticks returns the value of a type, which is a time, in ticks.
func (s *Sink) ticks(w *profile.Weighed[struct{}], name string) ntconv.Ticks {
	for i := range w.Types {
		if w.Types[i].Type == name {
			return ticks(&s.info.Clock, w.Values[i])
		}
	}
	return 0
}
