// Package folded writes folded stacks, the text format of Brendan Gregg's flame graph tools. Each line has a distinct
// stack, with the frames from the root to the leaf separated by semicolons, then a space and the total of the stack.
//
//	Program.Main;Shop.Till.Scan;System.Threading.Monitor.Wait 1500000
//
// flamegraph.pl, inferno, speedscope and many profilers read it; docs/folded.md specifies the output.
//
// The sink aggregates samples by stack as events arrive and writes the lines in Close, because .NET traces usually
// write symbols last. Its memory grows with the number of distinct stacks, not with the number of events. Equal events
// give equal output.
package folded

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/profile"
	"github.com/ntconv/ntconv/internal/profile/imported"
	"github.com/ntconv/ntconv/kind"
)

// A Kind is the kind of samples that a Sink counts. Package kind lists all kinds.
type Kind = kind.Kind

// The kinds of profiles whose samples a profiler took.
const (
	// Auto selects the best kind for which the trace has samples, see kind.Preferred.
	Auto = kind.Auto
	// Wall is the wall-clock time of managed threads, running or waiting.
	Wall = kind.Wall
	// CPU is CPU time from a machine-wide profiler.
	CPU = kind.CPU
	// Imported selects the samples of a profile that the trace was converted from, with the profile's own sample types.
	Imported = kind.Imported
)

// ParseKind returns the kind with the given name, as kind.Parse does.
func ParseKind(name string) (Kind, error) { return kind.Parse(name) }

// Options configure a Sink. The zero value selects the defaults.
type Options struct {
	Kind  Kind
	Kinds kind.Options // of kinds that are computed from events
	// SampleType is the name of the sample type whose values are written, such as "samples" or "wall". "" selects the
	// type that a pprof profile of the same events would show first. If several types have the same name, NAME#2
	// selects the second of them, NAME#3 the third.
	SampleType string
	// Unit is the unit in which times are written: nanoseconds, microseconds, milliseconds or seconds. "" selects the
	// unit of the sample type, which is nanoseconds for Wall and CPU. Only a sample type that is a time can be
	// converted.
	Unit string
	// ProcessRoot and ThreadRoot add the process and the thread of a sample as outermost frames, written as NAME-ID
	// like stackcollapse-perf.pl does. Samples of different processes or threads then have separate lines.
	ProcessRoot, ThreadRoot bool
	// Annotate appends _[i] to inlined functions, _[k] to kernel functions and _[j] to managed functions. The color
	// palettes of flamegraph.pl use these suffixes.
	Annotate bool
	// Window, if not nil, reports whether a time is selected. An interval, such as a wait, that is not completely in the
	// selected time is in no sample.
	Window func(ntconv.Ticks) bool
	// Report receives the conditions that the conversion counts; nil discards them.
	Report *ntconv.Report
}

// A Sink writes the samples of a trace as folded stacks. It has no resources to release: a Sink that is not closed has
// written nothing. It is not safe for concurrent use.
type Sink struct {
	w      io.Writer                          // nil if create is not
	create func(Kind) (io.WriteCloser, error) // opens the output of a kind; nil for a single output
	o      Options
	namer  ntconv.Namer
	build  *profile.Builder
	done   []Summary
}

var (
	_ ntconv.OrderSensitive = (*Sink)(nil)
	_ ntconv.Watcher        = (*Sink)(nil)
)

// New returns a sink that writes to w in Close. It does not close w. info must not be nil. A nil namer resolves only
// stacks that carry their frames. Nil opts select the defaults.
func New(w io.Writer, info *ntconv.Info, namer ntconv.Namer, opts *Options) *Sink {
	return newSink(w, nil, nil, info, namer, opts)
}

// NewPerKind returns a sink that writes one output per kind of which the trace has samples, from the same events. kinds
// are the kinds to write, in place of Options.Kind; if it is empty, all are, but kind.Events only if the trace has no
// other. Close calls create for each kind in the order of kind.Preferred, and closes the result. The other parameters are
// those of New.
func NewPerKind(
	create func(Kind) (io.WriteCloser, error), kinds []Kind, info *ntconv.Info, namer ntconv.Namer, opts *Options,
) *Sink {
	return newSink(nil, create, append([]Kind{}, kinds...), info, namer, opts)
}

func newSink(
	w io.Writer, create func(Kind) (io.WriteCloser, error), each []Kind, info *ntconv.Info, namer ntconv.Namer, opts *Options,
) *Sink {
	s := &Sink{w: w, create: create, namer: namer}
	if opts != nil {
		s.o = *opts
	}
	if s.namer == nil {
		s.namer = new(ntconv.NoNames)
	}
	o := profile.Options{Report: s.o.Report, Unlabeled: true, Span: noSpan}
	o.Kind, o.Each, o.Kinds, o.Window = s.o.Kind, each, s.o.Kinds, s.o.Window
	if !s.o.ThreadRoot {
		o.Drop = append(o.Drop, profile.LabelThreadID)
	}
	s.build = profile.New(info, s.namer, &o)
	return s
}

// noSpan keeps the builder from observing when the trace was recorded, because the format cannot represent it.
func noSpan() (first, last ntconv.Ticks, ok bool) { return 0, 0, false }

// Write counts an event. The sink does not keep e. It always returns nil.
func (s *Sink) Write(e *ntconv.Event) error {
	s.build.Add(e)
	return nil
}

// Watch observes an event that a selection may omit: a sample of kind Wall lasts until the next sample of its thread,
// selected or not. Call it for every event of the trace, before Write if the event is selected. You can omit the calls
// if all events are written. The sink does not keep e.
func (s *Sink) Watch(e *ntconv.Event) { s.build.Watch(e) }

// OrderMatters reports whether the same events in time order could give different output. Call it after the last Write
// and before Close.
func (s *Sink) OrderMatters() bool { return s.build.OrderMatters() }

// Close writes all lines. It returns a *SampleTypeError if no samples have values of Options.SampleType, and a
// *UnitError, which wraps ntconv.ErrUnsupported, if Options.Unit does not fit the sample type. It must be called once.
func (s *Sink) Close() error {
	if s.create == nil {
		s.done = make([]Summary, 1)
		return s.write(s.w, s.build.Finish(), &s.done[0])
	}
	for p := range s.build.FinishEach() {
		w, err := s.create(p.Kind)
		if err != nil {
			return err
		}
		s.done = append(s.done, Summary{})
		err = s.write(w, p, &s.done[len(s.done)-1])
		if cerr := w.Close(); err == nil {
			err = cerr
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// write writes the lines of a profile and describes them in done.
func (s *Sink) write(w io.Writer, p *profile.Profile, done *Summary) error {
	*done = Summary{Kind: p.Kind, Events: p.Events}
	column, err := s.column(p, done)
	if err != nil {
		return err
	}
	scale, err := s.scale(p, column, done)
	if err != nil {
		return err
	}
	t := newTable(s.o.Annotate)
	for sample := range p.Samples() {
		if column >= 0 {
			t.add(s.roots(t, sample), sample.Frames, sample.Values[column])
		}
	}
	done.summarize(p)
	if t.changed > 0 {
		s.o.Report.Note(
			ntconv.CodeNotCarried,
			t.changed,
			-1,
			"function names with characters that folded stacks reserve were changed",
		)
	}
	if err := t.write(w, scale, s.o.Report); err != nil {
		var unit *UnitError
		if errors.As(err, &unit) {
			unit.Values = done.Main
			return err
		}
		return fmt.Errorf("folded: write: %w", err)
	}
	done.Lines = t.written
	return nil
}

// A SampleTypeError reports that no sample has values of the type Options.SampleType.
type SampleTypeError struct {
	Name string
	Has  []string // available sample types
}

func (e *SampleTypeError) Error() string {
	return fmt.Sprintf("folded: unknown sample type %s; available: %s", e.Name, strings.Join(e.Has, ", "))
}

// column returns the index of the sample type to write, or -1 if the trace has none.
func (s *Sink) column(p *profile.Profile, done *Summary) (int, error) {
	column := p.Main
	if name := s.o.SampleType; name != "" {
		names := imported.TypeNames(p.Types)
		if column = slices.Index(names, name); column < 0 && len(names) > 0 {
			return 0, &SampleTypeError{Name: name, Has: names}
		}
	}
	if column < 0 || column >= len(p.Types) {
		return -1, nil
	}
	done.Values = SampleType(p.Types[column])
	return column, nil
}
