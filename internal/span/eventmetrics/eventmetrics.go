// Package eventmetrics counts events of the runtime in the metrics that its counters measure.
package eventmetrics

import (
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/data/bin"
	"github.com/ntconv/ntconv/internal/events/operation"
	"github.com/ntconv/ntconv/internal/events/recording"
	"github.com/ntconv/ntconv/internal/span"
	"github.com/ntconv/ntconv/internal/span/metrics"
	"github.com/ntconv/ntconv/internal/span/tracker"
)

// A Reader counts operations of the runtime, such as collections and exceptions, as the metrics of the same
// semantic conventions that the runtime's own instruments have: cumulative sums with a point per second, or fewer in a
// long time without operations. The operations are those that a Tracker finds, so that totals are those of spans and
// profiles. Memory depends on the time series and on the seconds in which one of them grows. It is not safe for
// concurrent use.
type Reader struct {
	emit      func(*metrics.Point)
	clock     span.Clock
	tracker   *tracker.Tracker
	processes map[*ntconv.Process]*observed
	order     []*ntconv.Process
}

// An observed is a process. Times are nanoseconds since 1970.
type observed struct {
	first, last int64
	series      map[countedKey]*counted
	keys        []countedKey
}

type countedKey struct {
	metric *metric
	value  string // of the attribute
}

// A counted is a time series: what it gained in each second since observed.first.
type counted struct{ gains map[int64]float64 }

// A metric is a metric that operations are counted in.
type metric struct {
	operation       string // its Name
	name, unit      string
	description     string
	attribute, from string // the attribute of points, and that of spans
	duration        bool   // the value is the duration in seconds instead of 1
}

// table has the metrics of the semantic conventions for the runtime that operations determine.
var table = []metric{
	{operation: "gc", name: "dotnet.gc.collections", unit: "{collection}", description: "The number of garbage collections that have occurred since the recording began.",
		attribute: "gc.heap.generation", from: operation.AttrGeneration},
	{operation: "gc_pause", name: "dotnet.gc.pause.time", unit: "s", description: "The total amount of time paused in GC since the recording began.", duration: true},
	{operation: "jit", name: "dotnet.jit.compiled_methods", unit: "{method}", description: "The number of times the JIT compiler compiled methods since the recording began."},
	{operation: "jit", name: "dotnet.jit.compilation.time", unit: "s", description: "The amount of time the JIT compiler has spent compiling methods since the recording began.", duration: true},
	{operation: "contention", name: "dotnet.monitor.lock_contentions", unit: "{contention}", description: "The number of times there was contention when trying to acquire a monitor lock since the recording began."},
	{operation: "exception", name: "dotnet.exceptions", unit: "{exception}", description: "The number of exceptions that have been thrown in managed code since the recording began.",
		attribute: "error.type", from: operation.AttrExceptionType},
}

// NewReader returns an Reader that passes points to emit. info must not be nil.
func NewReader(info *ntconv.Info, emit func(*metrics.Point), report *ntconv.Report) *Reader {
	r := &Reader{emit: emit, clock: span.ClockOf(info), processes: make(map[*ntconv.Process]*observed)}
	r.tracker = tracker.New(info, r.count, &tracker.Options{
		Sources: operation.GC | operation.JIT | operation.Contention | operation.Exceptions, Unfinished: tracker.CloseUnfinished,
		NoEvents: true, SerialIDs: true, Report: report,
	})
	return r
}

// Add reads an event, which it borrows. Events must have the order of their times.
func (r *Reader) Add(e *ntconv.Event) {
	if e.Kind == ntconv.KindEvent && !recording.IsAfter(e.Type) {
		r.observe(recording.ProcessOf(e), r.clock.Unix(e.Time))
	}
	r.tracker.Add(e)
}

// observe extends the time in which a process was recorded.
func (r *Reader) observe(p *ntconv.Process, at int64) *observed {
	o := r.processes[p]
	if o == nil {
		o = &observed{first: at, last: at, series: make(map[countedKey]*counted)}
		r.processes[p] = o
		r.order = append(r.order, p)
	}
	o.last = max(o.last, at)
	return o
}

// count counts an operation.
func (r *Reader) count(s *span.Span) {
	if s.Operation == nil || s.Process == nil {
		return
	}
	o := r.observe(s.Process, int64(s.End))
	for i := range table {
		m := &table[i]
		if m.operation != s.Operation.Name {
			continue
		}
		k := countedKey{metric: m}
		if at := slices.IndexFunc(s.Attributes, func(a span.Attribute) bool { return m.from != "" && a.Key == m.from }); at >= 0 {
			k.value = s.Attributes[at].Value.Str()
		}
		c := o.series[k]
		if c == nil {
			c = &counted{make(map[int64]float64)}
			o.series[k] = c
			o.keys = append(o.keys, k)
		}
		gain := 1.0
		if m.duration {
			gain = float64(s.End-s.Start) / 1e9
		}
		c.gains[o.second(int64(s.End))] += gain
	}
}

// Finish passes on the points of all metrics that measured does not report. Call it after the last event.
func (r *Reader) Finish(measured func(p *ntconv.Process, metric string) bool) {
	r.tracker.Finish()
	for _, p := range r.order {
		o := r.processes[p]
		slices.SortFunc(o.keys, func(a, b countedKey) int {
			if a.metric != b.metric {
				return strings.Compare(a.metric.name, b.metric.name)
			}
			return strings.Compare(a.value, b.value)
		})
		for _, k := range o.keys {
			if !measured(p, k.metric.name) {
				r.points(p, o, k)
			}
		}
	}
}

// runtimeScope is the meter of the runtime's own instruments.
var runtimeScope = &span.Scope{Name: metrics.RuntimeSource}

// points passes on the points of a time series.
func (r *Reader) points(process *ntconv.Process, o *observed, k countedKey) {
	p := metrics.Point{Process: process, Scope: runtimeScope, Start: uint64(o.first), Metric: metrics.Metric{
		Name: k.metric.name, Description: k.metric.description, Unit: k.metric.unit, Kind: metrics.KindSum, Temporality: metrics.TemporalityCumulative, Monotonic: true,
	}}
	if k.value != "" {
		p.Attributes = []span.Attribute{{Key: k.metric.attribute, Value: span.String(k.value)}}
	}
	total := 0.0
	for second := range o.series[k].seconds(o.second(o.last)) {
		total += o.series[k].gains[second]
		end := bin.AddClamped(o.first, bin.MulClamped(second+1, int64(time.Second)))
		p.Time = uint64(min(end, max(o.last, o.first)))
		p.Integer, p.Int, p.Float = !k.metric.duration, int64(total), total
		if k.metric.duration {
			p.Int = 0
		}
		r.emit(&p)
	}
}

// second returns the number of the second that a time is in or ends.
func (o *observed) second(at int64) int64 {
	return max(0, bin.AddClamped(at, -o.first)-1) / int64(time.Second)
}

// maxBetween is the number of points between two in which a time series grows. Up to this length, five minutes, Prometheus keeps
// showing the latest value of a series.
const maxBetween = 300

// seconds returns the seconds of a time series that have a point, of those up to last: all, but if the time between two gains has more
// than maxBetween seconds, so many of them and the one before the gain. So the number of points does not depend on times, which may
// be corrupt.
func (c *counted) seconds(last int64) iter.Seq[int64] {
	needed := []int64{last}
	for second := range c.gains {
		needed = append(needed, second, max(0, second-1))
	}
	slices.Sort(needed)
	return func(yield func(int64) bool) {
		next := int64(0)
		for _, at := range slices.Compact(needed) {
			step := 1 + (at-next)/maxBetween
			for s := next + step - 1; s < at; s += step {
				if !yield(s) {
					return
				}
			}
			if !yield(at) {
				return
			}
			next = at + 1
		}
	}
}
