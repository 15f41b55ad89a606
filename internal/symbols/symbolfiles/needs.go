package symbolfiles

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/symbol"
)

// Kind is the kind of code of a Need.
type Kind string

const (
	KindFile     Kind = "file"     // a mapped program or library
	KindAssembly Kind = "assembly" // a mapped .NET assembly, whose precompiled code has no symbols of its own
	KindKernel   Kind = "kernel"
	KindProcess  Kind = "process" // code of a process outside of files: generated code
)

// A Need is a file, a process or the kernel to which addresses of the trace belong, with the frames of all events.
type Need struct {
	Kind       Kind   `json:"kind"`
	File       string `json:"file,omitempty"` // as recorded
	BuildID    string `json:"build_id,omitempty"`
	PID        uint64 `json:"pid,omitempty"`        // of KindProcess
	Process    string `json:"process,omitempty"`    // its name
	Host       string `json:"host,omitempty"`       // empty if the trace covers one machine
	Frames     int64  `json:"frames"`               // of all stacks
	FromTrace  int64  `json:"from_trace"`           // of Frames: resolved by events
	FromFiles  int64  `json:"from_files"`           // of Frames: resolved by files
	Unresolved int64  `json:"unresolved"`           // of Frames
	Addresses  int    `json:"unresolved_addresses"` // distinct ones
	Status     Status `json:"files"`

	mapping   *ntconv.Mapping
	process   *ntconv.Process // of KindProcess
	runtime   bool            // of KindProcess: .NET's runtime recorded the stacks
	namespace uint64
	addresses map[uint64]struct{}
}

// Needs counts the frames of events by the file that they belong to. It is a sink; call Result after the last event.
type Needs struct {
	asked  *Recorder
	namer  ntconv.Namer
	rows   map[needKey]*Need
	lines  map[moduleKey]*LineNeed
	frames []ntconv.Frame
	counts Counts
	dotnet bool // a frame is managed code
}

// Counts are those of all stacks, including managed frames.
type Counts struct {
	Stacks int64 // events with a stack
	Frames int64 // without inlined ones
}

// Counts returns what has been counted up to now.
func (n *Needs) Counts() Counts { return n.counts }

// A Recording says which events that name code a trace has.
type Recording struct {
	// EventPipe means that the format is written by .NET's runtime only: its stacks have managed frames only.
	EventPipe   bool
	Rundown     bool   // events of a rundown describe methods
	LostRundown uint64 // events of the rundown that the recorder lost
}

type needKey struct {
	kind      Kind
	moduleKey // of a file
	pid       uint64
	host      string
}

// NewNeeds returns an empty Needs. namer is a table whose Native is asked. It must know all symbols before the first
// Write.
func NewNeeds(asked *Recorder, namer ntconv.Namer) *Needs {
	return &Needs{asked: asked, namer: namer, rows: make(map[needKey]*Need), lines: make(map[moduleKey]*LineNeed)}
}

// A place is an address in a process.
type place struct {
	host    string
	pid, pc uint64
}

// maxPlaces bounds the addresses that are kept. A trace with more has them counted as resolved by events.
const maxPlaces = 1 << 22

// A Recorder is a Finder that remembers which addresses it resolved. It is not safe for concurrent use.
type Recorder struct {
	*Finder
	named      map[place]struct{}
	namespaces map[place]uint64 // by process, pc is 0
}

// Record returns a Recorder for the options of a table.
func Record(f *Finder) *Recorder {
	return &Recorder{Finder: f, named: make(map[place]struct{}), namespaces: make(map[place]uint64)}
}

// AppendNative implements symbol.Native.
func (r *Recorder) AppendNative(dst []symbol.NativeFrame, a *symbol.NativeAddress) []symbol.NativeFrame {
	out := r.Finder.AppendNative(dst, a)
	if len(out) > len(dst) && len(r.named) < maxPlaces {
		r.named[place{a.Host, a.PID, a.PC}] = struct{}{}
	}
	if a.NamespacePID != 0 && len(r.namespaces) < maxPlaces {
		r.namespaces[place{host: a.Host, pid: a.PID}] = a.NamespacePID
	}
	return out
}

// Write implements ntconv.Sink: it counts the frames of the event's stack.
func (n *Needs) Write(e *ntconv.Event) error {
	if e.Kind != ntconv.KindEvent || e.Stack == nil || e.Thread == nil {
		return nil
	}
	n.counts.Stacks++
	p := e.Thread.Process
	n.frames = n.namer.AppendFrames(n.frames[:0], p, e.Stack, e.Time)
	for i := range n.frames {
		f := &n.frames[i]
		if f.Flags&ntconv.FrameInlined == 0 {
			n.counts.Frames++
			n.dotnet = n.dotnet || f.Flags&ntconv.FrameManaged != 0
			n.count(p, f)
			n.locate(f)
		}
	}
	return nil
}

// Close implements ntconv.Sink.
func (n *Needs) Close() error { return nil }

// count counts a frame.
func (n *Needs) count(p *ntconv.Process, f *ntconv.Frame) {
	at := place{pc: f.PC}
	if p != nil {
		at.host, at.pid = p.Host, p.PID
	}
	_, fromFile := n.asked.named[at]
	if !fromFile { // a return address is looked up in the call before it
		before := at
		before.pc--
		_, fromFile = n.asked.named[before]
	}
	unresolved := symbol.IsUnresolved(f)
	if f.Flags&ntconv.FrameManaged != 0 && !fromFile && !unresolved || f.PC == 0 {
		return
	}
	row := n.row(p, f, at)
	if row == nil {
		return
	}
	row.Frames++
	switch {
	case unresolved:
		row.Unresolved++
		if len(row.addresses) < maxPlaces {
			row.addresses[f.PC] = struct{}{}
		}
	case fromFile:
		row.FromFiles++
	default:
		row.FromTrace++
	}
}

// maxRows bounds the rows. A trace of many machines has thousands of files.
const maxRows = 1 << 16

// row returns the row of a frame, or nil if there are too many.
func (n *Needs) row(p *ntconv.Process, f *ntconv.Frame, at place) *Need {
	key := needKey{kind: KindFile, host: at.host}
	switch {
	case f.Flags&ntconv.FrameKernel != 0:
		key.kind = KindKernel
	case f.Mapping == nil || isGenerated(f.Mapping.File):
		key.kind, key.pid = KindProcess, at.pid
	default:
		if key.moduleKey = (moduleKey{f.Mapping.File, f.Mapping.BuildID}); IsAssembly(key.file) {
			key.kind = KindAssembly
		}
	}
	row := n.rows[key]
	if row == nil && len(n.rows) < maxRows {
		row = &Need{
			Kind: key.kind, File: key.file, BuildID: key.buildID, PID: key.pid, Host: key.host, mapping: f.Mapping,
			addresses: make(map[uint64]struct{}),
		}
		if key.kind == KindProcess {
			row.process, row.Process = p, n.namer.Process(p).Name
			row.namespace = n.asked.namespaces[place{host: at.host, pid: at.pid}]
		}
		n.rows[key] = row
	}
	return row
}

// IsAssembly reports whether a mapped file is a .NET assembly rather than an ELF file, by its name.
func IsAssembly(file string) bool {
	file = strings.ToLower(RecordedPath(file))
	return strings.HasSuffix(file, ".dll") || strings.HasSuffix(file, ".exe")
}

// runtimeOnly reports whether the runtime recorded the stacks of a process: they have managed frames only, and perf maps
// are not their source of names.
func (n *Needs) runtimeOnly(row *Need, r *Recording) bool {
	mapped := func(m *ntconv.Mapping) bool { return m.Limit > m.Start }
	return (r.EventPipe || n.dotnet) && !slices.ContainsFunc(n.namer.Mappings(row.process), mapped)
}

// methods explains why addresses in stacks of the runtime have no symbol.
func (r *Recording) methods() Status {
	switch {
	case r.LostRundown > 0:
		return Status{
			Problem: "events of the rundown, in which .NET names methods, were lost",
			Next:    "record with a larger buffer (ntconv collect --buffer)",
		}
	case r.Rundown:
		return Status{Problem: "outside all methods that the rundown names, such as stubs"}
	}
	return Status{
		Problem: "no rundown, in which .NET names methods when a recording ends",
		Next:    "stop the recording with Enter or Ctrl+C and keep rundown enabled",
	}
}

// Result returns the rows, those with most unresolved frames first, with what was found for each.
func (n *Needs) Result(r *Recording) []*Need {
	var list []*Need
	for _, row := range n.rows {
		row.Addresses = len(row.addresses)
		switch row.Kind {
		case KindFile:
			row.Status = n.asked.Mapping(row.mapping)
		case KindKernel:
			row.Status = n.asked.Kernel()
		case KindProcess:
			row.Status = n.asked.Process(row.PID, row.namespace)
			if row.runtime = n.runtimeOnly(row, r); row.runtime && len(row.Status.Used) == 0 {
				row.Status = r.methods()
			}
		case KindAssembly:
			row.Status = Status{Problem: "precompiled code without method events", Next: "record with rundown enabled"}
			if a := n.asked.assemblies; a != nil {
				row.Status = a.Status(row.mapping)
			}
		}
		if row.Unresolved == 0 {
			row.Status.Problem, row.Status.Next = "", ""
		}
		list = append(list, row)
	}
	slices.SortFunc(list, func(a, b *Need) int {
		return cmp.Or(cmp.Compare(b.Unresolved, a.Unresolved), cmp.Compare(b.Frames, a.Frames), cmp.Compare(a.File, b.File),
			cmp.Compare(a.BuildID, b.BuildID), cmp.Compare(a.PID, b.PID), cmp.Compare(a.Kind, b.Kind),
			cmp.Compare(a.Host, b.Host))
	})
	return list
}

// Name returns what the row is about.
func (n *Need) Name() string {
	switch n.Kind {
	case KindKernel:
		return "kernel"
	case KindProcess:
		code := "generated code"
		if n.runtime {
			code = "methods"
		}
		if n.Process != "" {
			return fmt.Sprintf("%s of process %d (%s)", code, n.PID, n.Process)
		}
		return fmt.Sprintf("%s of process %d", code, n.PID)
	}
	return n.File
}
