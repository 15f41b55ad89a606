// Package metrics derives data points, as in OTLP, from the counters of a trace.
//
//   - An instrument of System.Diagnostics.Metrics has the name, unit, description and meter that its events state; its own
//     tags are metadata. A
//     Counter is a cumulative monotonic sum from the first interval of its time series on, an UpDownCounter a cumulative
//     sum, a gauge a gauge, a histogram a summary: .NET records quantiles, count and sum of each interval, but no buckets.
//     A Counter whose runtime states no total is a delta sum.
//   - An event counter has its event source as scope. An IncrementingEventCounter or IncrementingPollingCounter is a
//     monotonic delta sum. A PollingCounter is a gauge. An EventCounter is a summary with minimum and maximum as
//     quantiles 0 and 1; events do not state which of the two they are, so a counter is a gauge until an interval has
//     another number of measurements than one.
//
// Numbers are text in a trace. The values of a time series are integers until one is not.
package metrics

import (
	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/span"
)

// Kind is the type of the data of a metric. The values are the numbers of its fields in metrics.proto.
type Kind uint8

const (
	KindGauge                Kind = 5
	KindSum                  Kind = 7
	KindHistogram            Kind = 9 // of imported metrics only, as the next one
	KindExponentialHistogram Kind = 10
	KindSummary              Kind = 11
)

// Temporality states what the value of a sum covers. The values are those of metrics.proto.
type Temporality int32

const (
	TemporalityUnspecified Temporality = iota
	TemporalityDelta                   // since the previous point
	TemporalityCumulative              // since Point.Start of the first point
)

// A Metric is what the points of a metric have in common. It is comparable.
type Metric struct {
	Name, Description, Unit string
	Kind                    Kind
	Temporality             Temporality // of a sum or histogram
	Monotonic               bool        // of a sum
	Metadata                *Metadata   // nil for none; compared by pointer
}

// Metadata are attributes of a metric: the tags of an instrument. They are immutable.
type Metadata struct{ Attributes []span.Attribute }

// A Quantile is a value that a part of the measurements do not exceed.
type Quantile struct{ Quantile, Value float64 }

// A Number is a value.
type Number struct {
	Integer bool // the value is Int, else Float
	Absent  bool // there is no value
	Int     int64
	Float   float64
}

// A Histogram has what a histogram of either kind has in addition to a summary.
type Histogram struct {
	Has      HasFlags
	Min, Max float64
	Counts   []uint64  // of buckets; of an exponential histogram, those of positive values
	Bounds   []float64 // upper bounds of all buckets but the last one

	// Of exponential histograms.
	Scale          int32
	ZeroCount      uint64
	ZeroThreshold  float64
	Offset         int32
	NegativeOffset int32
	Negative       []uint64
}

// HasFlags state which optional fields a histogram has.
type HasFlags uint8

const (
	HasSum HasFlags = 1 << iota
	HasMin
	HasMax
	HasPositive // the message of positive buckets
	HasNegative
)

// An Exemplar is a measurement of a point.
type Exemplar struct {
	Time uint64 // as Point.Time
	Number
	span.Context
	Attributes []span.Attribute
}

// A Point is one value of a time series. A Point that is passed to a callback, with its slices, is borrowed until the
// callback returns. Strings, Scope, Resource and Process are immutable and may be retained.
type Point struct {
	Metric
	// Start and Time are nanoseconds since 1970-01-01 UTC, modulo 2^64. Start is 0 if it is unknown, and for gauges.
	Start, Time uint64
	Number              // of a gauge or sum
	Count       uint64  // of a summary or histogram
	Sum         float64 // of a summary or histogram
	Quantiles   []Quantile
	Attributes  []span.Attribute

	// The following members are those of imported points.
	Flags     uint32
	Histogram Histogram
	Exemplars []Exemplar

	Scope *span.Scope // never nil
	// Resource describes the program that recorded an imported point. It is nil if only Process is known.
	Resource *span.Resource
	Process  *ntconv.Process
}
