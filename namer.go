package ntconv

// A Namer knows the names of addresses and of processes. It learns from events as they pass, so answers get better
// until the end of the trace: formats that aggregate ask in Close, formats that stream need a Namer that has seen the
// trace.
type Namer interface {
	// AppendFrames appends the frames of s to dst, leaf first: the source's own where the stack has them, else one or
	// more a PC. at is the time of an event with the stack: addresses are used again. A PC without a name gives a frame
	// with FrameUnresolved, never nothing.
	AppendFrames(dst []Frame, p *Process, s *Stack, at Ticks) []Frame
	// Epoch returns a number of what the addresses of s mean at a time, as far as is known now: of two times with equal
	// numbers AppendFrames gives the same frames, for what comes in the order of time. It lets an aggregator tell equal
	// stacks of different meaning apart before the names are known.
	Epoch(p *Process, s *Stack, at Ticks) uint32
	// Mappings returns the known mappings of p by address.
	Mappings(p *Process) []*Mapping
	// Process returns what events told about p.
	Process(p *Process) ProcessInfo
	// ThreadName returns the name that events gave t, else its own.
	ThreadName(t *Thread) string
}

// ProcessInfo is what a trace says about a process apart from its identity.
type ProcessInfo struct {
	Name        string // executable without directory
	CommandLine string
	Start, End  Ticks // 0 if not recorded
}
