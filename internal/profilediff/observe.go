package profilediff

import (
	"math"
	"slices"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/counter"
	"github.com/ntconv/ntconv/internal/overview"
	"github.com/ntconv/ntconv/internal/profile"
)

// An Observed is the totals of a trace: a sink of its events. It is not safe for concurrent use.
type Observed struct {
	Kind     string // of the profile that is compared; set by the caller
	Estimate string // of the values of that profile; set by the caller

	info     *ntconv.Info
	overview *overview.Sink
	totals   *overview.Overview // set by End
	counters map[counterKey]*readings
	reader   *counter.Reader
	reads    map[*ntconv.Type]bool
	threads  map[*ntconv.Thread]bool
}

// ObserveOptions configure an Observed.
type ObserveOptions struct {
	Window func(ntconv.Ticks) bool // reports whether a time is selected; nil means all times
	Namer  ntconv.Namer            // spells names of types; may be nil
}

// Observe returns an Observed without events.
func Observe(info *ntconv.Info, o ObserveOptions) *Observed {
	of := overview.Options{Window: o.Window, TypeName: profile.TypeNameOf(o.Namer), Evidence: true}
	return &Observed{
		info: info, overview: overview.New(info, of), counters: map[counterKey]*readings{}, reader: counter.NewReader(),
		reads: map[*ntconv.Type]bool{}, threads: map[*ntconv.Thread]bool{},
	}
}

// Write adds a selected event, which it borrows.
func (o *Observed) Write(e *ntconv.Event) error {
	if e.Kind == ntconv.KindEvent {
		reads, ok := o.reads[e.Type]
		if !ok {
			reads = o.reader.Reads(e)
			o.reads[e.Type] = reads
		}
		if reads {
			o.reader.Read(e, o.value)
		}
		if e.Thread != nil && e.Thread.TID != 0 && !o.info.Aggregate {
			o.threads[e.Thread] = true
		}
	}
	return o.overview.Write(e)
}

// Watch notes an event that the selection may omit.
func (o *Observed) Watch(e *ntconv.Event) { o.overview.Watch(e) }

// OrderMatters reports whether the same events in time order could have given other totals.
func (o *Observed) OrderMatters() bool { return o.overview.OrderMatters() }

// End ends the recording. first and last limit its selected part; ok is false if there is none.
func (o *Observed) End(first, last ntconv.Ticks, ok bool) {
	_ = o.overview.Close()                                                   // returns no errors
	o.totals = o.overview.Describe(first, last, ok && !o.info.Aggregate, "") // times of aggregates are no evidence
}

// Requests returns the number of requests with a name, "" for all. Requests of a server count; if there are none, those
// of a client. names lists the names that there are, at most ten.
func (o *Observed) Requests(name string) (n float64, names []string) {
	side := ""
	for i, d := range o.totals.Durations { // servers first
		if i == 0 {
			side = d.Side
		}
		if d.Side != side {
			continue
		}
		if name == "" || d.Name == name {
			n += float64(d.Lengths.Count())
		}
		if len(names) < 10 && !slices.Contains(names, d.Name) {
			names = append(names, d.Name)
		}
	}
	return n, names
}

// A counterKey identifies a statistic of a counter in both traces.
type counterKey struct{ provider, name, tags, statistic, unit string }

// maxCounters is the maximum number of statistics of counters. Further ones are omitted.
const maxCounters = 2000

// readings are the values of a counter over time.
type readings struct {
	n, mean, squares float64 // number, mean, and sum of squared deviations from it
}

// value adds a value of a counter: means of measurements, increments per second, levels and quantiles. Totals since the
// start of the program depend on how long it has run.
func (o *Observed) value(v *counter.Value) {
	x, unit := v.Value, v.Unit
	switch v.Statistic {
	case counter.StatisticMean, counter.StatisticLast, "p50", "p95", "p99":
	case counter.StatisticSum, counter.StatisticRate:
		if v.Kind == counter.KindHistogram || v.Interval <= 0 {
			return
		}
		x /= v.Interval
		unit += "/s"
	default:
		return
	}
	if !v.OK || math.IsNaN(x) || math.IsInf(x, 0) {
		return
	}
	key := counterKey{v.Provider, v.Name, "", v.Statistic, unit}
	for _, t := range v.Tags {
		key.tags += "," + t.Key + "=" + t.Value
	}
	r := o.counters[key]
	if r == nil {
		if len(o.counters) >= maxCounters {
			return
		}
		r = new(readings)
		o.counters[key] = r
	}
	r.n++
	d := x - r.mean
	r.mean += d / r.n
	r.squares += d * (x - r.mean)
}
