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
	"github.com/ntconv/ntconv/internal/profile/meters"
	"github.com/ntconv/ntconv/sample"
)

// Options configure a Sink. The zero value selects the defaults.
type Options struct {
	// Options are those of all exporters of profiles. The format has neither labels nor comments.
	sample.Options
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
}

// A Sink aggregates the samples of a trace, or of each kind, and writes them as folded stacks in Close. It implements
// [ntconv.Watcher] and [ntconv.OrderSensitive]; Summary and Summaries describe the output after Close. Close returns a
// *SampleTypeError if no samples have values of Options.SampleType, and a *UnitError if Options.Unit does not fit the
// sample type. A Sink that is not closed has written nothing. It is not safe for concurrent use.
type Sink struct {
	sink
	o     Options
	namer ntconv.Namer
}

type sink = profile.Sink

// New returns a sink that writes to w in Close. It does not close w. info must not be nil. A nil namer resolves only
// stacks that carry their frames. Nil opts select the defaults.
func New(w io.Writer, info *ntconv.Info, namer ntconv.Namer, opts *Options) *Sink {
	s := &Sink{namer: namer}
	if opts != nil {
		s.o = *opts
	}
	if s.namer == nil {
		s.namer = new(ntconv.NoNames)
	}
	s.o.DropLabels = nil
	if !s.o.ThreadRoot {
		s.o.DropLabels = []string{meters.LabelThreadID}
	}
	s.sink = profile.NewSink(w, info, s.namer, &s.o.Options, false, s.write)
	return s
}

// write writes the lines of a profile.
func (s *Sink) write(w io.Writer, p *profile.Profile) (lines int, err error) {
	column, err := s.column(p)
	if err != nil {
		return 0, err
	}
	scale, err := s.scale(p, column)
	if err != nil {
		return 0, err
	}
	t := newTable(s.o.Annotate)
	for x := range p.Samples() {
		if column >= 0 {
			t.add(s.roots(t, x), x.Frames, x.Values[column])
		}
	}
	s.o.Report.Note(ntconv.CodeNotCarried, t.changed, -1,
		"function names with characters that folded stacks reserve were changed")
	if err := t.write(w, scale, s.o.Report); err != nil {
		var unit *UnitError
		if errors.As(err, &unit) {
			unit.Values = p.MainType()
			return t.written, err
		}
		return t.written, fmt.Errorf("folded: write: %w", err)
	}
	return t.written, nil
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
func (s *Sink) column(p *profile.Profile) (int, error) {
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
	return column, nil
}
