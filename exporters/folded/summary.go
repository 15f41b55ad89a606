package folded

import (
	"slices"

	"github.com/ntconv/ntconv/internal/profile"
	"github.com/ntconv/ntconv/kind"
)

// A Summary describes what a Sink has written. It is the zero value before Close.
type Summary struct {
	Kind   Kind
	Values SampleType // sample type of the lines' values; zero if the trace has no sample types
	Events uint64     // events that were samples of the kind; 0 means that the trace has none
	Lines  int        // lines written: distinct stacks with a positive value

	// The following fields include samples that were not written because their value is zero.
	Main       SampleType // sample type that a pprof profile would show first
	Total      int64      // total of the values of Main
	Frames     int64      // frames of the stacks of all events; for Imported, of all distinct stacks
	Unresolved Unresolved
	Others     []kind.Other // further kinds of samples in the trace, if the kind was not chosen by the Options
	// Estimate states how the values were estimated, and the standard errors of the totals; "" if they are counts.
	Estimate string
}

// A SampleType is a type and unit of values, as in profile.proto: {"wall", "nanoseconds"}.
type SampleType struct{ Type, Unit string }

// Unresolved counts the frames without a symbol, which have a placeholder name. It is zero if all frames have symbols.
type Unresolved struct {
	Frames int64 // part of Summary.Frames
	// The following four add up to Frames.
	NoModule       int64 // addresses outside all modules that the trace describes
	NoMethod       int64 // addresses in managed code that no event of the trace describes
	NoSymbol       int64 // addresses in native modules without symbols
	NoKernelSymbol int64 // addresses in the kernel of the operating system, without symbols

	Passing int64  // part of Summary.Total: samples with at least one unresolved frame
	Leaf    int64  // part of Summary.Total: samples whose leaf frame is unresolved
	Module  string // base name of the file with the most unresolved frames; "" if no such frame has a file
	Rundown bool   // the Namer is an ntconv.RundownReporter, and the trace has a rundown
}

// Summary returns the description of the output, of the first one if there are several. It is the zero value before
// Close.
func (s *Sink) Summary() Summary {
	if len(s.done) == 0 {
		return Summary{}
	}
	return s.done[0]
}

// Summaries returns the descriptions of all outputs in the order in which they were written. It is nil before Close. The
// caller owns the slice.
func (s *Sink) Summaries() []Summary { return slices.Clone(s.done) }

// PerKind reports whether the Sink writes one output per kind.
func (s *Sink) PerKind() bool { return s.create != nil }

// summarize copies what is known only after all samples have been visited.
func (s *Summary) summarize(p *profile.Profile) {
	u := p.Unresolved
	s.Others, s.Estimate = p.Others, p.Estimate.String()
	s.Main, s.Total, s.Frames = SampleType(p.MainType()), u.Total, u.Frames
	s.Unresolved = Unresolved{
		Frames: u.Unnamed, NoModule: u.Reasons[profile.NoModule], NoMethod: u.Reasons[profile.NoMethod],
		NoSymbol: u.Reasons[profile.NoSymbol], NoKernelSymbol: u.Reasons[profile.NoKernelSymbol],
		Passing: u.Any, Leaf: u.Leaf, Module: u.Module, Rundown: u.Rundown && u.Unnamed > 0,
	}
}
