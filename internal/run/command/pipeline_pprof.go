package command

import (
	"errors"
	"os"
	"time"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/events/recording"
	"github.com/ntconv/ntconv/internal/files/fileio"
	"github.com/ntconv/ntconv/internal/run/formats"
	"github.com/ntconv/ntconv/internal/run/job"
	"github.com/ntconv/ntconv/internal/run/pass"
	"github.com/ntconv/ntconv/internal/run/pipeline"
	"github.com/ntconv/ntconv/internal/tables/dataset"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// A profilesPipeline is ntconv pipeline pprof: ntconv to pprof for each trace, and one merged profile per service and day.
type profilesPipeline struct {
	app        *app
	cmd        *cobra.Command
	flags      pipelineFlags
	conversion conversion
	service    string
	job        *pipeline.Job // in a process of steps
}

func (a *app) newProfilesPipeline() *profilesPipeline {
	p := &profilesPipeline{app: a, conversion: conversion{Job: job.Job{To: formats.Pprof()}}}
	p.cmd = &cobra.Command{
		Use:   "pprof IN... -o DIR --kind KIND",
		Short: "Merge the profiles of traces: one per service and day",
		Long: "Write the profile of each trace, as ntconv to pprof does, and merge those of one service and day into DIR/SERVICE/DAY.pb.gz. The day is\n" +
			"that of the start of the recording in UTC. A trace that is named twice counts once. DIR appears when all profiles are complete, and\n" +
			"must be on a file system that all workers see. --drop-label pid and --drop-label tid make profiles of many processes much smaller.",
		Example: examples(
			"CPU time by service and day", "ntconv-fleet pipeline pprof --kind cpu 'traces/**/*.nettrace.zst' -o profiles",
			"a report of one of them", "go tool pprof -top profiles/shop/2026-11-21.pb.gz",
		),
		Args:              p.flags.anyInputs,
		ValidArgsFunction: anyCompletion,
		RunE:              p.run,
	}
	a.withFlags(p.cmd, func() {
		p.flags.bind(p.cmd, &a.force, "directory, and file of --"+flagDeadLetters)
		addGroup(p.cmd, groupOwn, func(flags *pflag.FlagSet) {
			p.conversion.bindOut(flags, "`directory` for the profiles")
			flags.StringVar(&p.service, flagService, "", "`name` of the service of all inputs (default: derived from the command line of the process with most events)")
			p.conversion.bind(flags)
		})
		a.addInputFlags(p.cmd)
	})
	return p
}

func (p *profilesPipeline) command() *cobra.Command { return p.cmd }

// prepare checks the flags.
func (p *profilesPipeline) prepare() error {
	if !p.cmd.Flags().Changed("kind") {
		return failf(exitUsage, "no kind given: traces of one service may have different ones, which cannot be merged: want --kind KIND")
	}
	p.conversion.out = "profile.pb.gz"
	if err := p.app.prepare(p.cmd, &p.conversion); err != nil {
		return err
	}
	if to, flag := p.conversion.Output.Destination, p.conversion.Output.Flag; to != formats.ToFile {
		return failf(exitUsage, "%s: the profiles of a pipeline have one kind and are files; name one kind", flag)
	}
	return nil
}

// run launches the pipeline.
func (p *profilesPipeline) run(cmd *cobra.Command, args []string) error {
	out := p.conversion.out
	if out == "" || isStdout(out) {
		return failf(exitUsage, "no directory given: want -o DIR")
	}
	if err := p.prepare(); err != nil {
		return err
	}
	l, err := p.flags.start(cmd, pipeline.Profiles, out, args)
	if err != nil {
		return err
	}
	l.to, l.lacks = "pprof", "samples of this kind"
	return p.app.runAlone(l)
}

// steps implements pipelineCommand.
func (p *profilesPipeline) steps(j *pipeline.Job) (pipeline.Steps, error) {
	if err := p.prepare(); err != nil {
		return nil, err
	}
	p.job, p.app.force = j, true
	return &pipeline.ProfileSteps{Job: j, Convert: p.convert, Jobs: p.flags.jobs, Escape: dataset.Escape}, nil
}

// convert writes the profile of an input.
func (p *profilesPipeline) convert(name string) (*pipeline.Outcome, *pipeline.Item, error) {
	return convertNoted(p.app, p.job, name, func(o *outcome, uid string) (*pipeline.Item, error) {
		temp, err := p.job.NewProfileFile()
		if err != nil {
			return nil, fail(exitOutput, err)
		}
		defer os.Remove(temp) // it was renamed, or is of no use
		var of traceFacts
		conversion := p.conversion
		conversion.Output, conversion.in, conversion.out = nil, name, temp
		one, partial := p.app.alone(func(one *app) error {
			if err := one.prepare(p.cmd, &conversion); err != nil {
				return err
			}
			conversion.Plan.Before = append(conversion.Plan.Before, of.stage)
			return one.convert(&conversion)
		})
		if one.sum == nil || !one.sum.Done {
			return nil, partial
		}
		o.Events = one.sum.Events
		made, err := p.job.Kept(temp, uid)
		if err != nil {
			return nil, fail(exitOutput, err)
		}
		made.Service, made.Start = of.service(p.service), of.start
		return made.Item(), partial
	})
}

// convertNoted converts an input, unless the workspace says what became of a trace with this content.
func convertNoted(a *app, j *pipeline.Job, name string, convert func(o *outcome, uid string) (*pipeline.Item, error)) (*pipeline.Outcome, *pipeline.Item, error) {
	o := &outcome{Input: fileio.Shown(name), name: name, Status: statusSkipped}
	var item *pipeline.Item
	var known *pipeline.Outcome
	(&batch{app: a}).measure(o, func(o *outcome) (err error) {
		if o.uid, err = a.uidOf(name); err != nil {
			return err
		}
		if known, item = j.Noted(o.uid, o.Input); known != nil {
			return nil
		}
		item, err = convert(o, o.uid)
		return err
	})
	switch {
	case known != nil:
		return known, item, nil
	case o.Exit == exitOutput:
		return nil, nil, errors.New(o.Error)
	}
	result := outcomeOf(o)
	if o.uid == "" {
		return result, nil, nil
	}
	return result, item, j.Note(o.uid, result, item)
}

// uidOf returns the UID of the content of an input.
func (a *app) uidOf(name string) (string, error) {
	in, err := a.forInput().open([]string{name}, true)
	if err != nil {
		return "", err
	}
	defer in.Close()
	sum, err := in.Sum(nil)
	if err != nil {
		return "", inputFailure(err, false)
	}
	return dataset.UIDOf(sum.SHA256), nil
}

// traceFacts are what a pass over a trace says about it.
type traceFacts struct {
	start time.Time // of the recording
	tally *recording.Tally
	pass  *pass.Pass
}

// stage is the stage that collects the facts.
func (f *traceFacts) stage(p *pass.Pass, src ntconv.Source) ntconv.Source {
	f.learn(p)
	return &talliedSource{src, f.tally}
}

// learn begins with a pass.
func (f *traceFacts) learn(p *pass.Pass) {
	f.pass, f.tally = p, new(recording.Tally)
	if clock := p.Info.Clock; !clock.Wall.IsZero() {
		f.start = clock.Wall.UTC()
	}
}

// service returns the name of the service, unless the user has named it.
func (f *traceFacts) service(named string) string {
	if named != "" {
		return named
	}
	_, info := f.tally.Main(f.pass.Namer)
	return info.Service()
}
