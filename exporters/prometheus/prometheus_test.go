package prometheus_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/convert"
	"github.com/ntconv/ntconv/exporters/prometheus"
	"github.com/ntconv/ntconv/internal/testing/corpus"
)

var update = flag.Bool("update", false, "write the expected outputs")

// text returns the output for an input, and what is reported.
func text(t *testing.T, name string, o prometheus.Options) (string, prometheus.Summary, *ntconv.Report) {
	t.Helper()
	src, err := convert.Open(t.Context(), name, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	var b bytes.Buffer
	o.Report = new(ntconv.Report)
	sink := prometheus.New(&b, src.Info(), &o)
	_, err = ntconv.Copy(sink, src)
	if err = errors.Join(err, sink.Close()); err != nil {
		t.Fatal(err)
	}
	return b.String(), sink.Summary(), o.Report
}

// Every kind of metric, with names, labels and values that Prometheus does not have. promtool accepts the expected
// output.
func TestKinds(t *testing.T) {
	for _, c := range []struct {
		input, want string
		o           prometheus.Options
		summary     prometheus.Summary
		skipped     uint64
	}{
		{"testdata/kinds.otlp.jsonl", "testdata/kinds.prom", prometheus.Options{}, prometheus.Summary{Points: 11, Series: 7, Metrics: 7}, 4},
		{"testdata/kinds.otlp.jsonl", "testdata/job.prom", prometheus.Options{ServiceName: "other"}, prometheus.Summary{Points: 11, Series: 7, Metrics: 7}, 4},
		{corpus.Path("counters.nettrace.zst"), "testdata/counters.prom", prometheus.Options{SemanticMetrics: true}, prometheus.Summary{Points: 93, Series: 31, Metrics: 27}, 0},
	} {
		got, sum, report := text(t, c.input, c.o)
		if *update {
			if err := os.WriteFile(c.want, []byte(got), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		if want := string(corpus.Read(t, c.want)); got != want {
			t.Errorf("%s: got\n%s\nwant\n%s", c.want, got, want)
		}
		if n := report.Count(ntconv.CodeNotCarried); sum != c.summary || n != c.skipped {
			t.Errorf("%s: summary %+v, %d not carried, want %+v, %d", c.want, sum, n, c.summary, c.skipped)
		}
	}
}

// Events are counted if no counter measures them.
func TestFromEvents(t *testing.T) {
	name := corpus.Path("jit.nettrace.zst")
	if got, _, _ := text(t, name, prometheus.Options{}); got != "# EOF\n" {
		t.Errorf("without metrics: %s", got)
	}
	got, sum, _ := text(t, name, prometheus.Options{MetricsFromEvents: true})
	for _, want := range []string{"dotnet_jit_compiled_methods_total{", "dotnet_jit_compilation_time_seconds_total{"} {
		if !strings.Contains(got, "\n"+want) {
			t.Errorf("no %s in %+v\n%s", want, sum, got)
		}
	}
}

// A failed write is an error, and so is an event without a type.
func TestErrors(t *testing.T) {
	full := errors.New("full")
	if err := prometheus.New(failing{full}, new(ntconv.Info), nil).Close(); !errors.Is(err, full) {
		t.Error(err)
	}
	if err := prometheus.New(io.Discard, new(ntconv.Info), nil).Write(&ntconv.Event{}); !errors.Is(err, ntconv.ErrNoType) {
		t.Error(err)
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

func ExampleNew() {
	src, err := convert.Open(context.Background(), "testdata/kinds.otlp.jsonl", nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer src.Close()
	sink := prometheus.New(io.Discard, src.Info(), nil)
	_, err = ntconv.Copy(sink, src)
	fmt.Println(errors.Join(err, sink.Close()), sink.Summary().Series, "time series")
	// Output: <nil> 7 time series
}
