package profile_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/profile"
	"github.com/ntconv/ntconv/internal/profile/grouping"
	"github.com/ntconv/ntconv/sample"
)

// BenchmarkSamples resolves distinct stacks of random frames, without and with rules that group frames: a rule that
// changes nothing, one that no stack needs, and one that changes every stack.
func BenchmarkSamples(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 2))
	var functions []*ntconv.Function
	for i := range 3000 {
		functions = append(functions, &ntconv.Function{Name: fmt.Sprintf("System.X%d.Method%d()", i%50, i)})
	}
	th := &ntconv.Thread{TID: 1, Process: shop}
	none := &grouping.Rules{}
	if err := none.AddFold("no such function"); err != nil {
		b.Fatal(err)
	}
	for _, c := range []struct {
		name  string
		rules *grouping.Rules
	}{{"plain", nil}, {"fold", none}, {"native", &grouping.Rules{Native: true}}, {"mine", &grouping.Rules{JustMyCode: true}}} {
		b.Run(c.name, func(b *testing.B) {
			var namer ntconv.Namer = new(ntconv.NoNames)
			if c.rules != nil {
				namer = c.rules.Namer(namer)
			}
			p := profile.New(testInfo(), namer, &profile.Options{Kind: sample.CPU})
			n := 0
			for i := range 20000 {
				s := &ntconv.Stack{}
				for range 40 {
					s.Frames = append(s.Frames, ntconv.Frame{Func: functions[rng.IntN(len(functions))]})
					n++
				}
				p.Add(cpuEvent(th, ntconv.Ticks(i), 1, s))
			}
			r := p.Finish()
			for b.Loop() {
				for range r.Samples() {
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/frame")
		})
	}
}
