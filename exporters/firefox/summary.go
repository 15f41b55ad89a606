package firefox

import "github.com/ntconv/ntconv/internal/timeline"

// A Summary describes what a Sink has written. It is complete after Close.
type Summary struct {
	Counts
	Threads int // in the file; each process is one, too
	Schemas int // descriptions of markers
}

// Counts is what the trace holds as a timeline. Not every format has a place for all of it.
type Counts = timeline.Counts

// Summary returns the description of the output.
func (s *Sink) Summary() Summary { return s.done }
