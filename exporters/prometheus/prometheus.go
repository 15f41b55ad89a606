// Package prometheus writes the metrics of a trace as OpenMetrics text with the times of the recording, which
// promtool tsdb create-blocks-from openmetrics adds to a Prometheus server. docs/prometheus.md specifies the output.
//
// The data points are those of exporters/otlp: counters and instruments, and on request events of the runtime. The format
// keeps the points of a metric together, so the sink writes them in Close; its memory grows with the number of points.
// Equal events give equal output.
package prometheus

import (
	"io"
	"maps"
	"slices"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/events/recording"
	"github.com/ntconv/ntconv/internal/span/eventmetrics"
	"github.com/ntconv/ntconv/internal/span/metrics"
)

// Options configure a Sink. The zero value selects the defaults.
type Options struct {
	// SemanticMetrics names event counters of the runtime by the semantic conventions of OpenTelemetry.
	SemanticMetrics bool
	// MetricsFromEvents counts events of the runtime in metrics that no counter of the trace measures.
	MetricsFromEvents bool
	// ServiceName is the label job of all points; "" means the service.name of the process, from its command line.
	ServiceName string
	// Report counts points that the format cannot hold (ntconv.CodeNotCarried); may be nil.
	Report *ntconv.Report
}

// A Sink collects the data points of a trace and writes them in Close. A Sink that is not closed has written nothing. It
// is not safe for concurrent use.
type Sink struct {
	w         io.Writer
	o         Options
	dated     bool
	metrics   *metrics.Reader
	counted   *eventmetrics.Reader // nil if events are not counted
	processes recording.Tally
	families  map[string]*family
	skipped   map[string]uint64 // points that are not written, by the reason
	summary   Summary
}

// A Summary describes the output of a Sink.
type Summary struct {
	Points   int64  // written
	Series   int64  // time series: distinct labels of a metric
	Metrics  int64  // families
	Undated  int64  // of Points: the trace has no date, so their times count from 1970-01-01
	Problems string // what the recording lacks, such as a limit of time series; "" if nothing is known
}

// New returns a sink that writes to w in Close. It does not close w. info must not be nil; nil o selects the defaults.
// Events must come in time order.
func New(w io.Writer, info *ntconv.Info, o *Options) *Sink {
	s := &Sink{w: w, dated: !info.Clock.Wall.IsZero(), families: make(map[string]*family), skipped: make(map[string]uint64)}
	if o != nil {
		s.o = *o
	}
	s.metrics = metrics.NewReader(info, s.add, &metrics.Options{Semantic: s.o.SemanticMetrics})
	if s.o.MetricsFromEvents {
		s.counted = eventmetrics.NewReader(info, s.add, s.o.Report)
	}
	return s
}

// Write implements ntconv.Sink. An event without a type is an error.
func (s *Sink) Write(e *ntconv.Event) error {
	if err := e.Check(); err != nil {
		return err
	}
	s.processes.Observe(e)
	s.metrics.Add(e)
	if s.counted != nil {
		s.counted.Add(e)
	}
	return nil
}

// Watch implements ntconv.Watcher: it learns what events that are not selected state about processes.
func (s *Sink) Watch(e *ntconv.Event) {
	if e.Kind == ntconv.KindEvent && recording.Describes(e.Type) {
		s.processes.Observe(e)
	}
}

// Close writes the text.
func (s *Sink) Close() error {
	if s.counted != nil {
		s.counted.Finish(s.metrics.Measured)
	}
	err := s.write()
	for _, reason := range slices.Sorted(maps.Keys(s.skipped)) {
		s.o.Report.Note(ntconv.CodeNotCarried, s.skipped[reason], -1, reason)
	}
	s.summary.Problems = s.metrics.Problems()
	return err
}

// Summary describes the output after Close.
func (s *Sink) Summary() Summary { return s.summary }

var (
	_ ntconv.Sink    = (*Sink)(nil)
	_ ntconv.Watcher = (*Sink)(nil)
)
