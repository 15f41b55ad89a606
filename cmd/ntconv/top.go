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
	"github.com/ntconv/ntconv/internal/input"
	"github.com/ntconv/ntconv/internal/message"
	"github.com/ntconv/ntconv/internal/pass"
	"github.com/ntconv/ntconv/symbol"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// A ranking is a request for the functions that take most.
type ranking struct {
	in      string
	profile *formats.Profile
	names   *symbol.Options
	plan    *pass.Plan
	count   int
	cum     bool
	focus   string
	value   string
}

func (a *app) topCmd() *cobra.Command {
	var r ranking
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
			if err := r.take(a, cmd, args); err != nil {
				return err
			}
			return a.top(&r)
		},
	}
	addGroup(cmd, groupOwn, func(flags *pflag.FlagSet) {
		flags.IntVarP(&r.count, "count", "n", 20, "number of `functions`; 0 for all")
		flags.BoolVar(&r.cum, "cum", false, "sort by what functions take with everything that they call")
		flags.StringVar(&r.focus, "focus", "", "only samples with a function that fits this regular `expression`")
		flags.StringVar(&r.value, "sample-type", "", "`name` of the value to rank by (default: the profile's own)")
		r.bind(flags)
	})
	a.addInputFlags(cmd)
	return cmd
}

// bind defines the flags that choose what the profile holds.
func (r *ranking) bind(flags *pflag.FlagSet) {
	r.profile, r.names = formats.BindProfile(flags), formats.NamesFlag(flags)
}

// take takes the argument IN, and plans how it is read.
func (r *ranking) take(a *app, cmd *cobra.Command, args []string) (err error) {
	r.in = args[0]
	if r.plan, err = a.plan(); err != nil {
		return err
	}
	r.plan.AnyOrder, r.plan.Names = !cmd.Flags().Changed("order"), r.names
	return nil
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
	if err := a.show(message.Visible(report.String())); err != nil {
		return err
	}
	a.sum.done = true
	return partial
}

// keepLines escapes what the report shows of a profile, so that each stays on its line.
func keepLines(p *profile.Profile) {
	for _, f := range p.Function {
		f.Name = message.Line(f.Name)
	}
	for _, m := range p.Mapping {
		m.File = message.Line(m.File)
	}
	for _, t := range p.SampleType {
		t.Type, t.Unit = message.Line(t.Type), message.Line(t.Unit)
	}
	p.DefaultSampleType = message.Line(p.DefaultSampleType)
	for i, c := range p.Comments {
		p.Comments[i] = message.Line(c)
	}
}

// profileOf returns the profile of the input. partial is an error of an input that could be read in part.
func (a *app) profileOf(r *ranking) (made *profile.Profile, partial, err error) {
	err = a.over([]string{r.in}, r.plan, func(p *pass.Pass) error {
		made, partial, err = a.profile(p, r)
		return err
	})
	if err == nil && len(made.Sample) == 0 {
		err = failf(exitEmpty, "%s: the profile has no samples", input.NameOf(r.in, 0))
	}
	return made, partial, err
}

// profile returns the profile of a pass.
func (a *app) profile(p *pass.Pass, r *ranking) (made *profile.Profile, partial, err error) {
	var b bytes.Buffer
	t := target(p)
	t.Comments = nil // pprof would show them
	sink := r.profile.Create(&b, p.Info, t)
	fatal, partial := a.drain(p, sink)
	if fatal != nil {
		return nil, nil, fatal
	}
	a.sum.Result = sink.Result()
	a.sum.read(p)
	if what := a.sum.Result.Empty(); what != "" {
		return nil, nil, nothing(p, what, r.profile.Advice())
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
