package recording_test

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/events/recording"
	"github.com/ntconv/ntconv/internal/testing/corpus"
	"github.com/ntconv/ntconv/ntconvtest"
	"github.com/ntconv/ntconv/reader"
)

// values returns all values of a trace as text, with the time in seconds since the start as the last column.
func values(tb testing.TB, data []byte) (list []recording.CounterValue) {
	tb.Helper()
	src, err := reader.NewBytes(data, &reader.Options{Order: reader.ByTime})
	if err != nil {
		tb.Fatal(err)
	}
	r := recording.NewCounterReader()
	for e := range ntconv.Events(ntconvtest.Poison(src)) {
		r.Read(e, func(v *recording.CounterValue) { list = append(list, *v) })
	}
	return list
}

func pick(list []recording.CounterValue, provider, name, statistic string) (out []recording.CounterValue) {
	for _, v := range list {
		if v.Provider == provider && v.Name == name && v.Statistic == statistic {
			out = append(out, v)
		}
	}
	return out
}

func sum(list []recording.CounterValue) (total float64) {
	for _, v := range list {
		total += v.Value
	}
	return total
}

func last(tb testing.TB, list []recording.CounterValue) recording.CounterValue {
	tb.Helper()
	if len(list) == 0 {
		tb.Fatal("no values")
	}
	return list[len(list)-1]
}

// A truth is what the recorded program has counted itself.
type truth struct {
	Counters struct {
		Latency  distribution `json:"latency (EventCounter)"`
		Sold     float64      `json:"sold (IncrementingEventCounter) total"`
		Queue    float64      `json:"queue (PollingCounter)"`
		Requests float64      `json:"requests (IncrementingPollingCounter) total"`
	} `json:"Shop-Counters"`
	Meter struct {
		Orders  float64      `json:"orders (Counter<long>) total"`
		Carts   float64      `json:"carts (UpDownCounter<int>) final"`
		Price   distribution `json:"price (Histogram<double>)"`
		Shelf   float64      `json:"shelf"`
		Balance float64      `json:"balance"`
	} `json:"Shop.Meter"`
}

type distribution struct{ Count, Sum, Min, Max float64 }

func truthOf(tb testing.TB, path string) (t truth) {
	tb.Helper()
	data, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(data, &t)
	}
	if err != nil {
		tb.Fatal(err)
	}
	return t
}

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-9*math.Max(math.Abs(a), math.Abs(b)) }

// The sums of event counters equal what the program counted, except for the last interval, which no event covers.
func TestEventCountersOfRecording(t *testing.T) {
	list := values(t, corpus.Trace(t, "counters").Data)
	want := truthOf(t, corpus.Path("counters.truth.json")).Counters
	shop := func(name, statistic string) []recording.CounterValue {
		return pick(list, "Shop-Counters", name, statistic)
	}

	count, means := shop("latency", recording.StatisticCount), shop("latency", recording.StatisticMean)
	low, high := shop("latency", recording.StatisticMin), shop("latency", recording.StatisticMax)
	total, measured := 0.0, sum(count)
	lowest, highest := math.Inf(1), math.Inf(-1)
	for i := range count {
		if !means[i].OK {
			continue
		}
		total += count[i].Value * means[i].Value
		lowest, highest = min(lowest, low[i].Value), max(highest, high[i].Value)
	}
	if lowest != want.Latency.Min || highest != want.Latency.Max {
		t.Errorf("latency from %v to %v, want %v", lowest, highest, want.Latency)
	}
	if measured < want.Latency.Count*0.6 || measured > want.Latency.Count || total > want.Latency.Sum {
		t.Errorf("latency: %v measurements add up to %v, want at most %v", measured, total, want.Latency)
	}
	if sold := sum(shop("sold", recording.StatisticSum)); sold != 2*measured { // two per measurement of latency
		t.Errorf("sold %v in %v measurements, of %v", sold, measured, want.Sold)
	}
	if queue := last(t, shop("queue", recording.StatisticMean)); queue.Value != want.Queue || queue.Unit != "carts" || queue.DisplayName != "" ||
		!slices.Equal(queue.Tags, []recording.CounterTag{{Key: "shop", Value: "north"}}) {
		t.Errorf("queue %+v", queue)
	}
	if requests := sum(shop("requests", recording.StatisticSum)); requests == 0 || requests > want.Requests {
		t.Errorf("requests %v, want at most %v", requests, want.Requests)
	}
	gen0 := last(t, pick(list, "System.Runtime", "gen-0-gc-count", recording.StatisticSum))
	if gen0.Kind != recording.KindSum || gen0.RateScale != 60 || gen0.DisplayName != "Gen 0 GC Count" || gen0.Interval < 0.9 || gen0.Interval > 1.1 {
		t.Errorf("gen-0-gc-count %+v", gen0)
	}
}

// Three intervals of 1 s of the instruments cover the whole program, except for the last order, which came after them.
func TestMetricsOfRecording(t *testing.T) {
	list := values(t, corpus.SharedTrace(t, "own/metrics").Data)
	want := truthOf(t, corpus.Shared(t, "data", "own", "metrics.truth.json")).Meter
	shop := func(name, statistic string) []recording.CounterValue {
		return pick(list, "Shop.Meter", name, statistic)
	}

	totals := map[string]float64{}
	for _, v := range shop("orders", recording.StatisticTotal) {
		totals[fmt.Sprint(v.Tags)] = v.Value
	}
	all := 0.0
	for _, n := range totals {
		all += n
	}
	rates := sum(shop("orders", recording.StatisticRate))
	if len(totals) != 6 || all != want.Orders-1 || rates != all {
		t.Errorf("orders: %v in total, %v by intervals, %d time series; want %v", all, rates, len(totals), want.Orders)
	}
	order := last(t, shop("orders", recording.StatisticTotal))
	keys := ""
	for _, tag := range order.Tags {
		keys += tag.Key + " "
	}
	if order.Kind != recording.KindCounter || order.Unit != "{order}" || order.Interval != 1 || keys != "colour n inst site " ||
		order.Tags[2].Value != "tag" || order.Tags[3].Value != "north" {
		t.Errorf("orders %+v", order)
	}
	count, total := sum(shop("price", recording.StatisticCount)), sum(shop("price", recording.StatisticSum))
	if count < want.Price.Count-1 || count > want.Price.Count || total > want.Price.Sum || total < want.Price.Sum-want.Price.Max {
		t.Errorf("price: %v measurements, %v in total, want %+v", count, total, want.Price)
	}
	var quantiles []float64
	for _, name := range []string{"p50", "p95", "p99"} {
		quantiles = append(quantiles, shop("price", name)[0].Value)
	}
	if !slices.Equal(quantiles, []float64{25, 47, 49}) {
		t.Errorf("quantiles %v", quantiles)
	}
	if v := last(t, shop("shelf", recording.StatisticLast)); v.Value != want.Shelf || v.Kind != recording.KindGauge {
		t.Errorf("shelf %+v", v)
	}
	if v := last(t, shop("balance", recording.StatisticTotal)); !near(v.Value, want.Balance) || v.Kind != recording.KindUpDownCounter {
		t.Errorf("balance %+v", v)
	}
	if v := shop("balance", recording.StatisticRate)[0]; v.OK || v.Value != 0 {
		t.Errorf("the first rate of an observable instrument is empty, got %+v", v)
	}
	if v := last(t, shop("carts", recording.StatisticTotal)); v.Value != want.Carts {
		t.Errorf("carts %+v", v)
	}
}

// A session that exceeds its limits reports two of six time series and no histogram.
func TestMetricsWithLimits(t *testing.T) {
	list := values(t, corpus.SharedTrace(t, "own/metrics-limits").Data)
	series := map[string]bool{}
	for _, v := range pick(list, "Shop.Meter", "orders", recording.StatisticTotal) {
		series[fmt.Sprint(v.Tags)] = true
	}
	if len(series) != 2 || len(list) != 8 {
		t.Errorf("%d time series and %d values, want 2 and 8", len(series), len(list))
	}
}

// In every recording, all counter events have values, and no other events do.
func TestAllRecordings(t *testing.T) {
	for _, f := range corpus.SharedTraces(t) {
		src, err := reader.NewBytes(f.Data, nil)
		if err != nil {
			t.Fatal(f.Name, err)
		}
		r := recording.NewCounterReader()
		for e, err := range ntconv.Events(src) {
			if err != nil {
				break // some recordings are truncated
			}
			n := 0
			r.Read(e, func(v *recording.CounterValue) {
				n++
				if v.Name == "" || v.Provider == "" || v.Kind == "" || v.Statistic == "" {
					t.Errorf("%s: byte %d: %+v", f.Name, e.Offset, v)
				}
			})
			is := e.Kind == ntconv.KindEvent && (e.Type.Name == "EventCounters" ||
				e.Type.Provider == "System.Diagnostics.Metrics" && strings.HasSuffix(e.Type.Name, "ValuePublished"))
			if is != (n > 0) {
				t.Errorf("%s: byte %d: event %s: %d values", f.Name, e.Offset, e.Type.Name, n)
			}
		}
	}
}

func TestReadDoesNotAllocateForOtherEvents(t *testing.T) {
	types := []*ntconv.Type{{Provider: "A", ID: 1}, {Provider: "B", ID: 2}, {Provider: "C", ID: 3}}
	r := recording.NewCounterReader()
	e := &ntconv.Event{Kind: ntconv.KindEvent, Thread: &ntconv.Thread{}}
	emit := func(*recording.CounterValue) { t.Error("a value") }
	round := func() {
		for _, typ := range types {
			e.Type = typ
			r.Read(e, emit)
		}
	}
	round()
	if n := testing.AllocsPerRun(10, round); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
