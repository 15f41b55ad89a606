package metrics

import (
	"fmt"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/events/recording"
)

// An event counter is a gauge until an interval has another number of measurements than one, also none; then it stays a
// summary.
func TestGaugeOrSummary(t *testing.T) {
	for name, c := range map[string]struct {
		counts []float64
		want   string
	}{
		"polling":         {[]float64{1, 1, 1}, "5 5 5 "},
		"several":         {[]float64{3, 1, 0, 2}, "11 11 11 "},
		"one at first":    {[]float64{1, 2, 1}, "5 11 11 "},
		"none at first":   {[]float64{0, 1, 2}, "11 11 "},
		"none in between": {[]float64{1, 0, 1}, "5 11 "},
	} {
		got := ""
		r := NewReader(&ntconv.Info{Clock: ntconv.Clock{Freq: 1e9}}, func(p *Point) { got += fmt.Sprint(p.Kind, " ") }, nil)
		for _, n := range c.counts {
			r.event, r.begun = &ntconv.Event{Kind: ntconv.KindEvent, Type: new(ntconv.Type)}, false
			for statistic, value := range map[string]float64{
				recording.StatisticMean: 4, recording.StatisticMin: 4, recording.StatisticMax: 4, recording.StatisticDeviation: 0, recording.StatisticCount: n,
			} {
				ok := n > 0 || statistic == recording.StatisticCount
				if !ok {
					value = 0
				}
				r.value(&recording.CounterValue{Provider: "p", Name: "c", Kind: recording.KindMean, Statistic: statistic, Value: value, OK: ok})
			}
			r.finish()
		}
		if got != c.want {
			t.Errorf("%s: kinds %s, want %s", name, got, c.want)
		}
	}
}
