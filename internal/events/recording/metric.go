package recording

import (
	"strconv"
	"strings"
	"time"

	"github.com/ntconv/ntconv"
)

// Indices of the columns in metricFields, the fields of the events that hold values of instruments. An event has the
// fields of its kind. Older runtimes omit the value of a counter and the ID of the instrument.
const (
	mSession = iota
	mMeter
	mName
	mUnit
	mTags
	mID
	mRate
	mValue
	mLast
	mQuantiles
	mCount
	mSum
)

var metricFields = [...]string{
	mSession: "sessionId", mMeter: "meterName", mName: "instrumentName", mUnit: "unit", mTags: "tags", mID: "instrumentId", mRate: "rate",
	mValue: "value", mLast: "lastValue", mQuantiles: "quantiles", mCount: "count", mSum: "sum",
}

// Indices of the columns in collectionFields, the fields of CollectionStart.
const (
	cSession = iota
	cStart
	cEnd
)

var collectionFields = [...]string{cSession: "sessionId", cStart: "intervalStartTime", cEnd: "intervalEndTime"}

// Indices of the columns in instrumentFields, the fields of BeginInstrumentReporting. Older runtimes omit tags and IDs.
const (
	iSession = iota
	iMeter
	iName
	iTags
	iMeterTags
	iID
	iVersion
	iDescription
)

var instrumentFields = [...]string{
	iSession: "sessionId", iMeter: "meterName", iName: "instrumentName", iTags: "instrumentTags", iMeterTags: "meterTags", iID: "instrumentId",
	iVersion: "meterVersion", iDescription: "description",
}

// A sessionKey identifies a session that reports the metrics of a process.
type sessionKey struct {
	process *ntconv.Process
	session string
}

// An instrumentKey identifies an instrument of a process. The ID distinguishes instruments with equal names and
// different tags; it is 0 in older runtimes.
type instrumentKey struct {
	process     *ntconv.Process
	id          float64
	meter, name string
}

// An instrument is the description in BeginInstrumentReporting.
type instrument struct {
	tags, meterTags      []CounterTag
	version, description string
}

// A collected is the interval of the values that a session collects.
type collected struct{ begin, end time.Time }

// ProcessOf returns the process of an event, or nil if it is unknown.
func ProcessOf(e *ntconv.Event) *ntconv.Process {
	if e.Thread == nil {
		return nil
	}
	return e.Thread.Process
}

// collection stores the interval of the values that follow in the session.
func (r *CounterReader) collection(e *ntconv.Event, _ *role, _ func(*CounterValue)) {
	key := sessionKey{ProcessOf(e), r.text(cSession)}
	if _, known := r.intervals[key]; !known { // a session has one such event per interval
		r.keep(len(key.session))
	}
	r.intervals[key] = r.interval(cStart, cEnd)
}

// instrument stores the description of an instrument.
func (r *CounterReader) instrument(e *ntconv.Event, _ *role, _ func(*CounterValue)) {
	meter, name, own, meterTags := r.text(iMeter), r.text(iName), r.text(iTags), r.text(iMeterTags)
	version, description := r.text(iVersion), r.text(iDescription)
	r.keep(len(meter) + len(name) + len(own) + len(meterTags) + len(version) + len(description))
	id, _ := r.number(iID)
	r.instruments[instrumentKey{ProcessOf(e), id, meter, name}] = &instrument{
		splitTags(own, '='), splitTags(meterTags, '='), version, description,
	}
}

// metric emits the values of an instrument, with the tags and the interval that earlier events stated.
func (r *CounterReader) metric(e *ntconv.Event, c *role, emit func(*CounterValue)) {
	session := r.text(mSession)
	interval := r.intervals[sessionKey{ProcessOf(e), session}]
	r.value = CounterValue{
		Session:  session,
		Provider: r.text(mMeter), Name: r.text(mName), Unit: r.text(mUnit), Kind: c.kind,
		Interval: interval.end.Sub(interval.begin).Seconds(), Begin: interval.begin, End: interval.end, Tags: r.tagsOf(mTags),
	}
	r.value.Series = r.value.Tags
	id, _ := r.number(mID)
	if known := r.instruments[instrumentKey{ProcessOf(e), id, r.value.Provider, r.value.Name}]; known != nil {
		r.value.Tags = mergeTags(mergeTags(r.value.Tags, known.tags), known.meterTags)
		r.value.Instrument, r.value.Meter = known.tags, known.meterTags
		r.value.Version, r.value.Description = known.version, known.description
	}
	switch c.kind {
	case KindGauge:
		r.putField(StatisticLast, mLast, emit)
	case KindHistogram:
		r.quantiles(emit)
		r.putField(StatisticCount, mCount, emit)
		r.putField(StatisticSum, mSum, emit)
	default:
		r.putField(StatisticRate, mRate, emit)
		r.putField(StatisticTotal, mValue, emit)
	}
}

// putField emits a statistic if the events of the type have its field.
func (r *CounterReader) putField(statistic string, column int, emit func(*CounterValue)) {
	if r.has(column) {
		v, ok := r.number(column)
		r.integer(column)
		r.put(statistic, v, ok, emit)
	}
}

// quantiles emits the quantiles of a histogram, which are one string: 0.5=25;0.95=47;0.99=49.
func (r *CounterReader) quantiles(emit func(*CounterValue)) {
	rest := r.text(mQuantiles)
	for rest != "" {
		var item string
		item, rest, _ = strings.Cut(rest, ";")
		quantile, value, _ := strings.Cut(item, "=")
		statistic, q, ok := percentile(quantile)
		if !ok {
			continue
		}
		r.value.Quantile = q
		v, err := strconv.ParseFloat(value, 64)
		r.put(statistic, v, err == nil, emit)
	}
}

// IsMetricsProblem reports whether events of type t state that a session of metrics lacks values, because of its limits,
// of other sessions or of an error.
func IsMetricsProblem(t *ntconv.Type) bool {
	if t.Provider != metricsProvider {
		return false
	}
	switch t.Name {
	case "Error", "TimeSeriesLimitReached", "HistogramLimitReached", "ObservableInstrumentCallbackError", "MultipleSessionsConfiguredIncorrectlyError":
		return true
	}
	return false // MultipleSessionsNotSupportedError comes even if there is only one session
}
