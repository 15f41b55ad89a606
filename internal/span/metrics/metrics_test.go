package metrics_test

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	metricspb "go.opentelemetry.io/proto/otlp/metrics/v1"
	"google.golang.org/protobuf/proto"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/span/metrics"
	"github.com/ntconv/ntconv/internal/testing/corpus"
	"github.com/ntconv/ntconv/ntconvtest"
	"github.com/ntconv/ntconv/reader"
)

// points returns copies of the points of a trace, and the reader.
func points(tb testing.TB, data []byte, o *metrics.Options) (list []metrics.Point, r *metrics.Reader) {
	tb.Helper()
	src, err := reader.NewBytes(data, &reader.Options{Order: reader.ByTime})
	if err != nil {
		tb.Fatal(err)
	}
	r = metrics.NewReader(src.Info(), func(p *metrics.Point) {
		own := *p
		own.Quantiles, own.Attributes = slices.Clone(p.Quantiles), slices.Clone(p.Attributes)
		list = append(list, own)
	}, o)
	for e, err := range ntconv.Events(ntconvtest.Poison(src)) {
		if err != nil {
			tb.Fatal(err)
		}
		r.Add(e)
	}
	return list, r
}

// tags returns the attributes of a point, sorted.
func tags(p *metrics.Point) string {
	var list []string
	for _, a := range p.Attributes {
		list = append(list, fmt.Sprintf("%s=%s", a.Key, a.Value.AppendText(nil)))
	}
	slices.Sort(list)
	return strings.Join(list, ",")
}

func number(p *metrics.Point) float64 {
	if p.Integer {
		return float64(p.Int)
	}
	return p.Float
}

// A sdkSeries is a time series as the SDK of OpenTelemetry sent it.
type sdkSeries struct {
	metric  *metricspb.Metric
	scope   *commonpb.InstrumentationScope
	values  []float64
	integer bool // the values are integers
	types   map[string]bool
}

// sdk returns the time series that the SDK of the program in a recording sent.
func sdk(t *testing.T, name string) map[string]*sdkSeries {
	t.Helper()
	b, err := os.ReadFile(corpus.Shared(t, "data", "otel", name+".otlp.binpb"))
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]*sdkSeries{}
	for len(b) > 0 {
		n := binary.BigEndian.Uint32(b)
		var request metricspb.MetricsData // has the same encoding as a request
		if err := proto.Unmarshal(b[4:4+n], &request); err != nil {
			t.Fatal(err)
		}
		b = b[4+n:]
		for _, rm := range request.ResourceMetrics {
			for _, sm := range rm.ScopeMetrics {
				for _, m := range sm.Metrics {
					for _, p := range slices.Concat(m.GetSum().GetDataPoints(), m.GetGauge().GetDataPoints()) {
						s := add(all, sm.Scope, m, p.Attributes)
						v := p.GetAsDouble()
						if x, ok := p.Value.(*metricspb.NumberDataPoint_AsInt); ok {
							v, s.integer = float64(x.AsInt), true
						}
						s.values = append(s.values, v)
					}
					for _, p := range m.GetHistogram().GetDataPoints() {
						s := add(all, sm.Scope, m, p.Attributes)
						s.values = append(s.values, p.GetSum())
					}
				}
			}
		}
	}
	return all
}

// add returns the series of a point.
func add(all map[string]*sdkSeries, scope *commonpb.InstrumentationScope, m *metricspb.Metric, attributes []*commonpb.KeyValue) *sdkSeries {
	var list []string
	types := map[string]bool{}
	for _, a := range attributes {
		text := ""
		switch v := a.Value.Value.(type) {
		case *commonpb.AnyValue_StringValue:
			text = v.StringValue
		case *commonpb.AnyValue_IntValue:
			text, types[a.Key] = fmt.Sprint(v.IntValue), true
		case *commonpb.AnyValue_BoolValue:
			text, types[a.Key] = map[bool]string{true: "True", false: "False"}[v.BoolValue], true
		default:
			text, types[a.Key] = fmt.Sprint(a.Value), true
		}
		list = append(list, a.Key+"="+text)
	}
	slices.Sort(list)
	key := scope.Name + "/" + m.Name + "{" + strings.Join(list, ",") + "}"
	if all[key] == nil {
		all[key] = &sdkSeries{metric: m, scope: scope, types: types}
	}
	return all[key]
}

// TestAgainstSDK compares the metrics of a recording with those that the program's SDK sent at the same time: the same
// time series with the same names, units, descriptions, kinds and meters. Values are measured at other times, so those of
// cumulative sums lie between neighbors. reasons has what must differ.
func TestAgainstSDK(t *testing.T) {
	want := sdk(t, "otel-metrics")
	list, _ := points(t, corpus.SharedTrace(t, "otel/otel-metrics").Data, nil)
	got := map[string][]metrics.Point{}
	for _, p := range list {
		key := p.Scope.Name + "/" + p.Name + "{" + tags(&p) + "}"
		got[key] = append(got[key], p)
	}
	reasons := map[string]int{}
	for key, s := range want {
		own := got[key]
		if split := key[:strings.IndexByte(key, '{')] + "{b=c,shelf=a}"; own == nil && strings.HasSuffix(key, "{shelf=a,b=c}") {
			reasons["tags are text: a separator in a value splits it"]++
			own = got[split]
			delete(got, split)
		}
		if own == nil {
			t.Errorf("no %s: %v", key, s.values)
			continue
		}
		p, m := own[len(own)-1], s.metric
		for i := range own {
			if q := &own[i]; i > 0 && q.Time <= own[i-1].Time || q.Kind == metrics.KindSum && q.Start != p.Start || q.Start > q.Time || (q.Start == 0) != (q.Kind == metrics.KindGauge) {
				t.Errorf("%s: point %d from %d to %d", key, i, q.Start, q.Time)
			}
		}
		if tagged := p.Metadata != nil; tagged != (m.Name == "orders") {
			t.Errorf("%s: metadata %v", key, p.Metadata)
		} else if tagged {
			reasons["the SDK omits the tags of instruments"]++
		}
		if p.Description != m.Description || p.Unit != m.Unit || p.Scope.Version != s.scope.Version || len(p.Scope.Attributes) != len(s.scope.Attributes) {
			t.Errorf("%s: %+v, scope %+v; want %v of %v", key, p.Metric, p.Scope, m, s.scope)
		}
		switch {
		case m.GetSum() != nil:
			if p.Kind != metrics.KindSum || int32(p.Temporality) != int32(m.GetSum().AggregationTemporality) || p.Monotonic != m.GetSum().IsMonotonic {
				t.Errorf("%s: %+v, want %v", key, p.Metric, m)
			}
			if !p.Monotonic {
				checkRange(t, key, own, s)
			}
			if last := s.values[len(s.values)-1]; p.Monotonic && (number(&p) > last || number(&p) < s.values[0]-1) {
				t.Errorf("%s: %v, the SDK sent %v", key, number(&p), s.values)
			}
		case m.GetGauge() != nil:
			if p.Kind != metrics.KindGauge {
				t.Errorf("%s: %+v", key, p.Metric)
			}
			checkRange(t, key, own, s)
		case m.GetHistogram() != nil:
			reasons["histograms are summaries: .NET states quantiles, but no buckets"]++
			sum := 0.0
			for _, p := range own {
				sum += p.Sum
			}
			if last := s.values[len(s.values)-1]; p.Kind != metrics.KindSummary || len(p.Quantiles) != 3 || sum > last || sum < last/2 {
				t.Errorf("%s: %+v, sum %v, want %v", key, p, sum, last)
			}
		}
		if len(s.types) > 0 {
			reasons["tags are text"]++
		}
		if m.GetHistogram() == nil && p.Integer != s.integer {
			if s.integer || slices.ContainsFunc(s.values, func(v float64) bool { return v != math.Trunc(v) }) {
				t.Errorf("%s: integer is %v, values %v", key, p.Integer, s.values)
			}
			reasons["numbers are text: an instrument of floating point with whole values has integers"]++
		}
		delete(got, key)
	}
	for key := range got {
		t.Errorf("the SDK did not send %s", key)
	}
	if len(want) < 25 {
		t.Errorf("%d time series", len(want))
	}
	t.Log(len(want), "time series;", slices.Sorted(maps.Keys(reasons)))
}

// checkRange checks that the values of a series that may shrink lie among those that the SDK sent at other times.
func checkRange(t *testing.T, key string, own []metrics.Point, s *sdkSeries) {
	t.Helper()
	low, high := slices.Min(s.values), slices.Max(s.values)
	slack := 0.1*math.Max(math.Abs(low), math.Abs(high)) + (high - low)
	for i := range own {
		if v := number(&own[i]); v < low-slack || v > high+slack {
			t.Errorf("%s: %v is not near %v", key, v, s.values)
		}
	}
}

// TestEventCounters compares the points of event counters with what the program counted.
func TestEventCounters(t *testing.T) {
	var truth struct {
		Counters struct {
			Latency struct{ Count, Sum, Min, Max float64 } `json:"latency (EventCounter)"`
			Queue   float64                                `json:"queue (PollingCounter)"`
		} `json:"Shop-Counters"`
	}
	b, err := os.ReadFile(corpus.Path("counters.truth.json"))
	if err == nil {
		err = json.Unmarshal(b, &truth)
	}
	if err != nil {
		t.Fatal(err)
	}
	list, _ := points(t, corpus.Trace(t, "counters").Data, nil)
	count, sum, kinds := 0.0, 0.0, map[string]string{}
	low, high := math.Inf(1), math.Inf(-1)
	for _, p := range list {
		kinds[p.Scope.Name+"/"+p.Name] += fmt.Sprintf("%d%v ", p.Kind, p.Temporality)
		if p.Scope.Name != "Shop-Counters" {
			continue
		}
		switch p.Name {
		case "latency":
			count, sum = count+float64(p.Count), sum+p.Sum
			low, high = min(low, p.Quantiles[0].Value), max(high, p.Quantiles[1].Value)
		case "queue":
			if number(&p) != truth.Counters.Queue || p.Unit != "carts" || tags(&p) != "shop=north" || p.Start != 0 {
				t.Errorf("queue %+v", p)
			}
		case "sold", "requests":
			if !p.Monotonic || p.Time-p.Start < 0.9e9 || p.Time-p.Start > 1.1e9 {
				t.Errorf("%s %+v: an interval of 1 s is wanted", p.Name, p)
			}
		}
	}
	want := truth.Counters.Latency
	if count < want.Count*0.6 || count > want.Count || sum > want.Sum || low != want.Min || high != want.Max {
		t.Errorf("latency: %v measurements, sum %v, %v to %v; want %+v", count, sum, low, high, want)
	}
	for name, want := range map[string]string{"Shop-Counters/queue": "50 ", "Shop-Counters/latency": "110 ", "Shop-Counters/sold": "71 ", "Shop-Counters/requests": "71 "} {
		if got := kinds[name]; strings.ReplaceAll(got, want, "") != "" || got == "" {
			t.Errorf("%s: kinds %s", name, got)
		}
	}
}

// TestSemanticNames checks that event counters of the runtime become metrics that the meter of the runtime has, with its
// units.
func TestSemanticNames(t *testing.T) {
	instruments := map[string]string{}
	list, _ := points(t, corpus.SharedTrace(t, "own/metrics").Data, nil)
	for _, p := range list {
		instruments[p.Name] = fmt.Sprint(p.Unit, p.Kind)
	}
	list, _ = points(t, corpus.Trace(t, "counters").Data, &metrics.Options{Semantic: true})
	n := 0
	for _, p := range list {
		if strings.HasPrefix(p.Name, "dotnet.") {
			if n++; instruments[p.Name] != "" && instruments[p.Name] != fmt.Sprint(p.Unit, p.Kind) { // no exception was thrown there
				t.Errorf("%s has unit and kind %s%v, the meter %s", p.Name, p.Unit, p.Kind, instruments[p.Name])
			}
		}
	}
	if n < 15 {
		t.Errorf("%d points with names of the conventions", n)
	}
}

// TestOtherSession reads values that were collected for two sessions: each is one point.
func TestOtherSession(t *testing.T) {
	f := corpus.SharedTrace(t, "own/metrics")
	want, _ := points(t, f.Data, nil)
	src, err := reader.NewBytes(f.Data, &reader.Options{Order: reader.ByTime})
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	got := metrics.NewReader(src.Info(), func(*metrics.Point) { n++ }, nil)
	changed := 0
	for e, err := range ntconv.Events(src) {
		if err != nil {
			t.Fatal(err)
		}
		got.Add(e)
		if e.Kind != ntconv.KindEvent || e.Type.Provider != "System.Diagnostics.Metrics" || !strings.HasSuffix(e.Type.Name, "Published") || e.Type.Name == "InstrumentPublished" {
			continue
		}
		other := e.Clone() // the same value for another session: the payload begins with its ID in UTF-16
		other.Payload[0]++
		got.Add(other)
		changed++
	}
	if problem := fmt.Sprintf("values of another session (%d)", changed); n != len(want) || changed < 50 || !strings.Contains(got.Problems(), problem) {
		t.Errorf("%d points, want %d; %s, want %s", n, len(want), got.Problems(), problem)
	}
}

// TestProblems checks that a session that exceeds its limits is noticed.
func TestProblems(t *testing.T) {
	_, r := points(t, corpus.SharedTrace(t, "own/metrics-limits").Data, nil)
	if got := r.Problems(); got != "HistogramLimitReached (1), TimeSeriesLimitReached (1)" {
		t.Error(got)
	}
	if _, r := points(t, corpus.SharedTrace(t, "own/metrics").Data, nil); r.Problems() != "" {
		t.Error(r.Problems())
	}
}
