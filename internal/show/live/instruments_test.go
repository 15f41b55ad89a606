package live_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/show/live"
	"github.com/ntconv/ntconv/internal/span"
	"github.com/ntconv/ntconv/internal/span/metrics"
	"github.com/ntconv/ntconv/internal/testing/corpus"
	"github.com/ntconv/ntconv/ntconvtest"
	"github.com/ntconv/ntconv/reader"
)

// The rows of a trace are the latest points of its time series.
func TestInstruments(t *testing.T) {
	for _, name := range []string{"counters", "metrics"} {
		f := corpus.File{}
		if name == "counters" {
			f = corpus.Trace(t, name)
		} else {
			f = corpus.SharedTrace(t, "own/"+name)
		}
		src, err := reader.NewBytes(f.Data, &reader.Options{Order: reader.ByTime})
		if err != nil {
			t.Fatal(err)
		}
		table, latest := live.NewInstruments(), map[string]string{}
		r := metrics.NewReader(src.Info(), func(p *metrics.Point) {
			s := table.Add(p)
			latest[s.Scope+"/"+s.Name+"{"+s.Label()+"}"] = fmt.Sprint(p.Number, p.Count, p.Quantiles)
		}, nil)
		for e, err := range ntconv.Events(ntconvtest.Poison(src)) {
			if err != nil {
				t.Fatal(err)
			}
			r.Add(e)
		}
		rows := table.Rows("")
		if len(rows) != len(latest) || len(rows) < 5 || table.Len() != len(rows) {
			t.Errorf("%s: %d rows of %d series", name, len(rows), len(latest))
		}
		rates := 0
		for _, s := range rows {
			if got := fmt.Sprint(s.Number, s.Count, s.Quantiles); got != latest[s.Scope+"/"+s.Name+"{"+s.Label()+"}"] {
				t.Errorf("%s: %s: %s", name, s.Name, got)
			}
			if s.HasRate {
				rates++
			}
			if s.Value() == "" || strings.ContainsAny(s.Value()+s.RateText()+s.QuantileText(), "\n\x1b") {
				t.Errorf("%s: %s: %q", name, s.Name, s.Value())
			}
		}
		if rates == 0 {
			t.Errorf("%s: no rates", name)
		}
	}
}

// A rate needs two points of a total, or one of an increment, and none follows from a total that was set back.
func TestRates(t *testing.T) {
	table := live.NewInstruments()
	add := func(second uint64, value int64, of metrics.Temporality) *live.Series {
		return table.Add(&metrics.Point{
			Metric: metrics.Metric{Name: fmt.Sprint("sum", of), Kind: metrics.KindSum, Monotonic: true, Temporality: of},
			Start:  1e18 + (second-2)*1e9, Time: 1e18 + second*1e9, Number: metrics.Number{Integer: true, Int: value}, Scope: &span.Scope{Name: "m"},
		})
	}
	for _, c := range []struct {
		second uint64
		value  int64
		of     metrics.Temporality
		want   string
	}{
		{2, 10, metrics.TemporalityCumulative, ""}, {4, 16, metrics.TemporalityCumulative, "3/s"}, {6, 4, metrics.TemporalityCumulative, ""},
		{8, 4, metrics.TemporalityCumulative, "0/s"}, {2, 10, metrics.TemporalityDelta, "5/s"},
	} {
		if got := add(c.second, c.value, c.of).RateText(); got != c.want {
			t.Errorf("%+v: %q", c, got)
		}
	}
	if s := table.Rows(fmt.Sprint("M SUM", metrics.TemporalityCumulative))[0]; table.Stale(s) {
		t.Errorf("%+v is stale", s)
	}
	if s := table.Rows(fmt.Sprint("m sum", metrics.TemporalityDelta))[0]; !table.Stale(s) {
		t.Errorf("%+v is not stale", s)
	}
}

func TestAmount(t *testing.T) {
	for want, c := range map[string]struct {
		x    float64
		unit string
	}{
		"1.50 KiB": {1536, "By"}, "250ms": {0.25, "s"}, "3": {3, "{request}"}, "2 EUR": {2, "EUR"}, "50%": {50, "%"}, "7": {7, "1"}, `1 a\x1bb`: {1, "a\x1bb"},
	} {
		if got := live.Amount(c.x, c.unit); got != want && c.unit != "a\x1bb" || strings.Contains(got, "\x1b") {
			t.Errorf("%v %q: got %q, want %q", c.x, c.unit, got, want)
		}
	}
}
