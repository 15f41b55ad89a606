package ntconv

import "strconv"

// This file contains the optional interfaces of sinks and Namers. ARCHITECTURE.md, "Who calls what when", describes the
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
	// selected event it calls Write with the same event next. A caller that selects nothing need not call it.
	Watch(*Event)
}

// An AddressWanter is a Namer that can omit symbols that no stack needs.
type AddressWanter interface {
	Namer
	// Want announces that AppendFrames will be called for a stack of a process. A sink that asks for frames only in
	// Close calls it once for every distinct stack, when it first sees it. From the first call on, the Namer may omit
	// symbols of other addresses.
	Want(*Process, *Stack)
	// Missed returns the number of wanted addresses whose symbols had been omitted before Want was called. If it is not
	// zero, the caller reads the trace again with a Namer that knows all symbols.
	Missed() int
}

// An EpochSettler is a Namer whose epochs are exact only after Settle.
type EpochSettler interface {
	Namer
	// Settle makes Epoch exact until the next event is observed. It reports whether the Namer would give the same
	// answers if it had observed the events in time order. Call it after the last event.
	Settle() bool
}

// A RundownReporter is a Namer that knows whether the trace has a rundown: the events with which .NET describes all
// methods when a recording ends. Advice to record with rundown is only for traces without it.
type RundownReporter interface {
	Namer
	// HasRundown reports whether an observed event describes a method at the end of the recording. Call it after the
	// last event.
	HasRundown() bool
}

// A TypeNamer is a Namer that spells names of types as it spells names of methods.
type TypeNamer interface {
	Namer
	// TypeName returns the spelling of a type's name as the runtime records it, such as System.Int32[] in an event that
	// states the type of an allocated object.
	TypeName(recorded string) string
}

// A MethodNamer is a Namer that spells names of methods that events state as it spells names of frames.
type MethodNamer interface {
	Namer
	// MethodName returns the spelling of a method's name from the strings of an event such as MethodLoadVerbose:
	// namespace is the full name of the type, and signature contains the return type and the parameters.
	MethodName(namespace, name, signature string) string
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

// NoNames returns a Namer that resolves no addresses: it returns only the frames that a stack contains. Every other
// address yields a frame with FrameUnresolved whose placeholder name is the address. The Namer is not safe for
// concurrent use.
func NoNames() Namer { return noNames{} }

// noNames holds the placeholders that it has returned, by address, so that equal addresses have equal frames.
type noNames map[uint64]*Function

func (n noNames) AppendFrames(dst []Frame, _ *Process, s *Stack, _ Ticks) []Frame {
	if len(s.Frames) > 0 {
		return append(dst, s.Frames...)
	}
	for _, pc := range s.PCs {
		f := n[pc]
		if f == nil {
			f = &Function{Name: "0x" + strconv.FormatUint(pc, 16)}
			n[pc] = f
		}
		dst = append(dst, Frame{Func: f, PC: pc, Flags: FrameUnresolved})
	}
	return dst
}

func (noNames) Epoch(*Process, *Stack, Ticks) uint32 { return 0 }
func (noNames) Mappings(*Process) []*Mapping         { return nil }
func (noNames) Process(*Process) (info ProcessInfo)  { return info }
func (noNames) ThreadName(t *Thread) string          { return t.Name }
