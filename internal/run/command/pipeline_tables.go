package command

import (
	"cmp"
	"errors"
	"io/fs"
	"sync"
	"time"

	"github.com/ntconv/ntconv/internal/data/message"
	"github.com/ntconv/ntconv/internal/files/fileio"
	"github.com/ntconv/ntconv/internal/run/formats"
	"github.com/ntconv/ntconv/internal/run/job"
	"github.com/ntconv/ntconv/internal/run/pass"
	"github.com/ntconv/ntconv/internal/run/pipeline"
	"github.com/ntconv/ntconv/internal/tables/dataset"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// A tablesPipeline is ntconv pipeline tables: ntconv to parquet --dataset, with the conversions in the steps of a pipeline.
type tablesPipeline struct {
	app        *app
	cmd        *cobra.Command
	flags      pipelineFlags
	conversion conversion
	collection collection
}

func (a *app) newTablesPipeline() *tablesPipeline {
	p := &tablesPipeline{app: a, conversion: conversion{Job: job.Job{To: formats.Tables()}}}
	p.collection.inputFlags = &p.flags.inputFlags
	p.cmd = &cobra.Command{
		Use:   "tables IN... --dataset DIR",
		Short: "Add traces to a dataset",
		Long: "Add traces to a dataset, as ntconv to parquet --dataset does, with the same flags and the same tables. The traces appear in the\n" +
			"dataset at the end, in one commit per 10,000 traces. DIR must be a directory that all workers see.",
		Example: examples(
			"all traces of a directory", "ntconv-fleet pipeline tables --dataset warehouse traces/",
			"a list of traces, with the reasons of those that cannot be read",
			"ntconv-fleet pipeline tables --dataset warehouse --files-from list.txt --dead-letters bad.jsonl",
		),
		Args:              p.flags.anyInputs,
		ValidArgsFunction: anyCompletion,
		RunE:              p.run,
	}
	return a.withPipelineFlags(p)
}

// withPipelineFlags defines the flags.
func (a *app) withPipelineFlags(p *tablesPipeline) *tablesPipeline {
	a.withFlags(p.cmd, func() {
		p.flags.bind(p.cmd, &a.force, "file of --"+flagDeadLetters)
		addGroup(p.cmd, groupOwn, func(flags *pflag.FlagSet) {
			p.conversion.bind(flags)
			p.collection.bind(flags)
		})
		a.addInputFlags(p.cmd)
		p.collection.complete(p.cmd)
		showOrder(p.cmd, formats.OrderName(p.conversion.To.Out.Needs.Order))
	})
	return p
}

func (p *tablesPipeline) command() *cobra.Command { return p.cmd }

// run launches the pipeline.
func (p *tablesPipeline) run(cmd *cobra.Command, args []string) error {
	a := p.app
	if p.collection.dir == "" {
		return failf(exitUsage, "no dataset given: want --%s DIR", flagDataset)
	}
	if err := p.collection.check(cmd, &p.conversion); err != nil {
		return err
	}
	if err := a.prepare(cmd, &p.conversion); err != nil { // report errors of flags once, not for each input
		return err
	}
	l, err := p.flags.start(cmd, pipeline.Tables, string(p.collection.dir), args)
	if err != nil {
		return err
	}
	l.to, p.collection.dir = p.conversion.To.Name, fileName(l.job.Output)
	set, err := p.collection.open()
	if err == nil && !set.Exists() {
		if err = a.someExists(l); err == nil {
			err = p.collection.create(set)
		}
	}
	if err != nil {
		return err
	}
	space, err := set.Workspace(l.job.ID(l.names))
	if err != nil {
		return fail(exitOutput, err)
	}
	release, err := space.Lock()
	if errors.Is(err, dataset.ErrBusy) {
		return failf(exitIncomplete, "%s: the same pipeline is running; wait until it has ended", set.Dir())
	}
	if err != nil {
		return fail(exitOutput, err)
	}
	defer release()
	l.job.Work = space.Dir()
	result, err := a.launch(l)
	if err != nil {
		return err
	}
	if err := space.Remove(); err != nil {
		return fail(exitOutput, err)
	}
	return l.verdict(result)
}

// someExists returns the error of the first input if none of them exists. Workers may see others than this machine.
func (a *app) someExists(l *launch) error {
	var first error
	for _, name := range l.names {
		in, err := a.forInput().open([]string{name}, true)
		if err == nil {
			in.Close()
		}
		if !errors.Is(err, fs.ErrNotExist) || l.runner.Remote() {
			return nil
		}
		first = cmp.Or(first, err)
	}
	return first
}

// steps implements pipelineCommand.
func (p *tablesPipeline) steps(j *pipeline.Job) (pipeline.Steps, error) {
	a := p.app
	p.collection.dir = fileName(j.Output)
	if err := p.collection.check(p.cmd, &p.conversion); err != nil {
		return nil, err
	}
	if err := a.prepare(p.cmd, &p.conversion); err != nil {
		return nil, err
	}
	set, err := dataset.Open(j.Output)
	if err != nil {
		return nil, err
	}
	space, err := set.Workspace(j.WorkID())
	if err != nil {
		return nil, err
	}
	a.begin(&pass.Summary{Input: j.Output, To: p.conversion.To.Name, Output: set.Dir()})
	w := &tableWorker{space: space, failed: make(map[string]error)}
	w.run = &collecting{
		batch: newBatch(a, nil), cmd: p.cmd, conversion: &p.conversion, collection: &p.collection, set: set, create: func() error { return nil }, adds: w, waiting: w.waiting,
		adding: make(map[string]*claim), sources: make(map[string]map[string][]*dataset.Manifest),
	}
	return &pipeline.TableSteps{Job: j, Space: space, Convert: w.convert, Jobs: p.flags.jobs}, nil
}

// A tableWorker converts traces for the workspace of a pipeline. It implements adder.
type tableWorker struct {
	run   *collecting
	space *dataset.Workspace

	mu     sync.Mutex
	failed map[string]error // by UID: errors of the workspace
}

// Add implements adder.
func (w *tableWorker) Add(a *dataset.Addition, m *dataset.Manifest, done func(error)) {
	w.space.Add(a, m, func(err error) {
		if err != nil {
			w.mu.Lock()
			w.failed[m.UID] = err
			w.mu.Unlock()
		}
		done(nil) // the error is that of the step
	})
}

// Flush implements adder.
func (w *tableWorker) Flush() {}

// waiting sets the status of a trace that was converted before: by an earlier attempt, or from an input with the same content.
func (w *tableWorker) waiting(o *outcome) (bool, error) {
	p, m, err := w.space.Find(o.uid)
	if p == nil || err != nil {
		return false, err
	}
	switch o.Events = m.Events; {
	case m.Source != o.Input:
		o.Status = statusThere
	case m.Incomplete != "":
		o.Status, o.Exit, o.Error = statusIncomplete, exitIncomplete, m.Incomplete
	default:
		o.Status = statusAdded
	}
	return true, nil
}

// Waiting for another process that converts the same trace: how often it is tried, and how long.
const (
	busyPoll  = time.Second
	busyTries = 300
)

// convert converts an input into the workspace.
func (w *tableWorker) convert(name string) (*pipeline.Outcome, *pipeline.Item, error) {
	o := &outcome{Input: fileio.Shown(name), name: name}
	for range busyTries {
		o.Status, o.Error, o.uid = statusSkipped, "", ""
		w.run.measure(o, w.run.add)
		if o.Status != statusBusy {
			break
		}
		time.Sleep(busyPoll)
	}
	w.mu.Lock()
	err := w.failed[o.uid]
	delete(w.failed, o.uid)
	w.mu.Unlock()
	switch {
	case err != nil:
		return nil, nil, err
	case o.Exit == exitOutput:
		return nil, nil, errors.New(o.Error)
	}
	if o.Status == statusAdded && o.Exit == exitIncomplete {
		o.Status = statusIncomplete
	}
	result := outcomeOf(o)
	if result.Status == pipeline.Failed {
		if result.Reason == "" {
			result.Reason = message.Line(o.Input) + ": " + o.Status
		}
		return result, nil, nil
	}
	prepared, _, err := w.space.Find(o.uid)
	if prepared == nil || err != nil { // the dataset has the trace
		return result, nil, err
	}
	return result, pipeline.Waiting(prepared), nil
}
