package sample

// A Summary describes a profile that an exporter has written.
type Summary struct {
	Kind   Kind
	Events uint64 // events that were samples; 0 if the trace has none of the kind
	Items  int    // samples of a pprof profile or lines of folded stacks: events with equal stacks and labels are one

	// The following fields include samples that were not written because their value is zero.
	Main       Type  // the sample type that viewers show first; zero if the profile has none
	Total      int64 // total of the values of Main
	Frames     int64 // frames of the stacks of all events; of kind Imported, of all samples
	Unresolved Unresolved
	Others     []Other // other kinds with samples, if no kind was requested
	// Estimate states how the values were estimated, and the standard errors of the totals; "" if they are counts.
	Estimate string
}

// A Type is the name and unit of a sample type, as in profile.proto: {"wall", "nanoseconds"}.
type Type struct{ Type, Unit string }

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
	Module  string // base name of the file with the most unresolved frames; "" if none of them has a file
	Rundown bool   // the trace has a rundown, see ntconv.Namer.HasRundown
}
