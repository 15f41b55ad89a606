package ntconv

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
}

// ProcessInfo is what events report about a process in addition to its Process.
type ProcessInfo struct {
	Name        string // executable without directory
	CommandLine string
	Start, End  Ticks // 0 if not recorded
}
