package command

import (
	"math"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/run/formats"
	"github.com/ntconv/ntconv/internal/run/pass"
	"github.com/ntconv/ntconv/internal/run/pipeline"
	"github.com/ntconv/ntconv/internal/show/profilediff"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

const flagBuildFrom = "build-from"

// A regressionsPipeline is ntconv pipeline regressions: ntconv diff of the consecutive builds of each service.
type regressionsPipeline struct {
	app       *app
	cmd       *cobra.Command
	flags     pipelineFlags
	differing differing
	out       string
	service   string
	buildFrom string
	build     *regexp.Regexp // nil if the build is that of the trace
	job       *pipeline.Job  // in a process of steps
}

func (a *app) newRegressionsPipeline() *regressionsPipeline {
	p := &regressionsPipeline{app: a}
	p.differing = differing{minEffect: defaultMinEffect, runNoise: defaultRunNoise, per: perFlag{text: perTime, of: perTime}}
	p.cmd = &cobra.Command{
		Use:   "regressions IN... -o FILE --kind KIND",
		Short: "Compare the builds of services, method by method, as a table",
		Long: "Compare consecutive builds of each service with the statistics of ntconv diff, and write a table with a row per function and one\n" +
			"for all samples: values of both builds, change, margin of error, p-value and verdict. The recordings of a build are appended to each\n" +
			"other, so that the variation between them is a part of the error. FILE is a Parquet file, or text if its name ends in .tsv.\n\n" +
			"The build of a trace is the signature of the debug symbols of the program's assembly, which every compilation of different code\n" +
			"changes. --" + flagBuildFrom + " takes it from the name of the input. Builds are in the order of their first recordings.",
		Example: examples(
			"all builds of all services", "ntconv-fleet pipeline regressions --kind cpu 'traces/**/*.nettrace.zst' -o regressions.parquet",
			"the version is a directory of the name",
			`ntconv-fleet pipeline regressions --kind cpu --build-from 'traces/[^/]+/(v[0-9.]+)/' traces/ -o regressions.tsv`,
		),
		Args:              p.flags.anyInputs,
		ValidArgsFunction: anyCompletion,
		RunE:              p.run,
	}
	a.withFlags(p.cmd, func() {
		p.flags.bind(p.cmd, &a.force, "output, and file of --"+flagDeadLetters)
		addGroup(p.cmd, groupOwn, p.bind)
		a.addInputFlags(p.cmd)
	})
	return p
}

// bind defines the flags.
func (p *regressionsPipeline) bind(flags *pflag.FlagSet) {
	d := &p.differing
	flags.VarP((*fileName)(&p.out), "output", "o", "output `file`: "+strings.Join(pipeline.RegressionFormats(), " or "))
	flags.StringVar(&p.service, flagService, "", "`name` of the service of all inputs (default: derived from the command line of the process with most events)")
	flags.StringVar(&p.buildFrom, flagBuildFrom, "", "take the build from the name of the input: the first group, or all, of what this regular `expression` matches")
	flags.StringVar(&d.options.SampleType, flagSampleType, "", "`name` of the sample type to compare (default: as the profile states)")
	flags.Var(&d.per, flagPer, "divide values by this `unit`: time (seconds of the recordings) or sample")
	flags.Var(&d.minEffect, "min-effect", "smallest change that is significant, in `percent` of the total before")
	flags.Var(&d.runNoise, "run-noise", "variation between runs of an unchanged program, a standard deviation in `percent`")
	flags.BoolVar(&d.sameWork, "same-work", false, "all recordings did the same work, such as a benchmark: the variation of values over time is no error")
	d.profile, d.names = formats.BindProfile(flags, false), formats.NamesFlag(flags)
}

func (p *regressionsPipeline) command() *cobra.Command { return p.cmd }

// prepare checks the flags.
func (p *regressionsPipeline) prepare() (err error) {
	switch {
	case !p.cmd.Flags().Changed("kind"):
		return failf(exitUsage, "no kind given: traces of one service may have different ones, which cannot be compared: want --kind KIND")
	case p.differing.per.of == perRequest:
		return failf(exitUsage, "--%s %s: want %s or %s", flagPer, p.differing.per.text, perTime, perSample)
	}
	if p.buildFrom != "" {
		if p.build, err = regexp.Compile(p.buildFrom); err != nil {
			return failf(exitUsage, "--%s: %w", flagBuildFrom, err)
		}
	}
	_, err = p.app.plan()
	return err
}

// run launches the pipeline.
func (p *regressionsPipeline) run(cmd *cobra.Command, args []string) error {
	if p.out == "" || isStdout(p.out) {
		return failf(exitUsage, "no file given: want -o FILE")
	}
	if list := pipeline.RegressionFormats(); !slices.Contains(list, filepath.Ext(p.out)) {
		return failf(exitUsage, "-o %s: the name must end in %s", p.out, strings.Join(list, " or "))
	}
	if err := p.prepare(); err != nil {
		return err
	}
	l, err := p.flags.start(cmd, pipeline.Regressions, p.out, args)
	if err != nil {
		return err
	}
	l.to, l.lacks = "table", "samples of this kind"
	l.builds = "builds differ in the signature of their debug symbols, or by --" + flagBuildFrom + " EXPRESSION in the names of inputs"
	if p.build != nil {
		l.builds = "--" + flagBuildFrom + " finds the same build in the names of all inputs"
	}
	return p.app.runAlone(l)
}

// steps implements pipelineCommand.
func (p *regressionsPipeline) steps(j *pipeline.Job) (pipeline.Steps, error) {
	if err := p.prepare(); err != nil {
		return nil, err
	}
	p.job = j
	d := &p.differing
	return &pipeline.RegressionSteps{
		Job: j, Convert: p.convert, Jobs: p.flags.jobs, SampleType: d.options.SampleType,
		Options:  profilediff.Options{MinEffect: float64(d.minEffect), RunNoise: float64(d.runNoise), SameWork: d.sameWork, Per: d.per.unit()},
		Exposure: func(r *profilediff.Recording) (float64, error) { n, _, err := d.per.exposure(r, nil); return n, err },
	}, nil
}

// convert writes the profile of an input, with the times of the samples.
func (p *regressionsPipeline) convert(name string) (*pipeline.Outcome, *pipeline.Item, error) {
	return convertNoted(p.app, p.job, name, func(o *outcome, uid string) (*pipeline.Item, error) {
		one := p.app.forInput()
		d := p.differing
		var of traceFacts
		d.in = name
		d.stage = func(_ *pass.Pass, src ntconv.Source) ntconv.Source { return profilediff.Divide(src) }
		d.observe = func(p *pass.Pass, sink formats.Sink) formats.Sink {
			return d.observed(p, of.observe(p, sink))
		}
		made, partial, err := one.profileAlone(p.cmd, &d.ranking)
		if err != nil {
			return nil, err
		}
		o.Events = one.sum.Events
		stored, err := p.job.Store(made, uid)
		if err != nil {
			return nil, fail(exitOutput, err)
		}
		side := d.sides[1]
		stored.Service, stored.Start, stored.Kind, stored.Estimate = of.service(p.service), of.start, side.Kind, side.Estimate
		for _, t := range made.SampleType {
			accuracy := side.Accuracy(t.Type)
			if math.IsNaN(accuracy.Weight) {
				return nil, failf(exitInput, "the unit of the values is unknown, so that their error is unknown")
			}
			stored.Accuracy = append(stored.Accuracy, accuracy)
		}
		if made.DurationNanos <= 0 && p.differing.per.of == perTime {
			return nil, failf(exitInput, "the length of the recording is unknown (see --%s)", flagPer)
		}
		if stored.Build, err = p.buildOf(name, &of, stored.Service); err != nil {
			return nil, err
		}
		return stored.BuildItem(), partial
	})
}

// buildOf returns the build of a trace.
func (p *regressionsPipeline) buildOf(name string, of *traceFacts, service string) (string, error) {
	if p.build != nil {
		match := p.build.FindStringSubmatch(name)
		if match == nil {
			return "", failf(exitInput, "the name does not match --%s", flagBuildFrom)
		}
		return match[min(1, len(match)-1)], nil
	}
	process, info := of.tally.Main(of.pass.Namer)
	if process != nil && of.pass.Namer != nil {
		for _, m := range of.pass.Namer.Mappings(process) {
			base := filepath.Base(strings.ReplaceAll(m.File, `\`, "/"))
			if m.BuildID != "" && strings.EqualFold(strings.TrimSuffix(base, filepath.Ext(base)), info.Service()) {
				return m.BuildID, nil
			}
		}
	}
	return "", failf(exitInput, "the trace does not state the build of %s (see --%s)", service, flagBuildFrom)
}

// observe returns a sink that collects the facts.
func (f *traceFacts) observe(p *pass.Pass, sink formats.Sink) formats.Sink {
	f.learn(p)
	return &talliedSink{sink, f}
}

// A talliedSink passes every event to a tally.
type talliedSink struct {
	formats.Sink
	facts *traceFacts
}

// Write implements ntconv.Sink.
func (s *talliedSink) Write(e *ntconv.Event) error {
	s.facts.tally.Observe(e)
	return s.Sink.Write(e)
}

// Watch implements ntconv.Watcher.
func (s *talliedSink) Watch(e *ntconv.Event) {
	if w, ok := s.Sink.(ntconv.Watcher); ok {
		w.Watch(e)
	}
}

// OrderMatters implements ntconv.OrderSensitive.
func (s *talliedSink) OrderMatters() bool {
	o, ok := s.Sink.(ntconv.OrderSensitive)
	return ok && o.OrderMatters()
}
