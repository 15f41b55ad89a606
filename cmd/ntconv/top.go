package main

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/google/pprof/profile"
	"github.com/ntconv/ntconv/internal/formats"
	"github.com/ntconv/ntconv/internal/input"
	"github.com/ntconv/ntconv/internal/pass"
	"github.com/ntconv/ntconv/internal/pprofview"
	"github.com/ntconv/ntconv/internal/summary"
	"github.com/ntconv/ntconv/symbol"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// A ranking is a request for the functions that take most.
type ranking struct {
	in      string
	profile *formats.Profile
	labels  bool // labels of samples are shown
	names   *symbol.Options
	plan    *pass.Plan
	options pprofview.TopOptions
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
			formats.Example{
				Remark: "with what is called from there, the first 50",
				Line:   "ntconv top --cum -n 50 trace.nettrace",
			},
			formats.Example{
				Remark: "only stacks with a function whose name fits",
				Line:   "ntconv top --focus 'Serializ' trace.nettrace",
			},
			formats.Example{
				Remark: "only what ran in some requests",
				Line:   "ntconv top --during 'span.name =~ \"GET /cart\"' trace.nettrace",
			},
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
		flags.IntVarP(&r.options.Count, "count", "n", 20, "number of `functions`; 0 for all")
		flags.BoolVar(&r.options.Cum, "cum", false, "sort by what functions take with everything that they call")
		flags.StringVar(
			&r.options.Focus,
			"focus",
			"",
			"only samples with a function that fits this regular `expression`",
		)
		flags.StringVar(
			&r.options.SampleType,
			"sample-type",
			"",
			"`name` of the value to rank by, NAME#2 for the second with a name (default: the profile's own)",
		)
		r.bind(flags)
		flags.Lookup(formats.FlagSpanName).Hidden = true // the report shows no labels
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
	if err := a.linkSpans(r.plan, r.profile.SpanLabels(), r.labels); err != nil {
		return fail(exitUsage, err)
	}
	return nil
}

func (a *app) top(r *ranking) error {
	a.begin(&summary.Summary{Input: r.in, Flags: a.openers.Notes})
	if n := r.options.Count; n < 0 {
		return failf(exitUsage, "-n %d: want a number of functions", n)
	}
	p, partial, err := a.profileOf(r)
	if err != nil {
		return err
	}
	report, err := pprofview.Top(p, &r.options)
	if err != nil {
		return reportFailure(err)
	}
	a.memory.Stop()
	if err := a.show(report); err != nil {
		return err
	}
	a.sum.Done = true
	return partial
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
	sink := r.profile.Create(a.memory.Writer(&b), p.Info, t)
	fatal, partial := a.drain(p, sink)
	if fatal != nil {
		return nil, nil, fatal
	}
	a.sum.Result = sink.Result()
	a.spans.describe(a.sum)
	a.sum.Read(p)
	if what := a.sum.Result.Empty(); what != "" {
		return nil, nil, a.nothing(p, what, r.profile.Advice())
	}
	made, err = pprofview.Parse(b.Bytes())
	return made, partial, err
}

// reportFailure is an error of pprof's report.
func reportFailure(err error) error {
	var missing *pprofview.SampleTypeError
	var warning *pprofview.Warning
	switch {
	case errors.As(err, &missing):
		err = formats.MissingSampleType(missing.Name, missing.Has)
	case errors.As(err, &warning):
		return fail(exitEmpty, err)
	default:
		err = fmt.Errorf("top: %w", err)
	}
	return fail(exitUsage, err)
}
