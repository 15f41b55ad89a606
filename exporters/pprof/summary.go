package pprof

import (
	"slices"

	"github.com/ntconv/ntconv/internal/profile"
	"github.com/ntconv/ntconv/kind"
)

// A Summary describes the profile that a Sink has written.
type Summary struct {
	Kind      Kind
	Events    uint64 // events that were samples; 0 if the trace has none of the kind
	Samples   int    // samples of the profile: events with equal stacks and labels are one sample
	Functions int
	Locations int

	Main       SampleType // the sample type that viewers show first; zero if the profile has none
	Total      int64      // total of the values of Main
	Frames     int64      // frames of the stacks of all events; of kind Imported, of all samples
	Unresolved Unresolved
	Others     []kind.Other // other kinds with samples, if Options.Kind is Auto
	// Estimate states how the values were estimated, and the standard errors of the totals; "" if they are counts.
	Estimate string
}

// A SampleType is the name and unit of a sample type, as in profile.proto: {"wall", "nanoseconds"}.
type SampleType struct{ Type, Unit string }

// Unresolved counts the frames without a symbol. Such a frame has a placeholder for a name. All counts are 0 if every
// frame has a symbol.
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

// Summary returns the description of the profile, of the first one if there are several. Before Close it is zero.
func (s *Sink) Summary() Summary {
	if len(s.done) == 0 {
		return Summary{}
	}
	return s.done[0]
}

// Summaries returns the descriptions of all profiles in the order in which they were written. Before Close it is nil.
// The caller owns the slice.
func (s *Sink) Summaries() []Summary { return slices.Clone(s.done) }

// LabelKeys returns the sorted keys of the labels of the profile's samples, so that callers can list the available
// keys. It returns nil before Close and if Options.DropLabels is empty.
func (s *Sink) LabelKeys() []string { return s.labelKeys }

// PerKind reports whether the Sink writes one profile per kind.
func (s *Sink) PerKind() bool { return s.create != nil }

// addKeys adds the keys of a profile's labels; nil if they are not recorded.
func (s *Sink) addKeys(keys map[string]bool) {
	for key := range keys {
		if !slices.Contains(s.labelKeys, key) {
			s.labelKeys = append(s.labelKeys, key)
		}
	}
	slices.Sort(s.labelKeys)
}

func summarize(p *profile.Profile, t *tables, samples int) Summary {
	u := p.Unresolved
	return Summary{
		Kind: p.Kind, Others: p.Others, Estimate: p.Estimate.String(), Events: p.Events, Samples: samples,
		Functions: len(t.functions.list), Locations: len(t.locations.list),
		Main: SampleType(p.MainType()), Total: u.Total, Frames: u.Frames,
		Unresolved: Unresolved{
			Frames: u.Unnamed, NoModule: u.Reasons[profile.NoModule], NoMethod: u.Reasons[profile.NoMethod],
			NoSymbol: u.Reasons[profile.NoSymbol], NoKernelSymbol: u.Reasons[profile.NoKernelSymbol],
			Passing: u.Any, Leaf: u.Leaf, Module: u.Module, Rundown: u.Rundown && u.Unnamed > 0,
		},
	}
}
