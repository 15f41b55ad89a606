// Package beamrun runs the pipelines of ntconv on Apache Beam: in process with Prism, and with Flink, Spark and Dataflow.
//
// A pipeline has the same graph whatever it makes: the steps of package pipeline, with the groupings and shuffles of Beam between them.
// Elements are pairs of a key and bytes, which only the steps interpret.
package beamrun

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/core/runtime/exec/optimized" // faster calls of registered functions
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem/gcs"           // staging of Dataflow
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem/local"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/log"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/options/jobopts"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/runners/dataflow" // registers itself
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/runners/flink"    // registers itself
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/runners/prism"    // registers itself
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/runners/spark"    // registers itself
	"github.com/ntconv/ntconv/internal/run/pipeline"
)

// prismAttempts is how often a step is tried with Prism, which fails a pipeline when one bundle fails. The other runners repeat
// bundles themselves: Dataflow four times.
const prismAttempts = 4

// A runner is a runner of Beam.
type runner struct{ name string }

// open opens the steps of jobs. Register sets it before any step runs.
var open pipeline.Open

// Register registers the runners, whose steps open returns. If the process was started as the worker of a runner, Register runs the
// steps that this runner requests, and does not return.
func Register(openSteps pipeline.Open) {
	open = openSteps
	for _, name := range pipeline.FleetRunners() {
		pipeline.Register(name, runner{name})
	}
	if slices.ContainsFunc(os.Args[1:], func(arg string) bool {
		return strings.TrimLeft(arg, "-") == "worker=true" || strings.TrimLeft(arg, "-") == "worker"
	}) {
		flag.Parse()
		beam.Init()
	}
}

// initBeam makes Beam ready to build pipelines, quietly.
var initBeam = sync.OnceFunc(func() {
	log.LogLevel = "error"
	beam.Init()
})

// Remote implements pipeline.Runner.
func (r runner) Remote() bool { return r.name != pipeline.Prism }

// required are flags that runners need.
var required = map[string][]string{
	"flink": {"endpoint"}, "spark": {"endpoint"}, "dataflow": {"project", "region", "staging_location"},
}

// Check implements pipeline.Runner. It sets the flags of Beam, whose values are those of the process.
func (r runner) Check(args []string) error {
	if err := setFlags(args); err != nil {
		return err
	}
	for _, name := range required[r.name] {
		if flag.Lookup(name).Value.String() == "" {
			return fmt.Errorf("the runner needs a value: want --%s=VALUE after --", name)
		}
	}
	if !r.Remote() || *jobopts.WorkerBinary != "" || jobopts.IsLoopback() {
		return nil
	}
	// Beam would compile the program, for which it needs its sources and Go.
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		return errors.New("workers run this program for Linux on amd64: want --worker_binary=FILE after --, built with GOOS=linux GOARCH=amd64")
	}
	own, err := os.Executable()
	*jobopts.WorkerBinary = own
	return err
}

// Run implements pipeline.Runner.
func (r runner) Run(ctx context.Context, j *pipeline.Job, o *pipeline.RunOptions) error {
	if err := r.Check(o.Args); err != nil {
		return err
	}
	initBeam()
	r.logTo(o.Log)
	encoded, err := json.Marshal(j)
	if err != nil {
		return err
	}
	base := step{Job: encoded, Attempts: 1}
	if r.name == pipeline.Prism {
		base.Attempts = prismAttempts
	}
	_, err = beam.Run(ctx, r.name, graph(base))
	return plain(err)
}

// setFlags sets flags of Beam.
func setFlags(args []string) error {
	for _, arg := range args {
		name, value, ok := strings.Cut(strings.TrimLeft(arg, "-"), "=")
		if !ok {
			value = "true"
		}
		if flag.Lookup(name) == nil {
			return fmt.Errorf("--%s: Apache Beam does not have this flag", name)
		}
		if err := flag.Set(name, value); err != nil {
			return fmt.Errorf("--%s: %w", name, err)
		}
	}
	return nil
}

// logTo sets where Beam logs: Prism nothing, because its errors are returned, and other runners what becomes of the job.
func (r runner) logTo(w io.Writer) {
	if w == nil || r.name == pipeline.Prism {
		w = io.Discard
	}
	slog.SetDefault(slog.New(slog.NewTextHandler(w, nil)))
}

// plain returns the message of a step from an error of a runner, which adds traces of calls to it.
func plain(err error) error {
	if err == nil {
		return nil
	}
	text := err.Error()
	if i := strings.LastIndex(text, errorMark); i >= 0 {
		text = text[i+len(errorMark):]
		if end := strings.Index(text, errorEnd); end >= 0 {
			text = text[:end]
		}
		return errors.New(text)
	}
	return err
}

// errorMark and errorEnd enclose the message of a step in an error.
const (
	errorMark = "ntconv["
	errorEnd  = "]ntconv"
)

// graph returns the pipeline.
func graph(base step) *beam.Pipeline {
	p, root := beam.NewPipelineWithRoot()
	batches := beam.Reshuffle(root, beam.ParDo(root.Scope("Names"), &namesFn{base}, beam.Impulse(root)))
	items, records := beam.ParDo2(root.Scope("Map"), &mapFn{base}, batches)
	buckets := beam.Reshuffle(root, beam.ParDo(root.Scope("Plan"), &planFn{base}, beam.GroupByKey(root, items)))
	parts := beam.ParDo(root.Scope("Work"), &workFn{base}, buckets)
	made := beam.ParDo(root.Scope("Reduce"), &reduceFn{base}, beam.GroupByKey(root, parts))
	beam.ParDo0(root.Scope("Publish"), &publishFn{base}, beam.GroupByKey(root, beam.Flatten(root, records, made)))
	return p
}
