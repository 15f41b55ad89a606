package command

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/data/message"
	"github.com/ntconv/ntconv/internal/events/recording"
	"github.com/ntconv/ntconv/internal/profile/rounds"
	"github.com/ntconv/ntconv/internal/run/input"
	"github.com/ntconv/ntconv/internal/run/pass"
	"github.com/ntconv/ntconv/internal/select/selection"
	"github.com/ntconv/ntconv/internal/trace/split"
	"github.com/ntconv/ntconv/internal/trace/tracecmp"
	"github.com/ntconv/ntconv/reader"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// exitDifferent is the exit code for two traces that differ. As for an incomplete conversion, both inputs could be
// read.
const exitDifferent = exitIncomplete

// ignoreReplicas is the aspect of the events that package split adds to the parts of a trace.
const ignoreReplicas = "replicas"

// A verification is a request to compare two traces.
type verification struct {
	names  [2]string
	ignore []string
}

// verifyHelp is the description of verify, up to the list of aspects.
const verifyHelp = "Compare two traces, event by event: times, sequence numbers, threads and processes, CPUs, types with all fields,\n" +
	"stacks, labels, payloads, marks, losses, and blocks of unknown kind. They may have different versions and compressions.\n" +
	"Byte offsets are not compared, nor are sequence points that only mark the order, nor whether a default (such as\n" +
	"keywords of 0) is written out. In time order, sequence numbers of a thread are not compared after one that contradicts the\n" +
	"losses: the events of the thread are then not in the order of their numbers. Losses are always compared.\n\n" +
	"The exit code is 0 if the traces are equal and 3 if they are not. The message names the first difference, both values, and both\n" +
	"places: the number of the event, counted in the order of reading, and the byte of the decompressed input. A trace that is\n" +
	"truncated or corrupt is compared as far as it can be read, and the exit code is 3 even if that part is equal.\n\n" +
	"Two profiles (pprof, folded, speedscope without times) are compared as profiles: the totals of samples with equal threads, stacks\n" +
	"and labels, in any order. A pprof profile is not equal to a trace that was converted from it, which has other events: compare it\n" +
	"with the profile that ntconv to pprof writes of that trace.\n\n" +
	"Two directories of traces are compared trace by trace: those with equal paths below A and B, without extensions. A table\n" +
	"lists the pairs; a trace without a counterpart is a difference.\n\n" +
	"Aspects for --ignore:\n"

func (a *app) verifyCmd() *cobra.Command {
	var v verification
	jobs := defaultJobs()
	names, list := ignorable()
	cmd := &cobra.Command{
		Use:   "verify A B",
		Short: "Compare two traces: equal, or where they first differ",
		Long:  verifyHelp + list,
		Example: examples(
			"check that a trace was rewritten without loss",
			"ntconv to nettrace old.nettrace -o new.nettrace && ntconv verify old.nettrace new.nettrace",
			"the same, in file order",
			"ntconv to nettrace old.nettrace -o - | ntconv verify --order file old.nettrace -",
			"check a selection of events",
			"ntconv verify --pid 4711 --ignore sequence,lost,marks,definitions all.nettrace one.nettrace",
		),
		Args: verifyArgs,
		ValidArgsFunction: func(cmd *cobra.Command, args []string, s string) ([]string, cobra.ShellCompDirective) {
			return inputCompletion(cmd, args[min(len(args), 1):], s)
		},
		RunE: func(_ *cobra.Command, args []string) error {
			v.names = [2]string(args)
			switch {
			case jobs < 1:
				return failf(exitUsage, "--%s %d: want at least 1", flagJobs, jobs)
			case a.directories(v.names):
				return a.verifyEach(&v, jobs)
			}
			return a.verify(&v)
		},
	}
	return a.withFlags(cmd, func() {
		addGroup(cmd, groupOwn, func(flags *pflag.FlagSet) {
			flags.IntVarP(&jobs, flagJobs, "j", jobs, "for directories: compare this many pairs at a time")
			flags.StringSliceVar(&v.ignore, "ignore", nil, "ignore these `aspect`s: "+strings.Join(names, ", "))
		})
		complete(cmd, "ignore", names)
		a.addInputFlags(cmd)
		cmd.Flags().Lookup(selection.DuringFlag).Hidden = true
	})
}

// verifyArgs is the argument check of verify.
func verifyArgs(_ *cobra.Command, args []string) error {
	if len(args) != 2 {
		return fmt.Errorf("verify reads two inputs, got %d", len(args))
	}
	if args[0] == "-" && args[1] == "-" {
		return errors.New("only one of the traces can be standard input")
	}
	return nil
}

// ignorable returns the names of the aspects that --ignore takes, and a line about each.
func ignorable() (names []string, list string) {
	add := func(name, doc string) {
		names, list = append(names, name), list+fmt.Sprintf("  %-12s %s\n", name, doc)
	}
	for _, x := range tracecmp.Aspects() {
		add(x.Name, x.Doc)
	}
	add(ignoreReplicas, "events that ntconv split has added to a part")
	return names, list
}

// options returns the options of the comparison. It always ignores errors of the sources, so that the traces are
// compared up to them.
func (v *verification) options(order reader.Order) (*tracecmp.Options, error) {
	o := &tracecmp.Options{EmptyMarks: true, Sorted: order == reader.ByTime, Errors: true}
	for _, name := range v.ignore {
		if name != ignoreReplicas && !o.Overlook(name) {
			return nil, failf(exitUsage, "--ignore %s: no such aspect; see ntconv verify --help", name)
		}
	}
	return o, nil
}

// verify compares two traces.
func (a *app) verify(v *verification) error {
	a.begin(&pass.Summary{Input: v.names[0], Flags: a.openers.Notes})
	plan, err := a.plan()
	if err != nil {
		return err
	}
	if plan.Selection.During != nil {
		return failf(exitUsage, "verify does not take --%s; write both parts with ntconv filter and compare them",
			selection.DuringFlag)
	}
	opts, err := v.options(plan.Read.Order)
	if err != nil {
		return err
	}
	var sides [2]*side
	for i := range sides {
		if sides[i], err = a.openSide(v, i, plan); err != nil {
			return err
		}
		defer sides[i].close()
	}
	opts.Profiles = sides[0].profile() && sides[1].profile()
	equal, err := a.compare(&sides, opts)
	order := ""
	if plan.Read.Order == reader.ByTime && isDifference(err) {
		n, again := a.compareFiles(v, plan, &sides)
		if again == nil {
			equal, err, order = n, nil, " in file order; flags of the trace are wrong about time order"
		}
	}
	a.sum.Format, a.sum.Events, a.sum.Selected = sides[0].src.Info().Format, equal, equal
	a.sum.Report = pass.Entries(&sides[0].report)
	for _, s := range sides {
		if isLimit(s.failed) { // the rest is unknown
			return inputFailure(&input.Error{Name: s.in.Name(), Err: s.failed}, false)
		}
	}
	if err != nil {
		return differs(&sides, err)
	}
	unit := "event"
	if opts.Profiles {
		unit = "distinct sample"
	}
	if err := v.incomplete(&sides, equal, unit); err != nil || a.quiet {
		return err
	}
	return a.show(fmt.Sprintf("equal: %s%s\n", message.Count(equal, unit), order))
}

// incomplete returns the error of traces that are equal but not complete, unless --ignore damage is set.
func (v *verification) incomplete(sides *[2]*side, equal int64, unit string) error {
	if slices.Contains(v.ignore, "damage") {
		return nil
	}
	for _, s := range sides {
		if err := s.damage(); err != nil {
			return failf(exitIncomplete, "%s equal as far as they can be read, but %w",
				message.Count(equal, unit+" is", unit+"s are"), err)
		}
	}
	return nil
}

// compare reads and compares the sources of both sides.
func (a *app) compare(sides *[2]*side, opts *tracecmp.Options) (equal int64, err error) {
	stop := a.progress(sides[0].in, "comparing")
	defer stop()
	return tracecmp.Streams(sides[0].src, sides[1].src, opts)
}

// compareFiles compares the sides again in file order, which ignores the flags about time order. If these flags are
// wrong, time order depends on how a file is divided into blocks. It returns an error unless the traces are equal and
// have wrong flags.
func (a *app) compareFiles(v *verification, plan *pass.Plan, sides *[2]*side) (equal int64, err error) {
	files := *plan
	files.Read.Order = reader.FileOrder
	opts, err := v.options(reader.FileOrder)
	if err != nil {
		return 0, err
	}
	var again [2]*side
	for i, s := range sides {
		if !s.in.Rereadable() || s.in.Format.In.Ordered {
			return 0, errors.ErrUnsupported
		}
		again[i] = &side{in: s.in, replicas: s.replicas}
		if err := again[i].start(&files); err != nil {
			return 0, err
		}
		defer again[i].stream.Close()
	}
	equal, err = a.compare(&again, opts)
	if err == nil && again[0].excluded == 0 {
		err = errors.New("no flag is wrong")
	}
	if err == nil {
		for i, s := range again {
			sides[i].failed = s.failed
		}
	}
	return equal, err
}

func isDifference(err error) bool {
	_, is := errors.AsType[*tracecmp.Difference](err)
	return is
}

// differs returns the error of traces that differ.
func differs(sides *[2]*side, err error) error {
	if d := (*tracecmp.Difference)(nil); errors.As(err, &d) && d.Unused {
		err = fmt.Errorf("%w; --ignore definitions ignores definitions that no event uses", err)
	}
	return failf(exitDifferent, "%s and %s differ: %w", message.Line(sides[0].in.Name()),
		message.Line(sides[1].in.Name()), err)
}

// A side is one of the traces that are compared.
type side struct {
	in     *input.Input
	src    ntconv.Source
	stream input.Ending
	report ntconv.Report
	failed error // error of src
	// replicas means that events added by ntconv split are ignored.
	replicas bool
	// excluded counts events that are earlier than a preceding event with FlagSorted.
	excluded int64
}

// openSide opens a trace with the selection of the command line.
func (a *app) openSide(v *verification, i int, plan *pass.Plan) (_ *side, err error) {
	s := &side{replicas: slices.Contains(v.ignore, ignoreReplicas)}
	if s.in, err = a.open([]string{v.names[i]}, plan.NeedsAgain()); err != nil {
		return nil, err
	}
	if err := s.start(plan); err != nil {
		s.in.Close()
		return nil, err
	}
	return s, nil
}

// start begins a reading of the input. If it fails, only the input must be closed.
func (s *side) start(plan *pass.Plan) error {
	var last ntconv.Ticks
	var err error
	selected := *plan.Selection
	switch {
	case selected.NeedsNames(): // each side has its own
		selected.Names = new(recording.Names)
		last, err = plan.Scan(s.in, selected.Names.Observe)
	case selected.NeedsEnd():
		last, err = plan.Last(s.in)
	}
	var src ntconv.Source
	if err == nil {
		o := plan.Read
		o.Report = &s.report
		src, s.stream, err = s.in.Source(&o)
	}
	if err != nil {
		return inputFailure(err, false)
	}
	keep, err := selected.Compile(src.Info().Clock, last)
	if err != nil {
		s.stream.Close()
		return fail(exitUsage, err)
	}
	if s.replicas {
		src = split.WithoutReplicas(src)
	}
	if !plan.Selection.Empty() {
		src = rounds.WithoutWeights(src) // these events exist only if a side is a selection
	}
	s.src = ntconv.Filter(&errorRecorder{Source: src, side: s, sorted: math.MinInt64}, keep)
	return nil
}

// profile reports whether the input is a profile, so that its samples are compared as totals.
func (s *side) profile() bool {
	is := s.in.Format.In.Profile
	return is != nil && is(s.src.Info())
}

func (s *side) close() {
	s.stream.Close()
	s.in.Close()
}

// damage returns the reason why the trace is incomplete, or nil.
func (s *side) damage() error {
	if s.failed != nil {
		return fmt.Errorf("%w; --ignore damage ignores it", &input.Error{Name: s.in.Name(), Err: s.failed})
	}
	if err := pass.Loss(&s.report); err != nil {
		return fmt.Errorf("%s: %w", s.in.Name(), err)
	}
	return nil
}

// An errorRecorder is the source of a side. It records how the source ends.
type errorRecorder struct {
	ntconv.Source
	side   *side
	events int64
	sorted ntconv.Ticks // time of the latest event with FlagSorted
	ended  bool
}

// Next implements ntconv.Source.
func (e *errorRecorder) Next() (*ntconv.Event, error) {
	ev, err := e.Source.Next()
	switch {
	case err == nil:
		if ev.Kind == ntconv.KindEvent {
			e.events++
			if ev.Time < e.sorted {
				e.side.excluded++
			} else if ev.Flags&ntconv.FlagSorted != 0 {
				e.sorted = ev.Time
			}
		}
		return ev, nil
	case err != io.EOF:
		e.side.failed = err
	}
	if !e.ended {
		e.ended = true
		if err == io.EOF {
			e.side.failed = e.side.stream.Finish()
		}
		if changed := e.side.in.Finish(input.Reading{Events: e.events, Err: e.side.failed}); changed != "" {
			e.side.report.Note(ntconv.CodeChanged, 1, -1, changed)
		}
	}
	return ev, err
}
