// Package recording reads what the events of a trace state about the recording itself: which events are facts and when
// they were recorded, its processes, and the values of its counters. It depends on no file format.
//
// # Facts
//
// A part of a recording, which filter or split wrote, also holds copies of events from elsewhere, and statements of
// ntconv. [IsFact] separates them from what happened while the trace was recorded, and [Range] gives the time of that.
//
// # Processes
//
// [ProcessReader] collects command line, operating system, architecture and runtime of a process. From these it derives
// the service name of OpenTelemetry resources.
//
// # Counters
//
// [CounterReader] reads the values of event counters of .NET event sources, and of instruments of
// System.Diagnostics.Metrics. These events hold values:
//
//   - EventCounters, an event of any event source with a structure Payload (System.Diagnostics.Tracing.CounterGroup).
//     An EventCounter or PollingCounter has a Mean, an IncrementingEventCounter or IncrementingPollingCounter an
//     Increment.
//   - CounterRateValuePublished, UpDownCounterRateValuePublished, GaugeValuePublished and HistogramValuePublished of
//     the event source System.Diagnostics.Metrics (System.Diagnostics.Metrics.MetricsEventSource). Numbers are strings
//     in the invariant culture, empty if there was no measurement. BeginInstrumentReporting describes the instrument,
//     CollectionStart the interval.
package recording
