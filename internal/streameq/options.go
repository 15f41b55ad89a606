package streameq

import "slices"

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
	// Errors treats an error of a source as its end.
	Errors bool
	// Profiles compares the totals of samples with equal threads, stacks and labels, not the events: importers of formats
	// such as pprof make the times, the order and the sequence numbers of events.
	Profiles bool
}

// An Aspect is a property of traces that a comparison can overlook, under the name by which users refer to it.
type Aspect struct {
	Name, Doc string
	overlook  func(*Options)
}

// Aspects returns the aspects in the order of the help.
func Aspects() []Aspect {
	return []Aspect{
		{"marks", "sequence points and ends of threads", func(o *Options) { o.Marks = true }},
		{"sequence", "sequence numbers, which a selection of events renumbers", func(o *Options) { o.Sequence = true }},
		{"lost", "where the recorder lost events, and how many", func(o *Options) { o.Lost = true }},
		{
			"sorted",
			"the flag of events that stand in order in the file (always, unless --order file)",
			func(o *Options) { o.Sorted = true },
		},
		{"definitions", "types and threads that no event uses", func(o *Options) { o.Definitions = true }},
		{
			"names",
			"names of stack frames in the trace itself; addresses are compared",
			func(o *Options) { o.Frames = true },
		},
		{"header", "clock, machine and attributes of the trace", func(o *Options) { o.Info = true }},
		{"damage", "that a trace is truncated or damaged, if the rest is equal", func(o *Options) { o.Errors = true }},
	}
}

// Overlook adds an aspect to what the comparison overlooks. It reports whether there is an aspect of that name.
func (o *Options) Overlook(name string) bool {
	list := Aspects()
	i := slices.IndexFunc(list, func(a Aspect) bool { return a.Name == name })
	if i < 0 {
		return false
	}
	list[i].overlook(o)
	return true
}
