package formats

import (
	"errors"
	"fmt"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/exporters/otlp"
	"github.com/ntconv/ntconv/exporters/prometheus"
	"github.com/ntconv/ntconv/internal/data/message"
	"github.com/ntconv/ntconv/internal/files/fileio"
	"github.com/ntconv/ntconv/reader"
	"github.com/spf13/pflag"
)

// prometheusFormat returns the row of OpenMetrics.
func prometheusFormat() *Format {
	return &Format{
		Name: "prometheus",
		Exts: []string{".prom", ".openmetrics"},
		Doc:  "counters and instruments as OpenMetrics text with the times of the recording, for Prometheus",
		Out: &Out{
			Doc:          "the counters and instruments of a trace as OpenMetrics text with the times of the recording, for Prometheus",
			Compressions: compressionExts(),
			Needs:        Needs{Order: reader.ByTime}, // a sum must not decrease
			Advice:       signalAdvice[otlp.Metrics],
			Bind:         bindPrometheus,
			Examples: []string{
				"add the counters of a recording to the data of a Prometheus server",
				"ntconv to prometheus trace.nettrace && promtool tsdb create-blocks-from openmetrics trace.prom data/",
				"count garbage collections and exceptions of a trace without counters",
				"ntconv to prometheus --metrics-from-events trace.nettrace -o -",
			},
		},
	}
}

const (
	flagSemanticMetrics   = "semantic-metrics"
	flagMetricsFromEvents = "metrics-from-events"
)

// bindMetrics defines the flags for which metrics an output has.
func bindMetrics(flags *pflag.FlagSet, semantic, fromEvents *bool) {
	flags.BoolVar(semantic, flagSemanticMetrics, false, "name event counters of the runtime by the semantic conventions of "+
		"OpenTelemetry, such as dotnet.exceptions")
	flags.BoolVar(fromEvents, flagMetricsFromEvents, false, "count garbage collections, compilations, waits for locks and "+
		"exceptions in metrics of the semantic conventions, if no counter of the trace measures them")
}

func bindPrometheus(flags *pflag.FlagSet) Settings {
	o := new(prometheus.Options)
	bindMetrics(flags, &o.SemanticMetrics, &o.MetricsFromEvents)
	flags.StringVar(&o.ServiceName, flagServiceName, "", "`name` of the service, the label job (default: from the command line of each process)")
	return func(out *Output) {
		out.Create = func(files *fileio.Outputs, info *ntconv.Info, t *Target) (Sink, error) {
			w, finish, err := createCompressed(files)
			if err != nil {
				return nil, err
			}
			own := *o
			own.Report = t.Report
			return &prometheusSink{prometheus.New(w, info, &own), finish}, nil
		}
	}
}

// A prometheusSink writes OpenMetrics.
type prometheusSink struct {
	*prometheus.Sink
	finish func() error
}

// Close also completes the compression.
func (s *prometheusSink) Close() error { return errors.Join(s.Sink.Close(), s.finish()) }

// Result implements Sink.
func (s *prometheusSink) Result() Result {
	sum := s.Summary()
	r := &prometheusResult{made: made{Items: sum.Points, Unit: otlp.Metrics.Item()}, Series: sum.Series, Metrics: sum.Metrics}
	if sum.Undated > 0 {
		r.Remark(message.Group(sum.Undated) + " without a date, so their times count from 1970-01-01; set --" + FlagStart)
	}
	if sum.Problems != "" {
		r.Remark("the recording lacks metrics: " + sum.Problems)
	}
	return r
}

// A prometheusResult is the result of an output of OpenMetrics.
type prometheusResult struct {
	made
	Metrics int64 `json:"metrics"`
	Series  int64 `json:"series"`
}

// Line implements Result.
func (r *prometheusResult) Line(read Read) string {
	return fmt.Sprintf("%s of %s in %s from %s", message.Count(r.Items, r.Unit), message.Count(r.Series, "time series", "time series"),
		message.Count(r.Metrics, "metric"), read.Line())
}

var (
	_ Sink           = (*prometheusSink)(nil)
	_ ntconv.Watcher = (*prometheusSink)(nil)
)
