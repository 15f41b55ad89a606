package speedscope

// A Summary describes what a Sink has written. It is complete after Close.
type Summary struct {
	Counts
	Profiles int // in the file
	Frames   int // distinct frames of all profiles
}

// Counts is what was made of the events of a trace.
type Counts struct {
	Events                              int64 // written
	Slices, Instants, Counters, Samples int64 // instants and counters are not written
	Flows                               int64
	Lanes                               int64 // of Slices: of lanes, which show operations that do not nest on a thread
	Spans                               int64 // of Slices: spans, as opposed to intervals of the runtime
	Short                               int64 // slices that MinDuration omitted
	Rundown                             int64 // events that only describe methods and modules
	Unfinished                          int64 // slices without an end in the trace, ended with it
	Renumbered                          int64 // threads and processes whose number is not the recorded one
	Losses                              int64 // instants that state how many events are missing; they are not among Instants
	Raw                                 int64 // not used by this format
	Moved                               int64 // slices with times far outside of the recording, which were moved to its start or end
}

// Summary returns the description of the output.
func (s *Sink) Summary() Summary { return s.done }
