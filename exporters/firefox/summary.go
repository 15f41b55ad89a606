package firefox

// A Summary counts what a Sink has written. It is the zero value before Close.
type Summary struct {
	Counts
	Threads int // in the file; one per process is included
	Schemas int // marker schemas
}

// Counts describes the trace as a timeline. An output format need not be able to represent all of it.
type Counts struct {
	Events                              int64 // events written
	Slices, Instants, Counters, Samples int64
	Flows                               int64 // arrows
	Lanes                               int64 // slices on lanes, which show operations that do not nest on a thread; included in Slices
	Spans                               int64 // slices of spans, not of intervals of the runtime; included in Slices
	Short                               int64 // slices shorter than MinDuration, omitted
	Rundown                             int64 // events that only describe methods and modules, omitted
	Unfinished                          int64 // slices that end with the trace, because it does not contain their end
	Renumbered                          int64 // threads and processes whose number differs from the recorded one
	Losses                              int64 // instants that state how many events are missing; not included in Instants
	Raw                                 int64 // imported events that are written with their original members
	Moved                               int64 // slices with times far outside the recording, moved to its start or end
}

// Summary returns counts of what Close wrote.
func (s *Sink) Summary() Summary { return s.done }
