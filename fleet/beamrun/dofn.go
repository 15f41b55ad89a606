package beamrun

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"
	"github.com/ntconv/ntconv/internal/run/pipeline"
)

// Beam finds functions and types of a pipeline by their names in the process of a worker, and requires that they are registered
// before the program begins.
func init() {
	register.DoFn3x1[context.Context, []byte, func([]byte), error](&namesFn{})
	register.DoFn4x1[context.Context, []byte, func(string, []byte), func(string, []byte), error](&mapFn{})
	register.DoFn4x1[context.Context, string, func(*[]byte) bool, func(string, []byte), error](&planFn{})
	register.DoFn4x1[context.Context, string, []byte, func(string, []byte), error](&workFn{})
	register.DoFn4x1[context.Context, string, func(*[]byte) bool, func(string, []byte), error](&reduceFn{})
	register.DoFn3x1[context.Context, string, func(*[]byte) bool, error](&publishFn{})
	register.Emitter1[[]byte]()
	register.Emitter2[string, []byte]()
	register.Iter1[[]byte]()
}

// Counters of a pipeline, which the runners show. An attempt that fails may count, too: the Result of a pipeline is exact.
var (
	countTraces  = beam.NewCounter("ntconv", "traces")
	countEvents  = beam.NewCounter("ntconv", "events")
	countIn      = beam.NewCounter("ntconv", "bytes_in")
	countOut     = beam.NewCounter("ntconv", "bytes_out")
	countLetters = beam.NewCounter("ntconv", "dead_letters")
)

// A step is what all functions of the pipeline have. Its fields are exported because Beam encodes them as JSON.
type step struct {
	Job      []byte // a pipeline.Job
	Attempts int    // how often a step is tried
}

func (s *step) job() (*pipeline.Job, error) {
	j := new(pipeline.Job)
	return j, json.Unmarshal(s.Job, j)
}

// try opens the steps and calls one of them, until it succeeds. do must discard what earlier calls have collected.
func (s *step) try(name string, do func(pipeline.Steps) error) error {
	j, err := s.job()
	if err != nil {
		return err
	}
	steps, err := open(j)
	if err != nil {
		return fmt.Errorf("%s%s: %w%s", errorMark, name, err, errorEnd)
	}
	for range max(s.Attempts, 1) {
		if err = do(steps); err == nil {
			return nil
		}
	}
	return fmt.Errorf("%s%s: %w%s", errorMark, name, err, errorEnd)
}

// An output collects the items of a call, which are emitted if it succeeds.
type output []pipeline.Item

func (o *output) add(i pipeline.Item) { *o = append(*o, i) }

func (o *output) emit(to func(string, []byte)) {
	for _, i := range *o {
		to(i.Key, i.Value)
	}
}

// values returns the values of a key. Each call of the step reads them again, so they stay in memory: they are names of files.
func values(next func(*[]byte) bool) (list [][]byte) {
	var value []byte
	for next(&value) {
		list = append(list, value)
		value = nil
	}
	return list
}

func sequence(list [][]byte) pipeline.Values {
	return func(yield func([]byte) bool) {
		for _, v := range list {
			if !yield(v) {
				return
			}
		}
	}
}

// namesFn reads the names of the inputs.
type namesFn struct{ Step step }

// ProcessElement emits batches of names.
func (f *namesFn) ProcessElement(_ context.Context, _ []byte, emit func([]byte)) error {
	j, err := f.Step.job()
	if err != nil {
		return err
	}
	return j.Batches(func(names []string) { emit(pipeline.Encode(names)) })
}

// mapFn calls Steps.Map.
type mapFn struct{ Step step }

// ProcessElement converts a batch of inputs.
func (f *mapFn) ProcessElement(ctx context.Context, batch []byte, items, records func(string, []byte)) error {
	var names []string
	if err := json.Unmarshal(batch, &names); err != nil {
		return err
	}
	var out output
	var outcomes []*pipeline.Outcome
	err := f.Step.try("convert", func(s pipeline.Steps) error {
		out, outcomes = nil, nil
		return s.Map(names, out.add, func(o *pipeline.Outcome) { outcomes = append(outcomes, o) })
	})
	if err != nil {
		return err
	}
	out.emit(items)
	for _, o := range outcomes {
		records("", (&pipeline.Record{Outcome: o}).Encode())
		countTraces.Inc(ctx, 1)
		countEvents.Inc(ctx, o.Events)
		countIn.Inc(ctx, o.In)
		if o.Status == pipeline.Failed {
			countLetters.Inc(ctx, 1)
		}
	}
	return nil
}

// planFn calls Steps.Plan.
type planFn struct{ Step step }

// ProcessElement divides the items of a key.
func (f *planFn) ProcessElement(_ context.Context, key string, next func(*[]byte) bool, emit func(string, []byte)) error {
	list := values(next)
	var out output
	err := f.Step.try("plan", func(s pipeline.Steps) error {
		out = nil
		return s.Plan(key, sequence(list), out.add)
	})
	if err == nil {
		out.emit(emit)
	}
	return err
}

// workFn calls Steps.Work.
type workFn struct{ Step step }

// ProcessElement joins the items of a bucket.
func (f *workFn) ProcessElement(_ context.Context, key string, value []byte, emit func(string, []byte)) error {
	var out output
	err := f.Step.try("join", func(s pipeline.Steps) error {
		out = nil
		return s.Work(pipeline.Item{Key: key, Value: value}, out.add)
	})
	if err == nil {
		out.emit(emit)
	}
	return err
}

// reduceFn calls Steps.Reduce.
type reduceFn struct{ Step step }

// ProcessElement completes the outputs of a key.
func (f *reduceFn) ProcessElement(ctx context.Context, key string, next func(*[]byte) bool, emit func(string, []byte)) error {
	list := values(next)
	var made []*pipeline.Made
	err := f.Step.try("complete", func(s pipeline.Steps) error {
		made = nil
		return s.Reduce(key, sequence(list), func(m *pipeline.Made) { made = append(made, m) })
	})
	if err != nil {
		return err
	}
	for _, m := range made {
		countOut.Inc(ctx, m.Bytes)
		emit("", (&pipeline.Record{Made: m}).Encode())
	}
	return nil
}

// publishFn calls Steps.Publish.
type publishFn struct{ Step step }

// ProcessElement writes the result of the pipeline.
func (f *publishFn) ProcessElement(_ context.Context, _ string, next func(*[]byte) bool) error {
	list := values(next)
	return f.Step.try("publish", func(s pipeline.Steps) error { return s.Publish(sequence(list)) })
}
