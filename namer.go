package ntconv

import "strconv"

// A Namer resolves addresses to frames and describes processes and threads. It learns from the events it observes, and
// .NET traces usually write symbols last: a sink that aggregates calls it in Close; a sink that writes each event at
// once needs a Namer that has read the whole trace. Unless its documentation states otherwise, a Namer is not safe for
// concurrent use.
type Namer interface {
	// AppendFrames appends the frames of s to dst, leaf first, and returns the extended slice. If s.Frames is set, it
	// appends these frames, except that it may resolve those with FrameUnresolved. Otherwise each PC yields one frame,
	// or several if functions were inlined there. p owns the addresses and may be nil. at is the time of the event that
	// recorded s; it selects among successive owners of a reused address. A PC without a symbol yields a frame with
	// FrameUnresolved and a placeholder name, never no frame.
	AppendFrames(dst []Frame, p *Process, s *Stack, at Ticks) []Frame
	// Epoch identifies the owners that the addresses of s in p have at the given time. If two calls with the same p and
	// s return the same number, AppendFrames, called after all events have been observed in time order, returns the
	// same frames for both times. Different numbers may still mean equal frames. Aggregators call Epoch for each
	// sample, before symbols are known, to keep equal stacks with different owners apart. A Namer without reused
	// addresses returns 0.
	Epoch(p *Process, s *Stack, at Ticks) uint32
	// Mappings returns the known mappings of p, sorted by start address; those without addresses come first. The slice
	// is shared and read-only.
	Mappings(p *Process) []*Mapping
	// Process returns what events reported about p; unknown members are zero.
	Process(p *Process) ProcessInfo
	// ThreadName returns the name that events reported for t, or else t.Name.
	ThreadName(t *Thread) string

	// Want announces that AppendFrames will be called for a stack of a process. A sink that asks for frames only in
	// Close calls it once for every distinct stack, when it first sees it. From the first call on, the Namer may omit
	// symbols of other addresses.
	Want(p *Process, s *Stack)
	// Missed returns the number of wanted addresses whose symbols had been omitted before Want was called. If it is not
	// zero, the caller reads the trace again with a Namer that knows all symbols.
	Missed() int
	// Settle makes Epoch exact until the next event is observed. It reports whether the Namer would give the same
	// answers if it had observed the events in time order. Call it after the last event.
	Settle() bool
	// HasRundown reports whether an observed event describes a method at the end of the recording: .NET describes all
	// methods then, and advice to record with rundown is only for traces without it. Call it after the last event.
	HasRundown() bool
	// TypeName returns the spelling of a type's name as the runtime records it, such as System.Int32[] in an event that
	// states the type of an allocated object. It returns "" if the Namer has no spelling of its own.
	TypeName(recorded string) string
	// MethodName returns the spelling of a method's name from the strings of an event such as MethodLoadVerbose:
	// namespace is the full name of the type, and signature contains the return type and the parameters. It returns ""
	// if the Namer has no spelling of its own.
	MethodName(namespace, name, signature string) string
}

// NoNames is a Namer that resolves no addresses: it returns only the frames that a stack contains. Every other address
// yields a frame with FrameUnresolved whose placeholder name is the address. Embed it to implement a Namer of your own:
// all its methods but AppendFrames, which has the frames, do nothing. It is not safe for concurrent use.
type NoNames struct {
	placeholders map[uint64]*Function // by address, so that equal addresses have equal frames
}

// AppendFrames implements Namer.
func (n *NoNames) AppendFrames(dst []Frame, _ *Process, s *Stack, _ Ticks) []Frame {
	if len(s.Frames) > 0 {
		return append(dst, s.Frames...)
	}
	if n.placeholders == nil {
		n.placeholders = make(map[uint64]*Function)
	}
	for _, pc := range s.PCs {
		f := n.placeholders[pc]
		if f == nil {
			f = &Function{Name: "0x" + strconv.FormatUint(pc, 16)}
			n.placeholders[pc] = f
		}
		dst = append(dst, Frame{Func: f, PC: pc, Flags: FrameUnresolved})
	}
	return dst
}

// The other methods implement Namer without symbols.

func (*NoNames) Epoch(*Process, *Stack, Ticks) uint32          { return 0 }
func (*NoNames) Mappings(*Process) []*Mapping                  { return nil }
func (*NoNames) Process(*Process) (info ProcessInfo)           { return info }
func (*NoNames) ThreadName(t *Thread) string                   { return t.Name }
func (*NoNames) Want(*Process, *Stack)                         {}
func (*NoNames) Missed() int                                   { return 0 }
func (*NoNames) Settle() bool                                  { return true }
func (*NoNames) HasRundown() bool                              { return false }
func (*NoNames) TypeName(string) string                        { return "" }
func (*NoNames) MethodName(namespace, name, sig string) string { return "" }

// ProcessInfo is what events report about a process in addition to its Process.
type ProcessInfo struct {
	Name        string // executable without directory
	CommandLine string
	Start, End  Ticks // 0 if not recorded
}
