package folded

import "github.com/ntconv/ntconv/internal/profile"

// A Summary describes what a Sink has written.
type Summary struct {
	Kind   Kind
	Values SampleType // what the values of the lines are; zero if the trace has no sample types
	Events uint64     // events that were samples; 0 if the trace has none of the kind
	Lines  int        // lines written: distinct stacks with a positive value

	// The following include samples that are not written because their value is zero.
	Main       SampleType // the sample type that a pprof profile would show first
	Total      int64      // sum of the values of Main
	Frames     int64      // frames of the stacks of all events; of kind Imported, of all distinct stacks
	Unresolved Unresolved
	Others     []Kind // further kinds of samples in the trace, if the kind was not chosen by the Options
}

// A SampleType is what one value counts, and its unit, as in profile.proto: {"wall", "nanoseconds"}.
type SampleType struct{ Type, Unit string }

// Unresolved counts the frames without a symbol, which have a placeholder for a name. All counts are 0 if every frame
// has a symbol.
type Unresolved struct {
	Frames int64 // of Summary.Frames
	// The following four add up to Frames.
	NoModule       int64 // addresses outside all modules that the trace describes
	NoMethod       int64 // addresses in managed code that no event of the trace describes
	NoSymbol       int64 // addresses in native modules without symbols
	NoKernelSymbol int64 // addresses in the kernel of the operating system, without symbols

	Passing int64  // of Summary.Total: samples with at least one unresolved frame
	Leaf    int64  // of Summary.Total: samples whose innermost frame is unresolved
	Module  string // base name of the file with the most unresolved frames; empty if none of them has a file
	Rundown bool   // the Namer is an ntconv.RundownReporter, and the trace has a rundown
}

// Summary returns the description of the output. It is complete after Close.
func (s *Sink) Summary() Summary { return s.done }

// summarize copies what is known once all samples have been visited.
func (s *Summary) summarize(p *profile.Profile) {
	u := p.Unresolved
	for _, k := range p.Others {
		s.Others = append(s.Others, kindOf(k))
	}
	s.Main, s.Total, s.Frames = SampleType(p.MainType()), u.Total, u.Frames
	s.Unresolved = Unresolved{
		Frames: u.Unnamed, NoModule: u.Reasons[profile.NoModule], NoMethod: u.Reasons[profile.NoMethod],
		NoSymbol: u.Reasons[profile.NoSymbol], NoKernelSymbol: u.Reasons[profile.NoKernelSymbol],
		Passing: u.Any, Leaf: u.Leaf, Module: u.Module, Rundown: u.Rundown && u.Unnamed > 0,
	}
}
