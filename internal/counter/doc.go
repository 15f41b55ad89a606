// Package counter reads the values of counters from events: event counters of .NET event sources, and instruments of
// System.Diagnostics.Metrics. These events hold values:
//
//   - EventCounters, an event of any event source with a structure Payload (System.Diagnostics.Tracing.CounterGroup).
//     An EventCounter or PollingCounter has a Mean, an IncrementingEventCounter or IncrementingPollingCounter an
//     Increment.
//   - CounterRateValuePublished, UpDownCounterRateValuePublished, GaugeValuePublished and HistogramValuePublished of
//     the event source System.Diagnostics.Metrics (System.Diagnostics.Metrics.MetricsEventSource). Numbers are strings
//     in the invariant culture, empty if there was no measurement. BeginInstrumentReporting describes the instrument,
//     CollectionStart the interval.
//
// The package depends on no file format: it converts events of any source to values.
package counter
