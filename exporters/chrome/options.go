package chrome

import "github.com/ntconv/ntconv/track"

// Samples is the form in which a Sink writes samples of stacks.
type Samples uint8

const (
	// V8 writes CPU profiles of V8 in chunks (events Profile and ProfileChunk), one profile per thread and sample kind.
	// All viewers read them.
	V8 Samples = iota
	// StackFrames writes the members samples and stackFrames of the object form. It excludes Options.Array and
	// NewSplit.
	StackFrames
	// Slices writes a slice for each run of consecutive samples with the same frame at the same depth, on a track next
	// to the thread.
	Slices
	// NoSamples omits samples.
	NoSamples
)

// Options configure a Sink. The zero value selects the defaults.
type Options struct {
	// Options are those of all exporters of timelines. Name and Version are in the member metadata.
	track.Options
	Samples Samples
	// Array writes the array form, an array of events without metadata, which viewers can read even if its end is
	// missing. Close fails if Stacks or the samples of StackFrames are requested, too.
	Array bool
	// NoArgs omits the args of instants and slices: payloads, labels and attributes.
	NoArgs bool
	// Stacks adds the stacks of events (members sf and stackFrames). Only chrome://tracing shows them.
	Stacks bool
}

// A Summary counts what a Sink has written. It is the zero value before Close.
type Summary struct {
	track.Counts
	// Invalid is the number of strings that were not valid Unicode; their invalid parts were replaced by U+FFFD.
	Invalid int64
	// NotNumbers is the number of counter values that were omitted because they are infinite or not a number: JSON
	// cannot represent them.
	NotNumbers int64
	// LostFlows is the number of arrows that are not part of Flows and were omitted because the file, or the part of it, has
	// no slice at one of their ends.
	LostFlows int64
	// Parts is the number of files written.
	Parts int
}
