package pipeline

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"slices"
	"strings"
	"sync"
)

// A Kind says what a pipeline makes of traces.
type Kind string

// Kinds of pipelines. They are the names of subcommands.
const (
	Tables      Kind = "tables"      // the tables of a dataset
	Profiles    Kind = "pprof"       // one merged profile per service and day
	Regressions Kind = "regressions" // a table of changes between builds
)

// A Job describes a pipeline. Every process that runs a step of it gets a copy.
type Job struct {
	Kind   Kind   `json:"kind"`
	Flags  []Flag `json:"flags,omitempty"` // of the conversion
	Output string `json:"output"`
	// Work is a directory for files that steps hand over. All processes must be able to read and write it, and Output.
	Work   string `json:"work"`
	Inputs int    `json:"inputs"`
	Force  bool   `json:"force,omitempty"` // replace an existing Output
}

// A Flag is a flag of the command line.
type Flag struct {
	Name   string   `json:"name"`
	Values []string `json:"values"`
	List   bool     `json:"list,omitempty"` // the flag has any number of values
}

// An Item is what one step hands over to the next.
type Item struct {
	Key   string
	Value []byte
}

// Values are the values of a key, in any order. They may have a value several times.
type Values = iter.Seq[[]byte]

// Steps are the steps of a pipeline. Methods are safe for concurrent use. Their errors are those of the output or of the machine,
// after which the runner calls the method again.
type Steps interface {
	// Map converts inputs. It calls note for each of them, and emit for those with a result, from one goroutine.
	Map(names []string, emit func(Item), note func(*Outcome)) error
	Plan(key string, values Values, emit func(Item)) error
	Work(bucket Item, emit func(Item)) error
	Reduce(key string, values Values, emit func(*Made)) error
	Publish(records Values) error
}

// Open returns the steps of a job, in the process that runs them.
type Open func(*Job) (Steps, error)

// RunOptions are options of a Runner.
type RunOptions struct {
	Args []string  // flags of the runner, as --name=value
	Log  io.Writer // receives the messages of the runner; nil discards them
}

// A Runner runs pipelines.
type Runner interface {
	// Check returns an error if flags of the runner are wrong, or lack one that it needs.
	Check(args []string) error
	// Run runs the steps of a job, and returns when the last one has ended.
	Run(ctx context.Context, j *Job, o *RunOptions) error
	// Remote reports whether the steps run in other processes, whose directory is another one.
	Remote() bool
}

// ErrNoRunner means that this program does not have a runner.
var ErrNoRunner = errors.New("no such runner")

var (
	runnersMu sync.Mutex
	runners   = make(map[string]Runner)
)

// Register makes a runner available by its name. A later runner of the same name replaces it.
func Register(name string, r Runner) {
	runnersMu.Lock()
	defer runnersMu.Unlock()
	runners[name] = r
}

// Prism is the runner that needs no installation.
const Prism = "prism"

// FleetRunners are the names of the runners of ntconv-fleet.
func FleetRunners() []string { return []string{Prism, "flink", "spark", "dataflow"} }

// Runners returns the names of all runners.
func Runners() []string {
	runnersMu.Lock()
	defer runnersMu.Unlock()
	var names []string
	for name := range runners {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// Find returns a runner. The error wraps ErrNoRunner.
func Find(name string) (Runner, error) {
	runnersMu.Lock()
	defer runnersMu.Unlock()
	if r := runners[name]; r != nil {
		return r, nil
	}
	return nil, fmt.Errorf("%s: %w", name, ErrNoRunner)
}

// NamesName is the name of the file of Job.Work with the names of the inputs, one per line.
const NamesName = "inputs"

// maxBatch is the maximum number of inputs of a call of Map, and minBatches the number of batches up to which batches are smaller.
const (
	maxBatch   = 32
	minBatches = 64
)

// Batches calls emit with the names of the inputs in batches for Map. The inputs are those of the file in Job.Work.
func (j *Job) Batches(emit func([]string)) error {
	f, err := os.Open(j.file(NamesName))
	if err != nil {
		return err
	}
	defer f.Close()
	size := min(max(j.Inputs/minBatches, 1), maxBatch)
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	var batch []string
	for lines.Scan() {
		if batch = append(batch, lines.Text()); len(batch) == size {
			emit(batch)
			batch = nil
		}
	}
	if len(batch) > 0 {
		emit(batch)
	}
	return lines.Err()
}

// WriteNames writes the file with the names of the inputs.
func (j *Job) WriteNames(names []string) error {
	for _, name := range names {
		if strings.ContainsAny(name, "\n\r") {
			return fmt.Errorf("%q: a name with a line break", name)
		}
	}
	j.Inputs = len(names)
	return replaceFile(j.file(NamesName), []byte(strings.Join(names, "\n")+"\n"))
}

// ID returns the ID of a pipeline with these inputs: 16 hexadecimal digits. The same pipeline has the same ID in every run.
func (j *Job) ID(names []string) string {
	h := sha256.New()
	_ = json.NewEncoder(h).Encode([]any{j.Kind, j.Flags, j.Output}) // hashes return no errors
	for _, name := range names {
		_, _ = fmt.Fprintln(h, name)
	}
	return hex.EncodeToString(h.Sum(nil))[:idDigits]
}

// WorkID returns the ID of the pipeline, which Job.Work ends with.
func (j *Job) WorkID() string { return j.Work[max(0, len(j.Work)-idDigits):] }

// idDigits is the number of hexadecimal digits of an ID.
const idDigits = 16
