package recording

import "github.com/ntconv/ntconv"

// Indices of the columns in eventCounterFields, the fields of the event EventCounters
// (System.Diagnostics.Tracing.CounterPayload and IncrementingCounterPayload).
const (
	ecName = iota
	ecDisplayName
	ecUnits
	ecInterval
	ecMetadata
	ecMean
	ecDeviation
	ecCount
	ecMin
	ecMax
	ecIncrement
	ecRateScale
)

var eventCounterFields = [...]string{
	ecName: "Payload.Name", ecDisplayName: "Payload.DisplayName", ecUnits: "Payload.DisplayUnits", ecInterval: "Payload.IntervalSec",
	ecMetadata: "Payload.Metadata", ecMean: "Payload.Mean", ecDeviation: "Payload.StandardDeviation", ecCount: "Payload.Count",
	ecMin: "Payload.Min", ecMax: "Payload.Max", ecIncrement: "Payload.Increment", ecRateScale: "Payload.DisplayRateTimeScale",
}

// eventCounter reads the values of an event counter. Without a measurement in the interval the event states zeros,
// which are not values.
func (r *CounterReader) eventCounter(e *ntconv.Event, c *role, emit func(*CounterValue)) {
	interval, _ := r.number(ecInterval)
	r.value = CounterValue{
		Provider: e.Type.Provider, Name: r.text(ecName), DisplayName: r.text(ecDisplayName), Unit: r.text(ecUnits), Kind: c.kind,
		Interval: interval, Tags: splitTags(r.text(ecMetadata), ':'),
	}
	if c.kind == KindSum {
		r.value.RateScale = clockSeconds(r.text(ecRateScale))
		v, ok := r.number(ecIncrement)
		r.put(StatisticSum, v, ok, emit)
		return
	}
	count, counted := r.number(ecCount)
	measured := !counted || count > 0
	for _, s := range [...]struct {
		statistic string
		column    int
	}{{StatisticMean, ecMean}, {StatisticDeviation, ecDeviation}, {StatisticMin, ecMin}, {StatisticMax, ecMax}} {
		v, ok := r.number(s.column)
		r.put(s.statistic, v, ok && measured, emit)
	}
	r.put(StatisticCount, count, counted, emit)
}
