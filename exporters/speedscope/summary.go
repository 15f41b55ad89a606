package speedscope

// A Summary describes what a Sink has written. It is complete after Close.
type Summary struct {
	Counts
	Profiles int // in the file
	Frames   int // distinct frames of all profiles
}

// Counts is what the trace holds as a timeline. Not every format has a place for all of it.
type Counts struct {
	Events                              int64 // written
	Slices, Instants, Counters, Samples int64
	Flows                               int64 // arrows
	Lanes                               int64 // of Slices: on lanes, which show operations that do not nest on a thread
	Spans                               int64 // of Slices: spans, as opposed to intervals of the runtime
	Short                               int64 // slices that are shorter than the minimum, omitted
	Rundown                             int64 // events that only describe methods and modules, omitted
	Unfinished                          int64 // slices that end with the trace, because it does not show their end
	Renumbered                          int64 // threads and processes whose number is not the recorded one
	Losses                              int64 // instants that state how many events are missing; they are not among Instants
	Raw                                 int64 // events that a format writes as it once was read
	Moved                               int64 // slices with times far outside of the recording, which were moved to its start or end
}

// Summary returns the description of the output.
func (s *Sink) Summary() Summary { return s.done }
