package command

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/google/pprof/profile"
	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/data/message"
	"github.com/ntconv/ntconv/internal/run/formats"
	"github.com/ntconv/ntconv/internal/run/input"
	"github.com/ntconv/ntconv/internal/run/pass"
	"github.com/ntconv/ntconv/internal/show/profilediff"
	"github.com/ntconv/ntconv/internal/show/web"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// A differing is a request to compare two recordings.
type differing struct {
	ranking
	per       perFlag
	asJSON    bool
	markdown  bool
	failAbove percentFlag
	minEffect percentFlag
	runNoise  percentFlag
	sameWork  bool
	counts    bool
	sides     [2]*profilediff.Observed // before, after
}

// Defaults of flags of diff.
const (
	defaultMinEffect = 0.01
	defaultRunNoise  = 0.02
)

// maxReasons is the number of values that the error of --fail-above names.
const maxReasons = 5

// exitAbove is the exit code if a value increased by more than --fail-above.
const exitAbove = exitIncomplete

func newDiffering() differing {
	return differing{failAbove: -1, minEffect: defaultMinEffect, runNoise: defaultRunNoise}
}

func (a *app) diffCmd() *cobra.Command {
	d := newDiffering()
	cmd := &cobra.Command{
		Use:   "diff BEFORE AFTER",
		Short: "Compare two recordings: what became slower or faster, beyond sampling error",
		Long:  diffHelp,
		Example: examples(
			"what changed", "ntconv diff before.nettrace after.nettrace",
			"CPU time per second", "ntconv diff --kind cpu --per time before.nettrace after.nettrace",
			"allocations per request", "ntconv diff --kind alloc --per request before.nettrace after.nettrace",
			"for a pull request; fails if something became more than 5% slower",
			"ntconv diff --markdown --fail-above 5% before.nettrace after.nettrace > diff.md",
			"two profiles of a Go program", "ntconv diff before.pb.gz after.pb.gz",
		),
		Args:              twoInputs,
		ValidArgsFunction: twoInputsCompletion,
		RunE: func(cmd *cobra.Command, args []string) error {
			d.diffBase, d.in = args[0], args[1]
			return a.diff(cmd, &d)
		},
	}
	return a.withFlags(cmd, func() {
		addGroup(cmd, groupOwn, d.bind)
		a.addInputFlags(cmd)
	})
}

// bind defines the flags.
func (d *differing) bind(flags *pflag.FlagSet) {
	flags.IntVarP(&d.options.Count, "count", "n", 10, "maximum number of rows per list; 0 means all")
	flags.BoolVar(&d.options.Cum, "cum", false, "sort by the changes of totals, which include callees")
	flags.StringVar(&d.options.Focus, "focus", "", "keep only stacks with a function that matches this regular `expression`")
	flags.StringVar(&d.options.SampleType, flagSampleType, "",
		"`name` of the sample type to compare, NAME#2 for the second with that name (default: as the profile states)")
	flags.Var(&d.per, flagPer, "divide values by this `unit`: time (seconds of the recording), request (all requests), "+
		"'request NAME' (requests with a name, such as 'request GET /cart'), or sample")
	flags.Var(&d.minEffect, "min-effect", "smallest change that is significant, in `percent` of the total of BEFORE")
	flags.Var(&d.runNoise, "run-noise", "variation between runs of an unchanged program, a standard deviation in `percent`")
	flags.BoolVar(&d.sameWork, "same-work", false, "both recordings did the same work, such as a benchmark: the variation of values "+
		"over time is no error")
	flags.Var(&d.failAbove, flagFailAbove, "exit with 3 if a value increased significantly by more than this `percent` "+
		"(default: never)")
	flags.BoolVar(&d.counts, flagCounts, false, "the values of folded stacks are numbers of samples (default: values of an unknown unit, "+
		"none of which is significant)")
	flags.BoolVar(&d.asJSON, "json", false, "print a JSON object, with all functions")
	flags.BoolVar(&d.markdown, "markdown", false, "print Markdown, for a pull request")
	d.profile, d.names = formats.BindProfile(flags, false), formats.NamesFlag(flags)
	d.bindFilter(flags)
}

// Flags of diff.
const (
	flagPer       = "per"
	flagFailAbove = "fail-above"
	flagCounts    = "counts"
)

// diff compares two recordings.
func (a *app) diff(cmd *cobra.Command, d *differing) error {
	switch {
	case d.options.Count < 0:
		return failf(exitUsage, "-n %d: want a number of functions", d.options.Count)
	case d.asJSON && d.markdown:
		return failf(exitUsage, "--json and --markdown: use only one of them")
	}
	c, partial, err := a.comparison(cmd, d)
	if err != nil {
		return err
	}
	a.memory.Stop()
	text, err := d.render(c)
	if err != nil {
		return fail(exitOutput, err)
	}
	if err := a.show(text); err != nil {
		return err
	}
	a.sum.Done = true
	return d.verdict(c, partial)
}

// comparison reads the two recordings and compares them. partial is the error of an incomplete input.
func (a *app) comparison(cmd *cobra.Command, d *differing) (c *profilediff.Comparison, partial, err error) {
	d.stage = func(_ *pass.Pass, src ntconv.Source) ntconv.Source { return profilediff.Divide(src) }
	d.observe = d.observed
	base, partialBase, err := a.baseOf(cmd, &d.ranking)
	if err != nil {
		return nil, nil, err
	}
	estimate := d.sides[1].Estimate
	d.sides[0], d.sides[1] = d.sides[1], nil
	d.sides[0].Estimate = estimate
	made, partial, err := a.profileAlone(cmd, &d.ranking)
	if err != nil {
		return nil, nil, err
	}
	if partial == nil {
		partial = partialBase
	}
	c, err = a.difference(cmd, d, base, made)
	return c, partial, err
}

// observed wraps the sink of a profile, so that the totals of the trace are added up in the same pass.
func (d *differing) observed(p *pass.Pass, sink formats.Sink) formats.Sink {
	d.sides[1] = profilediff.Observe(p.Info, profilediff.ObserveOptions{
		Window: p.Window(), Namer: p.Namer, Counts: d.counts, Filtered: p.Filtered(),
	})
	return &observedSink{Sink: sink, observed: d.sides[1], pass: p}
}

// An observedSink passes events to two sinks.
type observedSink struct {
	formats.Sink
	observed *profilediff.Observed
	pass     *pass.Pass
}

var (
	_ ntconv.Watcher        = (*observedSink)(nil)
	_ ntconv.OrderSensitive = (*observedSink)(nil)
)

// Write implements ntconv.Sink.
func (s *observedSink) Write(e *ntconv.Event) error {
	if err := s.observed.Write(e); err != nil {
		return err
	}
	return s.Sink.Write(e)
}

// Watch implements ntconv.Watcher.
func (s *observedSink) Watch(e *ntconv.Event) {
	s.observed.Watch(e)
	if w, ok := s.Sink.(ntconv.Watcher); ok {
		w.Watch(e)
	}
}

// OrderMatters implements ntconv.OrderSensitive.
func (s *observedSink) OrderMatters() bool {
	o, ok := s.Sink.(ntconv.OrderSensitive)
	return s.observed.OrderMatters() || ok && o.OrderMatters()
}

// Close implements ntconv.Sink.
func (s *observedSink) Close() error {
	s.observed.End(s.pass.Span())
	err := s.Sink.Close()
	s.observed.Kind, s.observed.Estimate = formats.ProfileKind(s.Result()), formats.Estimate(s.Result())
	return err
}

// difference compares two profiles.
func (a *app) difference(cmd *cobra.Command, d *differing, base, made *profile.Profile) (*profilediff.Comparison, error) {
	before, err := a.selected(cmd, d, base)
	if err != nil {
		return nil, err
	}
	after, err := a.selected(cmd, d, made)
	if err != nil {
		return nil, err
	}
	names := [2]string{input.NameOf(d.diffBase, 0), input.NameOf(d.in, 0)}
	of, ofBase, err := web.SharedType(after, before, d.options.SampleType)
	var incompatible *web.IncompatibleError
	if errors.As(err, &incompatible) {
		return nil, failf(exitEmpty, "%s and %s: the sample types differ: %s before and %s after; %s", names[0], names[1],
			strings.Join(incompatible.Base, ", "), strings.Join(incompatible.Has, ", "), commonTypes(cmd, incompatible.Common))
	}
	list := [2]*profilediff.Recording{
		profilediff.Read(before, ofBase, d.sides[0].Accuracy(before.SampleType[ofBase].Type)),
		profilediff.Read(after, of, d.sides[1].Accuracy(after.SampleType[of].Type)),
	}
	for i, r := range list {
		r.Name, r.Kind, r.Estimate = names[i], d.sides[i].Kind, d.sides[i].Estimate
	}
	o := &profilediff.Options{MinEffect: float64(d.minEffect), RunNoise: float64(d.runNoise), SameWork: d.sameWork, Per: d.per.unit()}
	for i, r := range list {
		if o.Exposure[i], o.PerOf[i], err = d.per.exposure(r, d.sides[i]); err != nil {
			return nil, failf(exitEmpty, "%s: --%s %s: %w", names[i], flagPer, d.per.text, err)
		}
	}
	c := profilediff.Compare(list[0], list[1], o)
	c.AddSections(d.sides[0], d.sides[1])
	c.Sort(d.options.Cum)
	return c, nil
}

// selected returns the samples of a profile that the flags select.
func (a *app) selected(cmd *cobra.Command, d *differing, p *profile.Profile) (*profile.Profile, error) {
	names := namesOf(p, d.options.UsesLabels())
	selected, unmatched, err := web.Select(p, &d.options.Filter)
	if err != nil {
		return nil, d.reportFailure(err, cmd.Name(), names)
	}
	a.noteUnmatched(&d.ranking, unmatched, names)
	return selected, nil
}

// render returns the output.
func (d *differing) render(c *profilediff.Comparison) (string, error) {
	switch {
	case d.asJSON:
		var b bytes.Buffer
		err := writeJSON(&b, c)
		return b.String(), err
	case d.markdown:
		return c.Markdown(d.options.Count), nil
	}
	return c.Text(d.options.Count), nil
}

// verdict returns the error for values that increased by more than --fail-above. partial is the error of an incomplete
// input.
func (d *differing) verdict(c *profilediff.Comparison, partial error) error {
	if d.failAbove < 0 {
		return partial
	}
	if c.ErrorUnknown() {
		return failf(exitUsage, "--%s %s: the sampling error is unknown, so an increase may be noise; compare traces, or, if the values of "+
			"folded stacks are numbers of samples, use --%s", flagFailAbove, d.failAbove.String(), flagCounts)
	}
	list := c.Exceeds(float64(d.failAbove))
	if len(list) == 0 {
		return partial
	}
	if more := len(list) - maxReasons; more > 0 {
		list = append(list[:maxReasons], fmt.Sprintf("and %d more", more))
	}
	err := fmt.Errorf("increased by more than --%s %s: %s", flagFailAbove, d.failAbove.String(), message.Line(strings.Join(list, "; ")))
	if partial != nil && !errors.Is(partial, errQuiet) { // a quiet one has been printed
		err = fmt.Errorf("%w; %w", err, partial)
	}
	return fail(exitAbove, err)
}
