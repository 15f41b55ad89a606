package samples_test

import (
	"context"
	"fmt"
	"time"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/convert"
	"github.com/ntconv/ntconv/sample"
	"github.com/ntconv/ntconv/samples"
	"github.com/ntconv/ntconv/symbol"
)

// wallTime returns the time in which the threads of a trace were in each method.
func wallTime(ctx context.Context, name string) (map[string]time.Duration, error) {
	src, err := convert.Open(ctx, name, &convert.Options{Symbols: new(symbol.Options)})
	if err != nil {
		return nil, err
	}
	defer src.Close()
	all, times := map[samples.Key]samples.Sample{}, map[samples.Key]time.Duration{}
	r := samples.NewReader(src.Info(), src.Namer(), func(s *samples.Sample) {
		all[s.Key] = *s
		times[s.Key] += s.Duration
	}, &samples.Options{Kinds: []sample.Kind{sample.Wall}})
	for e, err := range ntconv.Events(src) {
		if err != nil {
			return nil, err
		}
		r.Add(e)
	}
	r.Finish()
	methods := map[string]time.Duration{}
	for key, s := range all { // symbols come last
		if s.Stack != nil {
			methods[src.Namer().AppendFrames(nil, s.Process, s.Stack, s.Time)[0].Func.Name] += times[key]
		}
	}
	return methods, nil
}

// Wall time by method, as ntconv top shows it.
func Example() {
	methods, err := wallTime(context.Background(), "../testdata/cpu-env.nettrace.zst")
	fmt.Println(len(methods) > 5, err)
	// Output: true <nil>
}
