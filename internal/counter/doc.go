// Package counter reads the values of counters from events: event counters of .NET event sources, and instruments of
// System.Diagnostics.Metrics. Sources of the values:
//
//   - EventCounters, an event of any event source with a structure Payload (System.Diagnostics.Tracing.CounterGroup): an EventCounter or
//     PollingCounter has a Mean, an IncrementingEventCounter or IncrementingPollingCounter an Increment.
//   - CounterRateValuePublished, UpDownCounterRateValuePublished, GaugeValuePublished and HistogramValuePublished of the event source
//     System.Diagnostics.Metrics (System.Diagnostics.Metrics.MetricsEventSource). Numbers are text in the invariant culture, empty if
//     there was no measurement. BeginInstrumentReporting describes the instrument, and CollectionStart the interval.
//
// It knows nothing of files: an event becomes values, whichever source it came from.
package counter
