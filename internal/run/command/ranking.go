package command

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/google/pprof/profile"
	"github.com/ntconv/ntconv/internal/data/message"
	"github.com/ntconv/ntconv/internal/run/formats"
	"github.com/ntconv/ntconv/internal/run/input"
	"github.com/ntconv/ntconv/internal/run/job"
	"github.com/ntconv/ntconv/internal/run/pass"
	"github.com/ntconv/ntconv/internal/show/web"
	"github.com/ntconv/ntconv/sample"
	"github.com/ntconv/ntconv/symbol"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// A ranking is a request for a profile that is shown as a list of functions or in a browser.
type ranking struct {
	in             string
	base, diffBase string // inputs whose profile is subtracted; at most one of them is set
	profile        *formats.Profile
	labels         bool // the view shows labels of samples
	each           bool // there may be one profile per kind
	names          *symbol.Options
	plan           *pass.Plan
	stage          pass.Stage                                  // of the selected events; nil if none
	observe        func(*pass.Pass, formats.Sink) formats.Sink // wraps the sink of the profile; nil if it does not
	options        web.TopOptions
}

// Flags of a ranking.
const (
	flagBase      = "base"
	flagDiffBase  = "diff-base"
	flagTagFocus  = "tagfocus"
	flagTagIgnore = "tagignore"
	flagTagRoot   = "tagroot"
	flagTagLeaf   = "tagleaf"

	flagSampleType = "sample-type" // of top
)

// bind defines the flags for the contents of the profile. several means that there may be several profiles.
func (r *ranking) bind(flags *pflag.FlagSet, several bool) {
	r.profile, r.names = formats.BindProfile(flags, several), formats.NamesFlag(flags)
	r.bindFilter(flags)
	r.bindBase(flags)
}

// bindFilter defines the flags that select samples of the profile. They have the names of pprof.
func (r *ranking) bindFilter(flags *pflag.FlagSet) {
	f := &r.options.Filter
	flags.StringVar(&f.TagFocus, flagTagFocus, "",
		"select samples with a label that matches this `expression`: KEY=REGEXP, REGEXP for key:value of any label, or "+
			"KEY=MIN:MAX for numbers, such as latency=10ms:1s; as in pprof")
	flags.StringVar(&f.TagIgnore, flagTagIgnore, "",
		"omit samples with a label that matches this `expression`; see --"+flagTagFocus)
	const frames = "values of labels with these `keys`, comma-separated, become the "
	flags.StringVar(&f.TagRoot, flagTagRoot, "", frames+"outermost frames")
	flags.StringVar(&f.TagLeaf, flagTagLeaf, "", frames+"innermost frames")
}

// bindBase defines the flags that subtract another profile. They have the names of pprof.
func (r *ranking) bindBase(flags *pflag.FlagSet) {
	flags.StringVar(&r.base, flagBase, "", "subtract the profile of this `input`, an earlier one of the same process; "+
		"percentages are of the remaining total of both")
	flags.StringVar(&r.diffBase, flagDiffBase, "",
		"subtract the profile of this `input`; percentages are of its total")
}

// take builds the plan to read the input.
func (r *ranking) take(a *app, cmd *cobra.Command) (err error) {
	if r.plan, err = a.plan(); err != nil {
		return err
	}
	r.plan.AnyOrder, r.plan.Names = !cmd.Flags().Changed("order"), r.names
	if r.stage != nil {
		r.plan.After = append(r.plan.After, r.stage)
	}
	if err := a.spans.Link(r.plan, r.profile.SpanLabels(), r.labels || r.options.UsesLabels()); err != nil {
		return fail(exitUsage, err)
	}
	return nil
}

// profileOf returns the profile of the input, minus that of the base if there is one. partial is the error of an input
// that is incomplete.
func (a *app) profileOf(cmd *cobra.Command, r *ranking) (made *profile.Profile, partial, err error) {
	r.each = false
	base, partialBase, err := a.baseOf(cmd, r)
	if err != nil {
		return nil, nil, err
	}
	made, partial, err = a.profileAlone(cmd, r)
	if err != nil || base == nil {
		return made, partial, err
	}
	if partial == nil {
		partial = partialBase
	}
	name := r.base + r.diffBase
	made, err = web.Difference(made, base, r.options.SampleType, r.diffBase != "")
	var incompatible *web.IncompatibleError
	switch {
	case errors.As(err, &incompatible):
		err = failf(exitEmpty, "%s - %s: %w; %s", input.NameOf(r.in, 0), name, err, commonTypes(cmd, incompatible.Common))
	case err != nil:
		err = failf(exitInput, "%s - %s: %w", input.NameOf(r.in, 0), name, err)
	case len(made.Sample) == 0:
		err = failf(exitEmpty, "%s - %s: no difference, all samples are equal", input.NameOf(r.in, 0), name)
	}
	return made, partial, err
}

// commonTypes says which sample types two profiles have in common.
func commonTypes(cmd *cobra.Command, common []string) string {
	switch flag := cmd.Flag(flagSampleType); {
	case len(common) == 0:
		return "they have none in common"
	case flag == nil:
		return "both have " + strings.Join(common, ", ")
	default:
		return "use --" + flagSampleType + " " + strings.Join(common, " or --"+flagSampleType+" ")
	}
}

// baseOf returns the profile to subtract, nil if there is none, and prints the summary of its input. partial is the
// error of an incomplete input, which has been printed.
func (a *app) baseOf(cmd *cobra.Command, r *ranking) (base *profile.Profile, partial, err error) {
	b := *r
	switch b.in = r.base + r.diffBase; {
	case b.in == "":
		return nil, nil, nil
	case r.base != "" && r.diffBase != "":
		return nil, nil, failf(exitUsage, "--%s and --%s: use only one of them", flagBase, flagDiffBase)
	case b.in == "-" && r.in == "-":
		return nil, nil, failf(exitUsage, "only one of the inputs can be standard input")
	}
	if base, partial, err = a.profileAlone(cmd, &b); err != nil {
		return nil, nil, err
	}
	return base, a.finishFirst(partial), nil
}

// finishFirst prints the summary of the first of two inputs. partial is the error of an incomplete input, nil if it is complete; the
// result has its exit code, but no message, because it has been printed.
func (a *app) finishFirst(partial error) error {
	a.sum.Done = true
	a.finish(nil, partial)
	a.sum = nil
	if partial == nil {
		return nil
	}
	return fail(codeOf(partial), errQuiet)
}

// profileAlone returns the profile of the input. partial is the error of an incomplete input.
func (a *app) profileAlone(cmd *cobra.Command, r *ranking) (made *profile.Profile, partial, err error) {
	list, partial, err := a.profilesAlone(cmd, r)
	if err != nil {
		return nil, nil, err
	}
	return list[0].Profile, partial, nil
}

// profilesAlone returns the profile of the input, or one per kind. There is at least one. partial is the error of an
// incomplete input.
func (a *app) profilesAlone(cmd *cobra.Command, r *ranking) (made []web.View, partial, err error) {
	if err := r.take(a, cmd); err != nil {
		return nil, nil, err
	}
	a.begin(&pass.Summary{Input: r.in, Flags: a.openers.Notes})
	err = a.over([]string{r.in}, r.plan, func(p *pass.Pass) error {
		made, partial, err = a.profiles(p, r)
		return err
	})
	made = slices.DeleteFunc(made, func(v web.View) bool { return len(v.Profile.Sample) == 0 })
	if err == nil && len(made) == 0 {
		err = failf(exitEmpty, "%s: the profile has no samples", input.NameOf(r.in, 0))
	}
	return made, partial, err
}

// A kindBuffer receives the profile of a kind.
type kindBuffer struct {
	sample.Kind
	bytes.Buffer
	w io.Writer
}

func (b *kindBuffer) Write(p []byte) (int, error) { return b.w.Write(p) }
func (b *kindBuffer) Close() error                { return nil }

// profiles returns the profile of a pass, or one per kind.
func (a *app) profiles(p *pass.Pass, r *ranking) (made []web.View, partial, err error) {
	var list []*kindBuffer
	create := func(k sample.Kind) (io.WriteCloser, error) {
		b := &kindBuffer{Kind: k}
		b.w = a.memory.Writer(&b.Buffer)
		list = append(list, b)
		return b, nil
	}
	t := job.Target(p, message.ModuleVersion())
	t.Comments = nil // pprof would print them
	var sink formats.Sink
	if r.each {
		sink = r.profile.CreateEach(create, p.Info, t)
	} else {
		w, _ := create(sample.Auto) // create returns no errors
		sink = r.profile.Create(w, p.Info, t)
	}
	if r.observe != nil {
		sink = r.observe(p, sink)
	}
	fatal, partial := a.drain(p, sink)
	if fatal != nil {
		return nil, nil, fatal
	}
	a.sum.Result = sink.Result()
	a.spans.Describe(a.sum)
	a.sum.Read(p)
	if what := a.sum.Result.Empty(); what != "" {
		return nil, nil, a.nothing(p, what, r.profile.Advice())
	}
	for _, b := range list {
		one, err := web.Parse(b.Bytes())
		if err != nil {
			return nil, nil, err
		}
		b.Buffer = bytes.Buffer{} // not needed any more
		made = append(made, web.View{Profile: one, Name: b.Kind.String(), Text: b.Kind.String() + ": " + b.Doc()})
	}
	return made, partial, nil
}

// reportFailure returns the failure for an error of a report or selection of pprof. command is the name of the command.
func (r *ranking) reportFailure(err error, command string, names *selectableNames) error {
	var missing *web.SampleTypeError
	var unmatched *web.NoMatchError
	switch {
	case errors.As(err, &missing):
		err = formats.MissingSampleType(missing.Name, missing.Has)
	case errors.As(err, &unmatched):
		hint := names.hint(unmatched.Option, unmatched.Expression)
		return failf(exitEmpty, "%s: %w%s", input.NameOf(r.in, 0), err, hint)
	default:
		err = fmt.Errorf("%s: %w", command, err)
	}
	return fail(exitUsage, err)
}

// noteUnmatched adds a note to the summary for each flag that matches no sample.
func (a *app) noteUnmatched(r *ranking, options []string, names *selectableNames) {
	for _, option := range options {
		f := &r.options.Filter
		value := map[string]string{flagTagIgnore: f.TagIgnore, flagTagRoot: f.TagRoot, flagTagLeaf: f.TagLeaf}[option]
		a.sum.Notes = append(a.sum.Notes,
			(&web.NoMatchError{Option: option, Expression: value}).Error()+names.hint(option, value))
	}
}
