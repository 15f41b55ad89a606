package command

import (
	"encoding/json"
	"fmt"
	"io"
	"sync"

	"github.com/ntconv/ntconv/internal/run/pipeline"
	"github.com/spf13/cobra"
)

// openSteps has the steps of all jobs of this process: their memory limit and their slots for conversions are those of the process.
var openSteps = struct {
	sync.Mutex
	byJob map[string]pipeline.Steps
}{byJob: make(map[string]pipeline.Steps)}

// PipelineSteps returns the steps of a job. A process that runs steps, such as a worker of a runner, gets the same steps for equal jobs.
func PipelineSteps(j *pipeline.Job) (pipeline.Steps, error) {
	key, err := json.Marshal(j)
	if err != nil {
		return nil, err
	}
	openSteps.Lock()
	defer openSteps.Unlock()
	if s := openSteps.byJob[string(key)]; s != nil {
		return s, nil
	}
	s, err := newSteps(j)
	if err == nil {
		openSteps.byJob[string(key)] = s
	}
	return s, err
}

// A pipelineCommand is a subcommand of pipeline. A launching process runs it; a process of a step only sets its flags.
type pipelineCommand interface {
	command() *cobra.Command
	steps(*pipeline.Job) (pipeline.Steps, error)
}

func newSteps(j *pipeline.Job) (pipeline.Steps, error) {
	a := newApp(io.Discard, io.Discard)
	var c pipelineCommand
	switch j.Kind {
	case pipeline.Tables:
		c = a.newTablesPipeline()
	case pipeline.Profiles:
		c = a.newProfilesPipeline()
	case pipeline.Regressions:
		c = a.newRegressionsPipeline()
	default:
		return nil, fmt.Errorf("pipeline %s: this release does not have it", j.Kind)
	}
	cmd := c.command()
	if err := setFlags(cmd, j.Flags); err != nil {
		return nil, err
	}
	if cmd.PreRun != nil {
		cmd.PreRun(cmd, nil)
	}
	a.quiet, a.severalOutputs = true, true
	a.repeated, a.piped = repeatedFlags(cmd), cmd.CommandPath()
	a.read.Memory = a.memory.Max
	a.memory.Start() // limits the garbage collector; Check ends conversions
	return c.steps(j)
}

// outcomeOf returns the outcome of an input for the records of a pipeline.
func outcomeOf(o *outcome) *pipeline.Outcome {
	p := &pipeline.Outcome{Input: o.Input, Status: pipeline.Failed, Exit: o.Exit, Reason: o.Error, Events: o.Events, In: storedSize([]string{o.name})}
	switch o.Status {
	case statusAdded, statusConverted:
		p.Status = pipeline.Converted
	case statusIncomplete:
		p.Status = pipeline.Incomplete
	case statusThere:
		p.Status = pipeline.There
	case statusEmpty:
		p.Status = pipeline.Empty
	}
	return p
}
