package main

import (
	"errors"
	"fmt"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/formats"
	"github.com/ntconv/ntconv/internal/pass"
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
			formats.Example{Remark: "one process of a machine-wide trace", Line: "ntconv filter --pid 4711 machine.nettrace one.nettrace"},
			formats.Example{Remark: "the last ten seconds, without the runtime's own events", Line: "ntconv filter --from-time -10s --where '!($provider =~ \"^Microsoft-Windows-DotNETRuntime\")' trace.nettrace end.nettrace"},
			formats.Example{Remark: "large allocations, with names for their stacks", Line: "ntconv filter --event GCAllocationTick --where 'AllocationAmount64 >= 1000000' trace.nettrace large.nettrace"},
			formats.Example{Remark: "nothing but what is selected", Line: "ntconv filter --keep-symbols=false --provider 'System.*' trace.nettrace system.nettrace"},
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
	})
	a.addInputFlags(cmd)
	showOrder(cmd, formats.OrderName(f.to.Out.Order))
	return cmd
}

// filter reads an input and writes a part of it.
func (a *app) filter(f *filtering, plan *pass.Plan) error {
	a.sum = &summary{Input: f.in, To: f.to.Name, naming: misnamed(f.to, f.out)}
	if err := a.checkTerminal(f.to, f.out); err != nil {
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
	c, err := a.newCut(in, plan, f.symbols)
	if err != nil {
		return err
	}
	plan.Keep = c.keep
	plan.After = append(plan.After, func(_ *pass.Pass, src ntconv.Source) ntconv.Source { return &trimmed{Source: src, cut: c} })
	return a.follow(plan, in, func(p *pass.Pass) error {
		d := a.delivery(p, &f.conversion, f.out)
		empty := d.empty
		d.empty = func() string {
			empty()
			a.sum.Result.Remark(c.detail())
			if c.selected == 0 {
				return "events"
			}
			return ""
		}
		err := a.deliver(p, d)
		a.sum.Selected, a.sum.Symbols = c.selected, c.named
		return err
	})
}

// detail tells what else than selected events was kept or left out.
func (c *cut) detail() string {
	s := ""
	if c.named > 0 {
		s = count(c.named, "more event was", "more events were") + " kept for the names of addresses"
	}
	if c.opaque > 0 {
		if s != "" {
			s += "; "
		}
		s += fmt.Sprintf("%s of unknown kind left out", count(c.opaque, "block"))
	}
	return s
}

// trimmed is the source of a cut: marks speak only of threads that are in it.
type trimmed struct {
	ntconv.Source
	cut  *cut
	mark ntconv.Event
}

// Next implements ntconv.Source.
func (t *trimmed) Next() (*ntconv.Event, error) {
	for {
		e, err := t.Source.Next()
		if err != nil || e.Kind != ntconv.KindMark || e.Mark == nil || t.cut.all {
			return e, err
		}
		m := t.cut.trim(e.Mark)
		if m.Kind == ntconv.MarkThreadsRemoved && len(m.Threads) == 0 {
			continue
		}
		t.mark = *e
		t.mark.Mark = m
		return &t.mark, nil
	}
}
