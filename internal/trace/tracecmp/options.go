package tracecmp

import "slices"

// Options select what a comparison ignores in addition to the list in the package documentation. The zero value ignores
// nothing else.
type Options struct {
	// EmptyMarks ignores sequence points without threads and flags, because a writer may insert them.
	EmptyMarks bool
	// Marks ignores all marks.
	Marks bool
	// Sorted ignores FlagSorted, which depends on the order of events in a file. Set it if the streams are in time
	// order.
	Sorted bool
	// Sequence ignores the sequence numbers of events and of the threads in marks.
	Sequence bool
	// Lost ignores KindLost events.
	Lost bool
	// Definitions ignores types and threads that are declared but not used.
	Definitions bool
	// Frames compares only the addresses of stacks.
	Frames bool
	// Info ignores Source.Info.
	Info bool
	// Errors treats an error of a source as the end of its stream.
	Errors bool
	// Profiles compares the totals of samples with equal threads, stacks and labels instead of the events, because
	// importers of formats such as pprof synthesize the times, the order and the sequence numbers of events.
	Profiles bool
}

// An Aspect is a property of traces that a comparison can ignore. Name is its name in --ignore, Doc its text in the
// help.
type Aspect struct {
	Name, Doc string
	overlook  func(*Options)
}

// Aspects returns all aspects in the order of the help.
func Aspects() []Aspect {
	return []Aspect{
		{"marks", "sequence points and ends of threads", func(o *Options) { o.Marks = true }},
		{"sequence", "sequence numbers, which a selection of events renumbers", func(o *Options) { o.Sequence = true }},
		{"lost", "where the recorder lost events, and how many", func(o *Options) { o.Lost = true }},
		{
			"sorted", "the flag of events that are in order in the file (always, unless --order file)",
			func(o *Options) { o.Sorted = true },
		},
		{"definitions", "types and threads that no event uses", func(o *Options) { o.Definitions = true }},
		{
			"names", "names of stack frames in the trace itself; addresses are compared",
			func(o *Options) { o.Frames = true },
		},
		{"header", "clock, machine and attributes of the trace", func(o *Options) { o.Info = true }},
		{"damage", "that a trace is truncated or corrupt, if the rest is equal", func(o *Options) { o.Errors = true }},
	}
}

// Overlook makes the comparison ignore the aspect with this name. It returns false if there is no such aspect.
func (o *Options) Overlook(name string) bool {
	list := Aspects()
	i := slices.IndexFunc(list, func(a Aspect) bool { return a.Name == name })
	if i < 0 {
		return false
	}
	list[i].overlook(o)
	return true
}
