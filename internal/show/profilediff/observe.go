package profilediff

import (
	"math"
	"slices"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/data/distribution"
	"github.com/ntconv/ntconv/internal/events/recording"
	"github.com/ntconv/ntconv/internal/profile/meters"
	"github.com/ntconv/ntconv/internal/show/overview"
	"github.com/ntconv/ntconv/internal/span"
	"github.com/ntconv/ntconv/internal/span/tracker"
)

// An Observed is the totals of a trace: a sink of its events. It is not safe for concurrent use.
type Observed struct {
	Kind     string // of the profile that is compared; set by the caller
	Estimate string // of the values of that profile; set by the caller

	info     *ntconv.Info
	counts   bool
	filtered bool
	overview *overview.Sink
	totals   *overview.Overview // set by End
	counters map[counterKey]*readings
	reader   *recording.CounterReader
	reads    map[*ntconv.Type]bool
	threads  map[*ntconv.Thread]bool
	tracker  *tracker.Tracker
	spans    map[spanKey]*distribution.Distribution // durations in nanoseconds
}

// A spanKey identifies the spans with a name in both traces.
type spanKey struct {
	scope, name string
	server      bool
}

// maxSpanNames is the maximum number of names of spans. Further ones are omitted.
const maxSpanNames = 1000

// ObserveOptions configure an Observed.
type ObserveOptions struct {
	Window func(ntconv.Ticks) bool // reports whether a time is selected; nil means all times
	Namer  ntconv.Namer            // spells names of types; may be nil
	Counts bool                    // the values of folded stacks are numbers of samples
	// Filtered means that the caller omits events of the trace: the profile has no samples of the omitted times.
	Filtered bool
}

// Observe returns an Observed without events.
func Observe(info *ntconv.Info, o ObserveOptions) *Observed {
	of := overview.Options{Window: o.Window, TypeName: meters.TypeNameOf(o.Namer), Evidence: true}
	observed := &Observed{
		info: info, counts: o.Counts, filtered: o.Filtered, overview: overview.New(info, of), counters: map[counterKey]*readings{}, reader: recording.NewCounterReader(),
		reads: map[*ntconv.Type]bool{}, threads: map[*ntconv.Thread]bool{}, spans: map[spanKey]*distribution.Distribution{},
	}
	observed.tracker = tracker.New(info, observed.span, &tracker.Options{NoEvents: true, SerialIDs: true})
	return observed
}

// span adds a span that has ended.
func (o *Observed) span(s *span.Span) {
	if s.End < s.Start || s.End == 0 {
		return
	}
	key := spanKey{s.Scope.Name, s.Name, s.Kind == span.KindServer}
	d := o.spans[key]
	if d == nil {
		if len(o.spans) >= maxSpanNames {
			return
		}
		d = new(distribution.Distribution)
		o.spans[key] = d
	}
	d.Add(distribution.Uint(s.End - s.Start))
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
	o.tracker.Add(e)
	return o.overview.Write(e)
}

// Watch notes an event that the selection may omit.
func (o *Observed) Watch(e *ntconv.Event) {
	o.overview.Watch(e)
}

// OrderMatters reports whether the same events in time order could have given other totals.
func (o *Observed) OrderMatters() bool { return o.overview.OrderMatters() || len(o.spans) > 0 }

// End ends the recording. first and last limit its selected part; ok is false if there is none.
func (o *Observed) End(first, last ntconv.Ticks, ok bool) {
	_ = o.overview.Close()                                                   // returns no errors
	o.totals = o.overview.Describe(first, last, ok && !o.info.Aggregate, "") // times of aggregates are no evidence
}

// Accuracy returns how precisely the profile that is compared states a sample type. If the standard error of the total
// implies a larger weight than the mean value of a sample, the weight is that. The weight of folded stacks, which have no
// unit, is NaN: their values may be nanoseconds, unless ObserveOptions.Counts states that they are samples.
func (o *Observed) Accuracy(sampleType string) Accuracy {
	if o.info.Format == formatFolded && !o.counts {
		return Accuracy{Weight: math.NaN()}
	}
	k := kindOf(o, o.Kind)
	v := valueOf(k, sampleType)
	if v.Error == 0 || v.Total == 0 || k.Samples == 0 {
		return Accuracy{}
	}
	total := float64(v.Total)
	return Accuracy{Weight: max(total/float64(k.Samples), v.Error*v.Error*total), Total: total, Error: v.Error}
}

// Requests returns the number of requests with a name, "" for all: those that a server handled, or if there are none,
// that a client sent, or if there are none, spans of servers. Without such requests, spans with the name count. of says
// which were counted. names lists the names that there are, at most ten.
func (o *Observed) Requests(name string) (n float64, of string, names []string) {
	count := func(is string, d *distribution.Distribution, counts bool) {
		if counts && (name == "" || is == name) {
			n += float64(d.Count())
		}
		if len(names) < 10 && !slices.Contains(names, is) {
			names = append(names, is)
		}
	}
	for _, d := range o.totals.Durations { // servers first
		count(d.Name, d.Lengths, d.Side == o.totals.Durations[0].Side)
	}
	if n > 0 {
		return n, o.totals.Durations[0].Side, names
	}
	for key, d := range o.spans {
		count(key.name, d, key.server || name != "")
	}
	slices.Sort(names)
	if of = "spans"; name == "" {
		of = "spans of servers"
	}
	return n, of, names
}

// formatFolded is Info.Format of folded stacks.
const formatFolded = "folded"

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
func (o *Observed) value(v *recording.CounterValue) {
	x, unit := v.Value, v.Unit
	switch v.Statistic {
	case recording.StatisticMean, recording.StatisticLast, "p50", "p95", "p99":
	case recording.StatisticSum, recording.StatisticRate:
		if v.Kind == recording.KindHistogram || v.Interval <= 0 {
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
	r.add(x)
}

// add adds a value, as Welford does.
func (r *readings) add(x float64) {
	r.n++
	d := x - r.mean
	r.mean += d / r.n
	r.squares += d * (x - r.mean)
}
