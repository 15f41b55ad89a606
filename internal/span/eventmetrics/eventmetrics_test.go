package eventmetrics_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/profile"
	"github.com/ntconv/ntconv/internal/span/eventmetrics"
	"github.com/ntconv/ntconv/internal/span/metrics"
	"github.com/ntconv/ntconv/internal/testing/corpus"
	"github.com/ntconv/ntconv/reader"
	"github.com/ntconv/ntconv/sample"
)

// TestEventMetrics compares what events are counted as with the totals of profiles of the same traces.
func TestEventMetrics(t *testing.T) {
	types := map[string]struct {
		kind  sample.Kind
		value string
		scale float64
	}{
		"dotnet.gc.collections": {sample.GC, "collections", 1}, "dotnet.gc.pause.time": {sample.GC, "pause", 1e9},
		"dotnet.jit.compiled_methods": {sample.JIT, "methods", 1}, "dotnet.monitor.lock_contentions": {sample.Contention, "contentions", 1},
		"dotnet.exceptions": {sample.Exceptions, "exceptions", 1},
	}
	seen := map[string]bool{}
	for _, name := range []string{"own/alloc-gccollect", "own/exceptions", "own/jit", "own/startup-most", "own/waits", "own/alloc-verbose"} {
		f := corpus.SharedTrace(t, name)
		src, err := reader.NewBytes(f.Data, &reader.Options{Order: reader.ByTime})
		if err != nil {
			t.Fatal(err)
		}
		latest, points := map[string]float64{}, 0
		last := map[string]metrics.Point{}
		r := eventmetrics.NewReader(src.Info(), func(p *metrics.Point) {
			key := fmt.Sprint(p.Name, p.Attributes)
			if before, ok := last[key]; ok && (p.Time <= before.Time || number(p) < number(&before) || p.Start != before.Start) {
				t.Errorf("%s: %s: %+v after %+v", name, key, *p, before)
			}
			latest[p.Name] += number(p) - func() float64 { b := last[key]; return number(&b) }()
			last[key] = *p
			points++
		}, nil)
		build := profile.New(src.Info(), nil, &profile.Options{Each: []sample.Kind{sample.GC, sample.JIT, sample.Contention, sample.Exceptions}})
		for e, err := range ntconv.Events(src) {
			if err != nil {
				t.Fatal(err)
			}
			r.Add(e)
			build.Watch(e)
			build.Add(e)
		}
		r.Finish(func(*ntconv.Process, string) bool { return false })
		totals := map[string]float64{}
		for p := range build.FinishEach() {
			for s := range p.Samples() {
				for i, v := range s.Values {
					totals[p.Kind.String()+p.Types[i].Type] += float64(v)
				}
			}
		}
		for metric, of := range types {
			want := totals[of.kind.String()+of.value] / of.scale
			if got := latest[metric]; math.Abs(got-want) > 1e-6 {
				t.Errorf("%s: %s is %v, want %v", name, metric, got, want)
			} else if want > 0 {
				seen[metric] = true
			}
		}
		r = eventmetrics.NewReader(src.Info(), func(*metrics.Point) { t.Errorf("%s: a point of a metric that a counter measures", name) }, nil)
		r.Finish(func(*ntconv.Process, string) bool { return true })
	}
	for metric := range types {
		if !seen[metric] {
			t.Errorf("no trace has %s", metric)
		}
	}
}

func number(p *metrics.Point) float64 {
	if p.Integer {
		return float64(p.Int)
	}
	return p.Float
}
