package streameq

// Options say what a comparison overlooks beside what it always does. The zero value overlooks nothing.
type Options struct {
	// EmptyMarks overlooks sequence points without threads and flags: a writer may insert them.
	EmptyMarks bool
	// Marks overlooks all marks.
	Marks bool
	// Sorted overlooks FlagSorted, which is about the order of events in a file.
	Sorted bool
	// Sequence overlooks the sequence numbers of events and of the threads of marks.
	Sequence bool
	// Lost overlooks KindLost events.
	Lost bool
	// Definitions overlooks types and threads that are declared but not used.
	Definitions bool
	// Frames compares only the addresses of stacks.
	Frames bool
	// Info does not compare what the sources say before the first event.
	Info bool
	// Errors takes an error of a source for its end.
	Errors bool
}
