package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/google/pprof/driver"
	"github.com/google/pprof/profile"
	"github.com/ntconv/ntconv/internal/formats"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// A ranking is a request for the functions that take most.
type ranking struct {
	conversion
	count int
	cum   bool
	focus string
	value string
}

func (a *app) topCmd() *cobra.Command {
	r := ranking{conversion: conversion{to: formats.ByName(formats.Writable(), "pprof")}}
	cmd := &cobra.Command{
		Use:   "top IN",
		Short: "List the functions that take most of the samples",
		Long: "List the functions that take most of the samples of a trace or of a pprof profile, as go tool pprof -top does:\n" +
			"flat is what a function takes itself, cum what it takes with everything that it calls.",
		Example: examples(
			formats.Example{Remark: "where the time went", Line: "ntconv top trace.nettrace"},
			formats.Example{Remark: "with what is called from there, the first 50", Line: "ntconv top --cum -n 50 trace.nettrace"},
			formats.Example{Remark: "only stacks with a function whose name fits", Line: "ntconv top --focus 'Serializ' trace.nettrace"},
			formats.Example{Remark: "a profile that was converted before", Line: "ntconv top trace.pb.gz"},
		),
		Args:              oneInput,
		ValidArgsFunction: inputCompletion,
		RunE: func(cmd *cobra.Command, args []string) error {
			r.in = args[0]
			a.readFor(cmd, r.to)
			return a.top(&r)
		},
	}
	addGroup(cmd, groupOwn, func(flags *pflag.FlagSet) {
		flags.IntVarP(&r.count, "count", "n", 20, "number of `functions`; 0 for all")
		flags.BoolVar(&r.cum, "cum", false, "sort by what functions take with everything that they call")
		flags.StringVar(&r.focus, "focus", "", "only samples with a function that fits this regular `expression`")
		flags.StringVar(&r.value, "sample-type", "", "`name` of the value to rank by (default: the profile's own)")
		r.bind(flags)
		hideOutputFlags(flags)
	})
	a.addInputFlags(cmd)
	return cmd
}

// hideOutputFlags leaves flags out of the help that say how a profile is stored, for verbs that only show it.
func hideOutputFlags(flags *pflag.FlagSet) {
	if err := flags.MarkHidden("gzip-level"); err != nil {
		panic(err) // the format has no such flag: a mistake in this package
	}
}

func (a *app) top(r *ranking) error {
	a.sum = &summary{Input: r.in}
	if r.count < 0 {
		return fail(exitUsage, fmt.Errorf("-n %d: want a number of functions", r.count))
	}
	p, partial, err := a.profileOf(r)
	if err != nil {
		return err
	}
	keepLines(p)
	var report bytes.Buffer
	if err := rank(r, p, &report); err != nil {
		return err
	}
	if err := a.show(visible(report.String())); err != nil {
		return err
	}
	a.sum.done = true
	return partial
}

// keepLines escapes what the report shows of a profile, so that each stays on its line.
func keepLines(p *profile.Profile) {
	for _, f := range p.Function {
		f.Name = visibleLine(f.Name)
	}
	for _, m := range p.Mapping {
		m.File = visibleLine(m.File)
	}
	for _, t := range p.SampleType {
		t.Type, t.Unit = visibleLine(t.Type), visibleLine(t.Unit)
	}
	p.DefaultSampleType = visibleLine(p.DefaultSampleType)
	for i, c := range p.Comments {
		p.Comments[i] = visibleLine(c)
	}
}

// profileOf returns the profile that is made of the input. partial is an error of an input that could be read in part.
func (a *app) profileOf(r *ranking) (made *profile.Profile, partial, err error) {
	err = a.passOver([]string{r.in}, passOptions{names: r.names}, func(p *pass) error {
		made, partial, err = p.profile(r)
		return err
	})
	if err == nil && len(made.Sample) == 0 {
		err = failf(exitEmpty, "%s: the profile has no samples", shownInput(r.in))
	}
	return made, partial, err
}

// profile makes the profile of a pass.
func (p *pass) profile(r *ranking) (made *profile.Profile, partial, err error) {
	var b bytes.Buffer
	t := p.target()
	t.Uncompressed, t.Comments = true, nil // pprof would show them
	sink, err := r.create(&b, p.info, t)
	if err != nil {
		return nil, nil, fail(exitUsage, err)
	}
	fatal, partial := p.drain(sink)
	if fatal != nil {
		return nil, nil, fatal
	}
	s := p.made(sink.Result())
	if s.Items == 0 {
		return nil, nil, p.nothing(s.Unit+"s", r.to.Advice)
	}
	made, err = profile.ParseData(b.Bytes())
	return made, partial, err
}

// rank writes what the driver of pprof makes of a profile.
func rank(r *ranking, p *profile.Profile, w io.Writer) error {
	if _, err := p.SampleIndexByName(r.value); err != nil {
		var has []string
		for _, t := range p.SampleType {
			has = append(has, t.Type)
		}
		return fail(exitUsage, formats.MissingSampleType(r.value, has))
	}
	args := []string{"-top", "-nodecount=" + strconv.Itoa(r.count), "-output=report", "-symbolize=none"}
	if r.count == 0 {
		args = append(args, "-nodefraction=0", "-edgefraction=0")
	}
	if r.cum {
		args = append(args, "-cum")
	}
	if r.focus != "" {
		args = append(args, "-focus="+r.focus)
	}
	if r.value != "" {
		args = append(args, "-sample_index="+r.value)
	}
	ui := &driverUI{}
	err := driver.PProf(&driver.Options{
		Flagset: &driverFlags{FlagSet: flag.NewFlagSet("top", flag.ContinueOnError), args: append(args, r.in)},
		Fetch:   driverFetch{p},
		Writer:  driverWriter{w},
		UI:      ui,
		Sym:     driverSym{},
	})
	if err != nil {
		return fail(exitUsage, fmt.Errorf("top: %w", err))
	}
	if len(ui.errs) > 0 {
		return fail(exitEmpty, errors.New(strings.Join(ui.errs, "; ")))
	}
	return nil
}

// What follows are the plug-ins that make the driver of pprof a function: flags and profile are given, the report goes to
// a writer, and nothing is asked, looked up or downloaded.

type driverFlags struct {
	*flag.FlagSet
	args []string
}

func (f *driverFlags) StringList(name, def, usage string) *[]*string {
	return &[]*string{f.String(name, def, usage)}
}
func (f *driverFlags) ExtraUsage() string   { return "" }
func (f *driverFlags) AddExtraUsage(string) {}
func (f *driverFlags) Parse(usage func()) []string {
	f.Usage = usage
	f.SetOutput(io.Discard)
	if f.FlagSet.Parse(f.args) != nil {
		return nil
	}
	return f.Args()
}

type driverFetch struct{ p *profile.Profile }

func (f driverFetch) Fetch(string, time.Duration, time.Duration) (*profile.Profile, string, error) {
	return f.p, "", nil
}

type driverWriter struct{ io.Writer }

func (w driverWriter) Open(string) (io.WriteCloser, error) { return w, nil }
func (w driverWriter) Close() error                        { return nil }

// driverUI keeps what the driver has to say, apart from the line that tells where the report goes.
type driverUI struct{ errs []string }

func (*driverUI) ReadLine(string) (string, error)     { return "", io.EOF }
func (*driverUI) Print(...any)                        {}
func (*driverUI) IsTerminal() bool                    { return false }
func (*driverUI) WantBrowser() bool                   { return false }
func (*driverUI) SetAutoComplete(func(string) string) {}
func (u *driverUI) PrintErr(a ...any) {
	if s := strings.TrimSpace(fmt.Sprint(a...)); !strings.HasPrefix(s, "Generating report") {
		u.errs = append(u.errs, s)
	}
}

type driverSym struct{}

func (driverSym) Symbolize(string, driver.MappingSources, *profile.Profile) error { return nil }
