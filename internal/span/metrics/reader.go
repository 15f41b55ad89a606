package metrics

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/events/recording"
	"github.com/ntconv/ntconv/internal/span"
	"github.com/ntconv/ntconv/internal/span/stored"
)

// Options configure a Reader.
type Options struct {
	// Semantic gives the event counters of the runtime the names and units of OpenTelemetry's semantic conventions.
	Semantic bool
}

// A Reader derives the points of one trace. It is not safe for concurrent use.
//
// point and series are those of the current event; value adds its statistics.
type Reader struct {
	emit     func(*Point)
	add      func(*recording.CounterValue) // r.value, bound once
	o        Options
	clock    span.Clock
	counters *recording.CounterReader
	buf      []byte
	series   map[string]*series
	scopes   map[string]*span.Scope
	metadata map[string]*Metadata
	problems map[string]int64
	sessions map[*ntconv.Process]string // whose values are points
	measured map[measurement]bool
	stored   *stored.Decoder[Point]

	event   *ntconv.Event
	begun   bool // point has a value of the current event
	ok      bool // point can be passed on
	other   bool // the event has a value of another session
	current *series
	isMean  bool // the event is one of an EventCounter or PollingCounter
	mean    statistics
	point   Point
}

// A series is what is known about a time series from its earlier points.
type series struct {
	start   uint64 // of the first interval
	float   bool   // a value was not an integer
	summary bool   // an event counter that has had another number of measurements than one
	scope   *span.Scope
	// metadata are the tags of the instrument, nil if it has none.
	metadata *Metadata
}

// statistics are those of an event counter.
type statistics struct{ mean, deviation, low, high, count float64 }

// maxSeries limits the time series that are kept. Beyond it, all are forgotten, and sums start again.
const maxSeries = 1 << 16

// NewReader returns a Reader that passes points to emit. info must not be nil; nil o selects the defaults.
func NewReader(info *ntconv.Info, emit func(*Point), o *Options) *Reader {
	r := &Reader{
		emit: emit, clock: span.ClockOf(info), counters: recording.NewCounterReader(), series: make(map[string]*series),
		scopes: make(map[string]*span.Scope), metadata: make(map[string]*Metadata), problems: make(map[string]int64), sessions: make(map[*ntconv.Process]string), measured: make(map[measurement]bool), stored: stored.NewDecoder(Stored, nil),
	}
	if o != nil {
		r.o = *o
	}
	r.add = r.value
	return r
}

// Reads reports whether events with the type and version of e may be points or describe them. Add does nothing for all
// others.
func (r *Reader) Reads(e *ntconv.Event) bool {
	return r.counters.Reads(e) || recording.IsMetricsProblem(e.Type) || Stored.Has(e.Type)
}

// Add reads an event, which it borrows. Events must have the order of their times.
func (r *Reader) Add(e *ntconv.Event) {
	if e.Kind != ntconv.KindEvent || e.Type == nil {
		return
	}
	if Stored.Has(e.Type) {
		r.imported(e)
		return
	}
	r.event, r.begun = e, false
	if r.counters.Read(e, r.add); r.begun {
		r.finish()
		return
	}
	if recording.IsMetricsProblem(e.Type) {
		r.problems[e.Type.Name]++
	}
}

// Problems returns what is missing with numbers: events by which the publisher of metrics states it, such as
// "TimeSeriesLimitReached (1)", and what the Reader omits.
func (r *Reader) Problems() string {
	var list []string
	for _, name := range slices.Sorted(maps.Keys(r.problems)) {
		list = append(list, fmt.Sprintf("%s (%d)", name, r.problems[name]))
	}
	return strings.Join(list, ", ")
}

// value adds one statistic of the current event to the point.
func (r *Reader) value(v *recording.CounterValue) {
	if !r.begun {
		r.begin(v)
	}
	if r.other {
		return
	}
	p := &r.point
	switch v.Kind {
	case recording.KindMean:
		switch v.Statistic {
		case recording.StatisticMean:
			r.mean.mean, r.ok = v.Value, v.OK
		case recording.StatisticDeviation:
			r.mean.deviation = v.Value
		case recording.StatisticMin:
			r.mean.low = v.Value
		case recording.StatisticMax:
			r.mean.high = v.Value
		case recording.StatisticCount:
			r.mean.count = v.Value
		}
	case recording.KindHistogram:
		switch v.Statistic {
		case recording.StatisticCount:
			p.Count, r.ok = uint64(max(0, v.Value)), v.OK && v.Value > 0
		case recording.StatisticSum:
			p.Sum = v.Value
		default:
			if v.OK {
				p.Quantiles = append(p.Quantiles, Quantile{v.Quantile, v.Value})
			}
		}
	case recording.KindCounter, recording.KindUpDownCounter:
		if v.Statistic == recording.StatisticTotal {
			p.Temporality = TemporalityCumulative
		} else if v.Kind == recording.KindUpDownCounter {
			return // a rate without a total is no value
		}
		r.number(v)
	default:
		r.number(v)
	}
}

// number sets the value of a gauge or sum.
func (r *Reader) number(v *recording.CounterValue) {
	p := &r.point
	r.ok, p.Integer, p.Int, p.Float = v.OK, v.Integer, v.Exact, v.Value
}

// begin begins the point of the current event.
func (r *Reader) begin(v *recording.CounterValue) {
	p := &r.point
	*p = Point{Quantiles: p.Quantiles[:0], Attributes: p.Attributes[:0], Metric: Metric{
		Name: v.Name, Description: v.Description, Unit: v.Unit, Kind: KindGauge,
	}}
	r.begun, r.ok, r.isMean, r.mean = true, false, v.Kind == recording.KindMean, statistics{}
	if r.other = r.isOther(v); r.other {
		r.isMean = false
		return
	}
	switch v.Kind {
	case recording.KindSum:
		p.Kind, p.Temporality, p.Monotonic = KindSum, TemporalityDelta, true
	case recording.KindCounter:
		p.Kind, p.Temporality, p.Monotonic = KindSum, TemporalityDelta, true // until value finds a total
	case recording.KindUpDownCounter:
		p.Kind = KindSum
	case recording.KindHistogram:
		p.Kind = KindSummary
	}
	if p.Description == "" {
		p.Description = v.DisplayName
	}
	r.place(v)
	own := v.Series
	if v.Kind == recording.KindSum || v.Kind == recording.KindMean {
		own = v.Tags
	}
	p.Attributes = appendTags(p.Attributes, own)
	p.Process = recording.ProcessOf(r.event)
	r.current = r.seriesOf(v)
	p.Scope, p.Metadata = r.current.scope, r.current.metadata
}

// isOther reports whether a value was collected for another session than the first one of its process, which measured the
// same once more.
func (r *Reader) isOther(v *recording.CounterValue) bool {
	if v.Session == "" {
		return false
	}
	process := recording.ProcessOf(r.event)
	first, known := r.sessions[process]
	if !known {
		if len(r.sessions) == maxSeries {
			clear(r.sessions)
		}
		r.sessions[process] = strings.Clone(v.Session)
		return false
	}
	if first != v.Session {
		r.problems["values of another session"]++
		return true
	}
	return false
}

// appendTags appends tags as attributes.
func appendTags(dst []span.Attribute, tags []recording.CounterTag) []span.Attribute {
	for _, t := range tags {
		dst = append(dst, span.Attribute{Key: t.Key, Value: span.String(t.Value)})
	}
	return dst
}

// place sets the interval of the point.
func (r *Reader) place(v *recording.CounterValue) {
	p := &r.point
	if !v.End.IsZero() {
		p.Start, p.Time = uint64(v.Begin.UnixNano()), uint64(v.End.UnixNano())
		return
	}
	p.Time = uint64(r.clock.Unix(r.event.Time))
	p.Start = p.Time
	if v.Interval > 0 && v.Interval < math.MaxInt32 {
		p.Start = uint64(int64(p.Time) - int64(v.Interval*float64(time.Second)))
	}
}

// seriesOf returns the series of a value.
func (r *Reader) seriesOf(v *recording.CounterValue) *series {
	b := r.buf[:0]
	if p := r.point.Process; p != nil {
		b = strconv.AppendUint(append(b, p.Host...), p.PID, 10)
	}
	for _, s := range [...]string{v.Provider, v.Version, v.Name} {
		b = append(append(b, 0), s...)
	}
	for _, t := range v.Tags {
		b = append(append(append(append(b, 0), t.Key...), 0), t.Value...)
	}
	r.buf = b
	s := r.series[string(b)]
	if s == nil {
		if len(r.series) == maxSeries {
			clear(r.series)
			r.problems["more than 65,536 time series, whose sums start again"]++
		}
		s = &series{start: r.point.Start, scope: r.scopeOf(v), metadata: r.metadataOf(v)}
		r.series[string(b)] = s
	}
	return s
}

// scopeOf returns the meter or event source of a value.
func (r *Reader) scopeOf(v *recording.CounterValue) *span.Scope {
	key := v.Provider + "\x00" + v.Version
	for _, t := range v.Meter {
		key += "\x00" + t.Key + "\x00" + t.Value
	}
	s := r.scopes[key]
	if s == nil {
		if len(r.scopes) == maxSeries {
			clear(r.scopes)
		}
		s = &span.Scope{Name: v.Provider, Version: v.Version}
		s.Attributes = appendTags(nil, v.Meter)
		r.scopes[key] = s
	}
	return s
}

// metadataOf returns the tags of an instrument, nil if it has none.
func (r *Reader) metadataOf(v *recording.CounterValue) *Metadata {
	if len(v.Instrument) == 0 {
		return nil
	}
	key := fmt.Sprintf("%q %q", v.Provider, v.Name)
	for _, t := range v.Instrument {
		key += fmt.Sprintf(" %q %q", t.Key, t.Value)
	}
	return r.keepMetadata(key, func() []span.Attribute { return appendTags(nil, v.Instrument) })
}

// keepMetadata returns the metadata with a key, which make returns the first time.
func (r *Reader) keepMetadata(key string, attributes func() []span.Attribute) *Metadata {
	m := r.metadata[key]
	if m == nil {
		if len(r.metadata) == maxSeries {
			clear(r.metadata)
		}
		m = &Metadata{attributes()}
		r.metadata[key] = m
	}
	return m
}

// finish passes the point of the current event on, if the event has a value.
func (r *Reader) finish() {
	p := &r.point
	if r.isMean {
		r.finishMean()
	}
	if !r.ok {
		return
	}
	if p.Scope.Name == RuntimeSource {
		r.measures(p)
	}
	if r.o.Semantic {
		rename(p)
	}
	switch {
	case p.Kind == KindGauge:
		p.Start = 0
	case p.Temporality == TemporalityCumulative:
		p.Start = r.current.start
	}
	if p.Kind != KindSummary {
		if r.current.float = r.current.float || !p.Integer; r.current.float && p.Integer {
			p.Integer, p.Float = false, float64(p.Int)
		}
	}
	r.emit(p)
}

// A measurement is a metric of the semantic conventions that the counters of a process have.
type measurement struct {
	process *ntconv.Process
	metric  string
}

// measures notes that a counter of the runtime measures a metric.
func (r *Reader) measures(p *Point) {
	m := measurement{p.Process, p.Name}
	if to, ok := runtimeCounters[p.Name]; ok {
		m.metric = to.name
	}
	if !r.measured[m] {
		r.measured[m] = true
	}
}

// Measured reports whether a counter of the runtime has measured a metric of the semantic conventions in a process.
func (r *Reader) Measured(p *ntconv.Process, metric string) bool {
	return r.measured[measurement{p, metric}]
}

// finishMean decides whether an event counter is a gauge or a summary.
func (r *Reader) finishMean() {
	p, m := &r.point, &r.mean
	r.current.summary = r.current.summary || m.count != 1 || m.deviation != 0 || m.low != m.high
	if !r.current.summary {
		p.Float = m.mean
		if n := int64(m.mean); float64(n) == m.mean && math.Abs(m.mean) < 1<<53 {
			p.Integer, p.Int = true, n
		}
		return
	}
	p.Kind, p.Count, p.Sum = KindSummary, uint64(max(0, m.count)), m.mean*m.count
	p.Quantiles = append(p.Quantiles, Quantile{0, m.low}, Quantile{1, m.high})
	r.ok = r.ok && m.count > 0
}
