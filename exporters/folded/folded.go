// Package folded writes folded stacks, the text format of Brendan Gregg's flame graph tools: one line per distinct
// stack, with the frames from the root to the leaf separated by semicolons, a space, and the total of the stack.
//
//	Program.Main;Shop.Till.Scan;System.Threading.Monitor.Wait 1500000
//
// flamegraph.pl, inferno, speedscope and many profilers read it; docs/folded.md specifies what is written.
//
// The sink adds up the samples of a trace by stack as events arrive and writes the lines in Close, because .NET traces
// usually write symbols last. Memory depends on the number of distinct stacks and not on the number of events. Equal
// events give equal output.
package folded

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/origin"
	"github.com/ntconv/ntconv/internal/profile"
)

// Kind selects which samples of a trace are counted.
type Kind uint8

const (
	// Auto selects Wall if the trace has samples of the .NET sample profiler, else CPU if it has samples of a
	// machine-wide profiler, else Imported.
	Auto Kind = iota
	// Wall is the wall-clock time of managed threads, running or waiting.
	Wall
	// CPU is CPU time from a machine-wide profiler.
	CPU
	// Imported selects the samples of a profile that the trace was converted from, with the profile's own sample types.
	Imported
)

// kindNames are the names that internal/profile gives the kinds.
var kindNames = [...]string{Auto: "auto", Wall: "wall", CPU: "cpu", Imported: "imported"}

// String returns the name of k as ParseKind accepts it.
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return fmt.Sprintf("unknown(%d)", uint8(k))
}

// ParseKind returns the kind with the given name: auto, wall, cpu or imported.
func ParseKind(name string) (Kind, error) {
	if k := slices.Index(kindNames[:], name); k >= 0 {
		return Kind(k), nil
	}
	return Auto, fmt.Errorf("kind %q: want %s", name, strings.Join(kindNames[:], ", "))
}

// Options configure a Sink. The zero value selects the defaults.
type Options struct {
	Kind Kind
	// SampleType is the name of the sample type whose values are written, such as "samples" or "wall". Empty selects
	// the type that a pprof profile of the same events shows first. If several types have the same name, NAME#2 is the
	// second of them, NAME#3 the third.
	SampleType string
	// Unit is the unit in which times are written: nanoseconds, microseconds, milliseconds or seconds. Empty selects
	// the unit of the sample type, which is nanoseconds for Wall and CPU. A sample type that is not a time cannot have
	// a unit.
	Unit string
	// ProcessRoot and ThreadRoot add the process and the thread of a sample as outermost frames, spelled NAME-ID as
	// stackcollapse-perf.pl spells processes. Samples of different processes or threads then have lines of their own.
	ProcessRoot, ThreadRoot bool
	// Annotate appends _[i] to inlined functions, _[k] to functions of the kernel and _[j] to managed functions. The
	// color palettes of flamegraph.pl use these suffixes.
	Annotate bool
	// Report receives what could not be written as it is; it may be nil.
	Report *ntconv.Report
}

// A Sink writes the samples of a trace as folded stacks. It is not safe for concurrent use.
type Sink struct {
	w     io.Writer
	o     Options
	namer ntconv.Namer
	build *profile.Builder
	done  Summary
}

var (
	_ ntconv.OrderSensitive = (*Sink)(nil)
	_ ntconv.Watcher        = (*Sink)(nil)
)

// New returns a sink that writes to w when it is closed. It does not close w. A nil namer knows only the frames that
// stacks carry themselves. opts may be nil.
func New(w io.Writer, info *ntconv.Info, namer ntconv.Namer, opts *Options) *Sink {
	s := &Sink{w: w, namer: namer}
	if opts != nil {
		s.o = *opts
	}
	if s.namer == nil {
		s.namer = ntconv.NoNames()
	}
	o := profile.Options{Report: s.o.Report, Drop: []string{"state"}, Unlabeled: true, Span: noSpan}
	o.Kind, _ = profile.ParseKind(s.o.Kind.String()) // an unknown kind counts as auto
	if !s.o.ThreadRoot {
		o.Drop = append(o.Drop, profile.LabelThreadID)
	}
	s.build = profile.New(info, s.namer, &o)
	return s
}

// noSpan tells the builder not to observe when the trace was recorded: the format has no place for it.
func noSpan() (first, last ntconv.Ticks, ok bool) { return 0, 0, false }

// Write counts an event. It never fails.
func (s *Sink) Write(e *ntconv.Event) error {
	s.build.Add(e)
	return nil
}

// Watch notes an event that a selection may omit: a sample of kind Wall lasts until the next one of its thread, also if
// that one is not written. Call it for every event of the trace, and Write with the same event next if the event is
// selected. If all events are written, it changes nothing and need not be called. It borrows the event until it
// returns.
func (s *Sink) Watch(e *ntconv.Event) { s.build.Watch(e) }

// OrderMatters reports whether events in time order might have given another output. Call it after the last Write and
// before Close.
func (s *Sink) OrderMatters() bool { return s.build.OrderMatters() }

// Close writes all lines. The error is a *SampleTypeError if the samples have no values of Options.SampleType, and a
// *UnitError if Options.Unit does not fit the sample type.
func (s *Sink) Close() error {
	p := s.build.Finish()
	s.done = Summary{Kind: kindOf(p.Kind), Events: p.Events}
	column, err := s.column(p)
	if err != nil {
		return err
	}
	scale, err := s.scale(p, column)
	if err != nil {
		return err
	}
	t := newTable(s.o.Annotate)
	for sample := range p.Samples() {
		if column >= 0 {
			t.add(s.roots(t, sample), sample.Frames, sample.Values[column])
		}
	}
	s.done.summarize(p)
	if t.changed > 0 {
		s.o.Report.Note(
			ntconv.CodeNotCarried,
			t.changed,
			-1,
			"function names with characters that folded stacks reserve were changed",
		)
	}
	if err := t.write(s.w, scale, s.o.Report); err != nil {
		var unit *UnitError
		if errors.As(err, &unit) {
			unit.Values = s.done.Main
			return err
		}
		return fmt.Errorf("folded: write: %w", err)
	}
	s.done.Lines = t.written
	return nil
}

// kindOf returns the public kind.
func kindOf(k profile.Kind) Kind {
	public, _ := ParseKind(k.String())
	return public
}

// A SampleTypeError reports that no sample has values of the type that Options.SampleType names.
type SampleTypeError struct {
	Name string
	Has  []string // existing sample types
}

func (e *SampleTypeError) Error() string {
	return fmt.Sprintf("folded: unknown sample type %s; available: %s", e.Name, strings.Join(e.Has, ", "))
}

// column returns the index of the sample type that is written, or -1 if there are none.
func (s *Sink) column(p *profile.Profile) (int, error) {
	column := p.Main
	if name := s.o.SampleType; name != "" {
		names := origin.TypeNames(p.Types)
		if column = slices.Index(names, name); column < 0 && len(names) > 0 {
			return 0, &SampleTypeError{Name: name, Has: names}
		}
	}
	if column < 0 || column >= len(p.Types) {
		return -1, nil
	}
	s.done.Values = SampleType(p.Types[column])
	return column, nil
}
