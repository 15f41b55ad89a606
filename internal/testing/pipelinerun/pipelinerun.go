// Package pipelinerun runs pipelines in tests: in this process, with steps that fail after their work is done, and that are repeated.
package pipelinerun

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/ntconv/ntconv/internal/run/pipeline"
)

// ErrInjected is the error of steps that fail.
var ErrInjected = errors.New("injected failure of a step")

// Faults makes steps fail, as a bundle of a runner fails: after the step has done its work, whose results are lost. Other calls are
// made twice, as by a worker that was taken for dead. It is safe for concurrent use.
type Faults struct {
	Rate  float64 // probability of a failure, and of a second call
	Seed  uint64
	Calls atomic.Int64 // of steps
	Count atomic.Int64 // of failures

	mu  sync.Mutex
	rng *rand.Rand
}

// draw returns true with the probability Rate.
func (f *Faults) draw() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.rng == nil {
		f.rng = rand.New(rand.NewPCG(f.Seed, 1))
	}
	return f.rng.Float64() < f.Rate
}

// Wrap returns an Open whose steps fail.
func (f *Faults) Wrap(open pipeline.Open) pipeline.Open {
	return func(j *pipeline.Job) (pipeline.Steps, error) {
		s, err := open(j)
		return &faulty{s, f}, err
	}
}

type faulty struct {
	steps pipeline.Steps
	*Faults
}

// call calls a step once or twice, and may lose its result.
func (f *faulty) call(step func() error) error {
	f.Calls.Add(1)
	err := step()
	if err == nil && f.draw() {
		f.Count.Add(1)
		return ErrInjected
	}
	return err
}

// again does the work of a step a second time, and drops its results.
func (f *faulty) again(step func() error) error {
	if f.draw() {
		return step()
	}
	return nil
}

func drop(pipeline.Item)      {}
func dropMade(*pipeline.Made) {}

func (f *faulty) Map(names []string, emit func(pipeline.Item), note func(*pipeline.Outcome)) error {
	err := f.again(func() error { return f.steps.Map(names, drop, func(*pipeline.Outcome) {}) })
	return errors.Join(err, f.call(func() error { return f.steps.Map(names, emit, note) }))
}

func (f *faulty) Plan(key string, values pipeline.Values, emit func(pipeline.Item)) error {
	return f.call(func() error { return f.steps.Plan(key, values, emit) })
}

func (f *faulty) Work(bucket pipeline.Item, emit func(pipeline.Item)) error {
	err := f.again(func() error { return f.steps.Work(bucket, drop) })
	return errors.Join(err, f.call(func() error { return f.steps.Work(bucket, emit) }))
}

func (f *faulty) Reduce(key string, values pipeline.Values, emit func(*pipeline.Made)) error {
	err := f.again(func() error { return f.steps.Reduce(key, values, dropMade) })
	return errors.Join(err, f.call(func() error { return f.steps.Reduce(key, values, emit) }))
}

func (f *faulty) Publish(records pipeline.Values) error {
	return f.call(func() error { return f.steps.Publish(records) })
}

// Attempts is how often Local tries a step.
const Attempts = 20

// Local is a runner that calls the steps in this process, and repeats those that fail. Values of a key have a random order.
type Local struct{ Open pipeline.Open }

// Check implements pipeline.Runner. Local has no flags.
func (Local) Check(args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("%s: no such flag", args[0])
	}
	return nil
}

// Remote implements pipeline.Runner.
func (Local) Remote() bool { return false }

// attempt calls a step until it succeeds.
func attempt(step func() error) (err error) {
	for range Attempts {
		if err = step(); err == nil {
			return nil
		}
	}
	return fmt.Errorf("failed %d times: %w", Attempts, err)
}

// A grouped collection is the values by key.
type grouped map[string][][]byte

func (g grouped) add(i pipeline.Item) { g[i.Key] = append(g[i.Key], i.Value) }

// each calls a function for every key.
func (g grouped) each(do func(key string, values pipeline.Values) error) error {
	for _, key := range slices.Sorted(maps.Keys(g)) {
		list := g[key]
		rand.Shuffle(len(list), func(i, k int) { list[i], list[k] = list[k], list[i] })
		if err := attempt(func() error { return do(key, slices.Values(list)) }); err != nil {
			return err
		}
	}
	return nil
}

// Run implements pipeline.Runner.
func (l Local) Run(_ context.Context, j *pipeline.Job, _ *pipeline.RunOptions) error {
	s, err := l.Open(j)
	if err != nil {
		return err
	}
	items, parts, records := grouped{}, grouped{}, grouped{}
	var batches [][]string
	if err := j.Batches(func(names []string) { batches = append(batches, names) }); err != nil {
		return err
	}
	for _, names := range batches {
		var out []pipeline.Item
		var notes []*pipeline.Outcome
		err := attempt(func() error {
			out, notes = nil, nil
			return s.Map(names, func(i pipeline.Item) { out = append(out, i) }, func(o *pipeline.Outcome) { notes = append(notes, o) })
		})
		if err != nil {
			return err
		}
		for _, i := range out {
			items.add(i)
		}
		for _, o := range notes {
			records.add(pipeline.Item{Value: (&pipeline.Record{Outcome: o}).Encode()})
		}
	}
	err = items.each(func(key string, values pipeline.Values) error {
		var buckets []pipeline.Item
		if err := s.Plan(key, values, func(i pipeline.Item) { buckets = append(buckets, i) }); err != nil {
			return err
		}
		for _, b := range buckets {
			var out []pipeline.Item
			err := attempt(func() error {
				out = nil
				return s.Work(b, func(i pipeline.Item) { out = append(out, i) })
			})
			if err != nil {
				return err
			}
			for _, i := range out {
				parts.add(i)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	err = parts.each(func(key string, values pipeline.Values) error {
		var made []*pipeline.Made
		if err := s.Reduce(key, values, func(m *pipeline.Made) { made = append(made, m) }); err != nil {
			return err
		}
		for _, m := range made {
			records.add(pipeline.Item{Value: (&pipeline.Record{Made: m}).Encode()})
		}
		return nil
	})
	if err != nil {
		return err
	}
	return records.each(func(_ string, values pipeline.Values) error { return s.Publish(values) })
}
