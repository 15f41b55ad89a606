package main

import (
	"errors"
	"fmt"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/formats"
	"github.com/ntconv/ntconv/internal/input"
	"github.com/ntconv/ntconv/internal/message"
	"github.com/ntconv/ntconv/internal/pass"
	"github.com/ntconv/ntconv/internal/subset"
	"github.com/ntconv/ntconv/internal/summary"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// A filtering is a request to write a part of a trace.
type filtering struct {
	conversion
	symbols bool
}

func (a *app) filterCmd() *cobra.Command {
	f := filtering{conversion: conversion{to: formats.Nettrace()}}
	cmd := &cobra.Command{
		Use:   "filter IN OUT",
		Short: "Write the part of a trace that is wanted, as a trace",
		Long: "Write the selected events of a trace as nettrace 6. OUT, which may be given with -o too, may be - for standard output.\n\n" +
			"Events that give names to addresses stay whether or not they are selected, or else the new trace could not be read by people:\n" +
			"methods, modules, mappings, symbols, rundowns and what tells of processes, of those processes of which something is selected.\n" +
			"To know them the input is read twice, and standard input is copied to a temporary file for that; not so with\n" +
			"--keep-symbols=false.\n\n" +
			"The events of each thread are numbered anew: what is left out does not look lost, and what the recorder lost still does.\n" +
			"Types and threads that no event uses any more are left out. With nothing selected all is kept, as ntconv to nettrace does.",
		Example: examples(
			formats.Example{
				Remark: "one process of a machine-wide trace",
				Line:   "ntconv filter --pid 4711 machine.nettrace one.nettrace",
			},
			formats.Example{
				Remark: "the last ten seconds, without the runtime's own events",
				Line:   "ntconv filter --from-time -10s --where '!($provider =~ \"^Microsoft-Windows-DotNETRuntime\")' trace.nettrace end.nettrace",
			},
			formats.Example{
				Remark: "large allocations, with names for their stacks",
				Line:   "ntconv filter --event GCAllocationTick --where 'AllocationAmount64 >= 1000000' trace.nettrace large.nettrace",
			},
			formats.Example{
				Remark: "nothing but what is selected",
				Line:   "ntconv filter --keep-symbols=false --provider 'System.*' trace.nettrace system.nettrace",
			},
		),
		Args: func(cmd *cobra.Command, args []string) error {
			if err := inAndOut(cmd, args); err != nil {
				return err
			}
			if len(args) == 1 && f.out == "" {
				return errors.New("no output given: name a file, or - for standard output")
			}
			return nil
		},
		ValidArgsFunction: inputCompletion,
		RunE: func(cmd *cobra.Command, args []string) error {
			f.take(args)
			if to, flag := f.creator.Destination(); to != formats.ToFile {
				return fmt.Errorf("filter writes one trace; ntconv to nettrace takes %s and the same selection", flag)
			}
			plan, err := a.planFor(cmd, f.to.Out, f.creator)
			if err != nil {
				return err
			}
			return a.filter(&f, plan)
		},
	}
	addGroup(cmd, groupOwn, func(flags *pflag.FlagSet) {
		flags.BoolVar(&f.symbols, "keep-symbols", true, "keep what gives names to addresses of the selected processes")
		f.bindOut(flags, "the same as OUT: output `file`; - is standard output")
		flags.BoolVarP(&a.force, "force", "f", false, "overwrite an existing output")
		f.bind(flags)
		flags.Lookup("split-by").Hidden = true
	})
	a.addInputFlags(cmd)
	showOrder(cmd, formats.OrderName(f.to.Out.Order))
	return cmd
}

// filter reads an input and writes a part of it.
func (a *app) filter(f *filtering, plan *pass.Plan) error {
	a.begin(&summary.Summary{Input: f.in, To: f.to.Name, Naming: misnamed(f.to, f.out), Flags: a.openers.Notes})
	if err := a.checkTerminal(f.to.Name, f.to.Out.Binary, f.out); err != nil {
		return err
	}
	if err := checkOutput(f.out, f.in); err != nil {
		return err
	}
	in, err := a.open([]string{f.in}, plan.NeedsAgain() || f.symbols && !plan.Selection.Empty())
	if err != nil {
		return err
	}
	defer in.Close()
	part := subset.New(subset.Options{All: plan.Selection.Empty(), Symbols: f.symbols})
	if part.NeedsLearn() {
		if err := a.learn(in, plan, part); err != nil {
			return err
		}
	}
	plan.Keep, plan.Check = part.Keep, isStdout(f.out)
	plan.After = append(
		[]pass.Stage{func(_ *pass.Pass, src ntconv.Source) ntconv.Source { return part.Source(src) }},
		plan.After...)
	return a.follow(plan, in, func(p *pass.Pass) error {
		d := a.delivery(p, &f.conversion, f.out)
		empty := d.empty
		d.empty = func() string {
			empty()
			a.sum.Result.Remark(subsetDetail(part.Counts()))
			if part.Counts().Selected == 0 {
				return "events"
			}
			return ""
		}
		err := a.deliver(p, d)
		a.sum.Selected, a.sum.Symbols = part.Counts().Selected, part.Counts().Symbols
		return err
	})
}

// learn reads an input once to find the processes of which the selection keeps something. An error of an input that can
// be read in part is left to the reading that follows.
func (a *app) learn(in *input.Input, plan *pass.Plan, part *subset.Filter) error {
	first := *plan
	first.Progress = func(in *input.Input, _ string) func() { return a.progress(in, "looking ahead") }
	return a.follow(&first, in, func(p *pass.Pass) error {
		if err := part.Learn(p.All, p.Selector.Keep); isLimit(err) || err != nil && plan.Read.Strict {
			return &input.Error{Name: in.Name(), Err: err}
		}
		return nil
	})
}

// subsetDetail describes what was kept or omitted in addition to the selected events.
func subsetDetail(c subset.Counts) string {
	s := ""
	if c.Symbols > 0 {
		s = message.Count(c.Symbols, "more event") + " kept for symbols"
	}
	if c.Opaque > 0 {
		if s != "" {
			s += "; "
		}
		s += message.Count(c.Opaque, "block") + " of an unknown kind omitted"
	}
	return s
}
