package formats

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/exporters/folded"
	importer "github.com/ntconv/ntconv/importers/folded"
	"github.com/ntconv/ntconv/sample"
	"github.com/spf13/pflag"
)

// foldedFormat returns the row of folded stacks.
func foldedFormat() *Format {
	return &Format{
		Name: "folded",
		Exts: []string{extFolded, ".collapsed"},
		Doc:  "folded (collapsed) stacks of flamegraph.pl, inferno, async-profiler, py-spy and others, one stack and its total per line",
		In: &In{
			Hint:    isFolded,
			Ordered: true,
			Profile: allProfiles,
			Bind:    bindFoldedInput,
			NoBytes: Advice{"an empty file", "check that the program that wrote it has found samples"},
			NoEvents: Advice{
				"no line is a stack with a total",
				"check that the program that wrote it has found samples",
			},
		},
		Out: &Out{
			Doc:          "folded (collapsed) stacks of the samples of a trace, for flamegraph.pl, inferno and speedscope",
			Compressions: compressionExts(),
			Needs: Needs{
				Names:    NamesLast,
				AnyOrder: true, // samples are added up
			},
			Advice: sampleAdvice,
			Bind:   bindFolded,
			Examples: []string{
				"a flame graph of all threads",
				"ntconv to folded trace.nettrace -o - | flamegraph.pl --countname ns > trace.svg",
				"CPU time in milliseconds, with the process as root",
				"ntconv to folded --kind cpu --unit milliseconds --root process trace.nettrace",
				"the allocations in a profile of a Go program", "ntconv to folded --sample-type alloc_space heap.pb.gz",
			},
		},
	}
}

const extFolded = ".folded"

// A rootsValue is a flag for process, thread or both.
type rootsValue struct{ process, thread *bool }

func (r rootsValue) Set(s string) error {
	for _, root := range strings.Split(s, ",") {
		switch root {
		case "process":
			*r.process = true
		case "thread":
			*r.thread = true
		default:
			return errors.New("want process, thread or process,thread")
		}
	}
	return nil
}

func (r rootsValue) String() string { return "" }
func (r rootsValue) Type() string   { return "process,thread" }

const flagUnit = "unit"

// A foldedSettings has the flags of ntconv to folded.
type foldedSettings struct {
	profileFlags
	options folded.Options
}

func bindFolded(flags *pflag.FlagSet) Settings {
	c := new(foldedSettings)
	o := &c.options
	c.bind(flags, true, false)
	flags.StringVar(&o.SampleType, flagSampleType, "",
		"`name` of the sample type whose values are written (default: the sample type that viewers show first)")
	units := &choice[string]{value: &o.Unit}
	for _, unit := range []string{"nanoseconds", "microseconds", "milliseconds", "seconds"} {
		units.choices = append(units.choices, choiceValue[string]{unit, unit})
	}
	flags.Var(units, flagUnit, "unit of times (default: that of the sample type)")
	flags.Var(
		rootsValue{&o.ProcessRoot, &o.ThreadRoot},
		"root",
		"add the process, the thread or both as outermost frames",
	)
	flags.BoolVar(&o.Annotate, "annotate", false,
		"append _[i], _[k] or _[j] to inlined, kernel and managed functions, which flamegraph.pl colors")
	return c.settings(&profileFormat{ext: extFolded, unit: "stack", check: c.check, open: c.open})
}

// check returns a *FlagError for values that do not fit the kinds.
func (c *foldedSettings) check() error {
	if c.kinds.isSeveral() && c.options.SampleType+c.options.Unit != "" {
		return &FlagError{fmt.Sprintf("--%s %s: the kinds have different sample types; omit --%s and --%s",
			FlagKind, &c.kinds, flagSampleType, flagUnit)}
	}
	return nil
}

func (c *foldedSettings) open(w io.Writer, info *ntconv.Info, namer ntconv.Namer, o sample.Options) profileExporter {
	opts := c.options
	opts.Options = o
	return foldedExporter{folded.New(w, info, namer, &opts)}
}

// A foldedExporter names flags in errors.
type foldedExporter struct{ *folded.Sink }

// Close returns a FlagError if an option does not fit the samples.
func (s foldedExporter) Close() error {
	err := s.Sink.Close()
	var missing *folded.SampleTypeError
	var unit *folded.UnitError
	switch {
	case errors.As(err, &missing):
		return MissingSampleType(missing.Name, missing.Has)
	case errors.As(err, &unit) && unit.Small:
		return &FlagError{fmt.Sprintf(
			"--%s %s: the total of every stack is less than half of that; choose a smaller unit", flagUnit, unit.Unit,
		)}
	case errors.As(err, &unit):
		return &FlagError{fmt.Sprintf(
			"--%s %s: values of type %s are in %s; omit the flag", flagUnit, unit.Unit, unit.Values.Type, unit.Values.Unit,
		)}
	}
	return err
}

// A foldedOpener has the flags that describe the numbers and the outermost frames of folded stacks.
type foldedOpener struct {
	options importer.Options
	value   string
}

func bindFoldedInput(flags *pflag.FlagSet) Opener {
	f := new(foldedOpener)
	flags.StringVar(&f.value, "folded-value", "samples/count",
		"for folded stacks: `TYPE/UNIT` of the numbers, such as cpu/nanoseconds")
	flags.IntVar(&f.options.Column, "folded-column", 0,
		"for folded stacks that compare two profiles: `number` of the column, 1 or 2")
	flags.IntVar(&f.options.Decimals, "folded-decimals", 0,
		"for folded stacks: decimal `digits` of the numbers that are kept, 0 to 18")
	flags.Var(rootsValue{&f.options.ProcessRoot, &f.options.ThreadRoot}, "folded-root",
		"for folded stacks: the outermost frames are the process, the thread or both")
	return f
}

func (f *foldedOpener) Open(in Input, o *ReadOptions) (ntconv.Source, error) {
	opts := f.options
	name, unit, ok := strings.Cut(f.value, "/")
	if !ok || name == "" || unit == "" || strings.Contains(unit, "/") {
		return nil, &FlagError{fmt.Sprintf("--folded-value %s: want TYPE/UNIT, such as cpu/nanoseconds", f.value)}
	}
	if opts.Column < 0 || opts.Column > 2 || opts.Decimals < 0 || opts.Decimals > 18 {
		return nil, &FlagError{fmt.Sprintf("--folded-column %d --folded-decimals %d: want a column of 1 or 2 and at most 18 digits",
			opts.Column, opts.Decimals)}
	}
	opts.SampleType, opts.Unit, opts.Report = name, unit, o.Report
	opts.Limits.Stack = o.stackDepth(opts.Limits.Defaults().Stack)
	opts.Limits.Line = o.share(opts.Limits.Defaults().Line, valueShare)
	r, err := in.Stream()
	if err != nil {
		return nil, err
	}
	return importer.New(r, &opts)
}

func (f *foldedOpener) Notes() []string { return nil }
func (f *foldedOpener) ForRun() Opener  { return f }
