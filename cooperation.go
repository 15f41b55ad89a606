package ntconv

// This file contains the optional interfaces of sinks, and that of Namers that group frames. ARCHITECTURE.md, "Who calls what when", describes the
// order of the calls.

// An OrderSensitive sink accepts events in any order and reports whether the order mattered. It lets the caller read a
// trace in file order, which is faster, and read it again in time order only if necessary.
type OrderSensitive interface {
	Sink
	// OrderMatters reports whether events in time order could have produced another output. Call it after the last
	// Write and before Close.
	OrderMatters() bool
}

// A Watcher is a sink whose output also depends on events that a selection omits: the time until the next sample of a
// thread, or the event that ends an interval.
type Watcher interface {
	Sink
	// Watch borrows an event until it returns. The caller calls it for every event of the trace in order; for a
	// selected event it calls Write with the same event next. A caller that selects nothing need not call it. Copy
	// calls it if the source is Selecting.
	Watch(*Event)
}

// A Selecting source omits events. Copy shows them to a sink that is a Watcher. Sources that Filter and convert.Open return
// are Selecting.
type Selecting interface {
	Source
	// Watch makes Next call see with every event, before it decides whether to return the event. see borrows the event
	// until it returns; nil ends that.
	Watch(see func(*Event))
}

// A FrameGrouper is a Namer that replaces frames of another Namer, so that different stacks often have equal frames. A
// sink that aggregates merges such stacks, and knows how many events a stack has, so it calls AppendGrouped instead of
// AppendFrames.
type FrameGrouper interface {
	Namer
	// Recorded returns the Namer whose frames this one replaces.
	Recorded() Namer
	// AppendGrouped appends the frames that represent the given frames of Recorded to dst, leaf first, and returns the
	// extended slice. It returns frames for every stack that has any. p is the process of the stack and may be nil.
	// events is the number of events with the stack; it only affects what the FrameGrouper reports about its work. It
	// borrows recorded.
	AppendGrouped(dst []Frame, p *Process, recorded []Frame, events int64) []Frame
}
