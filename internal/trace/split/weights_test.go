package split_test

import (
	"fmt"
	"maps"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/profile"
	"github.com/ntconv/ntconv/internal/testing/corpus"
	"github.com/ntconv/ntconv/reader"
	"github.com/ntconv/ntconv/sample"
)

// wall returns the number of samples and the wall time of each thread in ticks.
func wall(t *testing.T, src ntconv.Source) map[string][2]int64 {
	t.Helper()
	p := profile.New(src.Info(), nil, &profile.Options{Kind: sample.Wall})
	for e, err := range ntconv.Events(src) {
		if err != nil {
			break
		}
		p.Add(e)
	}
	sums := map[string][2]int64{}
	for s := range p.Finish().Samples() {
		name := fmt.Sprint(s.Thread.Process.PID, " ", s.Thread.TID, " ", s.Thread.Name)
		sums[name] = [2]int64{sums[name][0] + s.Values[0], sums[name][1] + s.Values[1]}
	}
	return sums
}

// The wall time of each thread in the parts adds up to that in the trace, wherever the trace is divided.
func TestWeightsOfPartsAddUp(t *testing.T) {
	samples := 0
	for _, tr := range corpus.Traces(t) {
		for _, every := range []string{"3ms", "50ms", "20KB", "process", "$event == \"GCStart\"", "$tid", "$cpu", "Type"} {
			open := readTrace(tr.Data, reader.ByTime)
			whole := wall(t, open(t))
			if len(whole) == 0 {
				continue
			}
			samples++
			t.Run(fmt.Sprint(tr.Name, "/", every), func(t *testing.T) {
				parts, _ := divide(t, open, every, reader.ByTime)
				sum := map[string][2]int64{}
				for _, p := range parts {
					for name, v := range wall(t, readTrace(p, reader.ByTime)(t)) {
						sum[name] = [2]int64{sum[name][0] + v[0], sum[name][1] + v[1]}
					}
				}
				if !maps.Equal(sum, whole) {
					for name, v := range whole {
						if sum[name] != v {
							t.Errorf("%d parts: %s: %v, want %v", len(parts), name, sum[name], v)
						}
					}
				}
			})
		}
	}
	if samples == 0 {
		t.Error("no trace has samples")
	}
}
