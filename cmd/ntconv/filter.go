package main

import (
	"errors"
	"fmt"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/formats"
	"github.com/ntconv/ntconv/internal/iox"
	"github.com/ntconv/ntconv/internal/subset"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// A filtering is a request to write a part of a trace.
type filtering struct {
	conversion
	symbols bool
}

func (a *app) filterCmd() *cobra.Command {
	f := filtering{conversion: conversion{to: formats.ByName(formats.Writable(), "nettrace")}}
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
			a.readFor(cmd, f.to)
			return a.filter(&f)
		},
	}
	addGroup(cmd, groupOwn, func(flags *pflag.FlagSet) {
		flags.BoolVar(&f.symbols, "keep-symbols", true, "keep what gives names to addresses of the selected processes")
		f.bindOut(flags, "the same as OUT: output `file`; - is standard output")
		flags.BoolVarP(&a.force, "force", "f", false, "overwrite an existing output")
		f.bind(flags)
	})
	a.addInputFlags(cmd)
	showOrder(cmd, formats.OrderName(f.to.Order))
	return cmd
}

// filter reads an input and writes a part of it.
func (a *app) filter(f *filtering) error {
	a.sum = &summary{Input: f.in, To: f.to.Name, naming: misnamed(f.to, f.out)}
	if isStdout(f.out) && terminal(a.stdout) {
		return failf(exitUsage, "%s is binary and would garble the terminal; write to a file or to a pipe", f.to.Name)
	}
	if err := checkOutput(f.out, f.in); err != nil {
		return err
	}
	sel, err := a.pick.options()
	if err != nil {
		return fail(exitUsage, err)
	}
	in, err := a.openInput(f.in, formats.Readable(), sel.NeedsEnd() || f.symbols && !sel.Empty())
	if err != nil {
		return err
	}
	defer in.close()
	part, err := a.newSubset(in, f.symbols)
	if err != nil {
		return err
	}
	return a.pass(in, passOptions{keep: part.Keep, weights: true}, func(p *pass) error {
		p.src = part.Source(p.src)
		return p.writeSubset(f, part)
	})
}

// newSubset returns a filter for the selection of the command line. To keep symbols, it reads the input once to learn which processes
// the selection leaves.
func (a *app) newSubset(in *input, symbols bool) (*subset.Filter, error) {
	sel, err := a.pick.options()
	if err != nil {
		return nil, fail(exitUsage, err)
	}
	part := subset.New(subset.Options{All: sel.Empty(), Symbols: symbols})
	if !part.NeedsLearn() {
		return part, nil
	}
	var last ntconv.Ticks
	if sel.NeedsEnd() {
		if last, err = a.lastOf(in); err != nil {
			return nil, err
		}
	}
	src, closer, err := in.source(nil)
	if err != nil {
		return nil, err
	}
	defer closer.Close()
	s, err := sel.For(src.Info().Clock, last)
	if err != nil {
		return nil, fail(exitUsage, err)
	}
	defer a.progress(in, "looking ahead")()
	part.Learn(src, s.Keep)
	return part, nil
}

// writeSubset writes the events of the pass.
func (p *pass) writeSubset(f *filtering, part *subset.Filter) error {
	var sink formats.Sink
	create := func(out *iox.Output) (_ ntconv.Sink, err error) {
		sink, err = f.create(out, p.info, p.target())
		return sink, err
	}
	err := p.deliver(f.out, create, func() (string, bool) {
		p.made(sink.Result())
		return "events", part.Counts().Selected == 0
	}, f.to.Advice)
	c := part.Counts()
	s := p.app.sum
	s.Selected, s.Symbols, s.Detail = c.Selected, c.Symbols, subsetDetail(c)
	return err
}

// subsetDetail describes what was kept or omitted in addition to the selected events.
func subsetDetail(c subset.Counts) string {
	s := ""
	if c.Symbols > 0 {
		s = count(c.Symbols, "more event was", "more events were") + " kept for the names of addresses"
	}
	if c.Opaque > 0 {
		if s != "" {
			s += "; "
		}
		s += fmt.Sprintf("%s of unknown kind left out", count(c.Opaque, "block"))
	}
	return s
}
