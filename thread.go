package ntconv

// A Thread is a thread of execution: an operating system thread, or what the recorder treats as one. It is immutable
// and compared by pointer: an operating system thread with a reused ID is another Thread.
type Thread struct {
	TID     uint64 // ID in the operating system; TIDUnknown if it was not recorded
	Name    string // as recorded in the trace's thread table; a Namer has the names that events report
	Process *Process
	Attrs   Attrs
}

// TIDUnknown is the TID of a thread whose ID was not recorded.
const TIDUnknown = ^uint64(0)

// A Process owns threads and addresses. It is immutable and compared by pointer.
type Process struct {
	PID         uint64
	Host        string // the machine, if the trace covers several machines; otherwise empty
	Name        string // as recorded by sources that know it; a Namer has the names that events report
	PointerSize uint8  // in bytes: 4 or 8; 0 if unknown
	Attrs       Attrs
	// Mappings are set by sources whose stacks contain names, also if no frame refers to them. In other traces events
	// report the mappings: Namer.Mappings returns them.
	Mappings []*Mapping
}
