package otlp

import (
	"bytes"
	"slices"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/events/recording"
	"github.com/ntconv/ntconv/internal/span"
)

// A process holds what events report about a process. .NET writes the command line last, so describe builds the
// resource only when the first batch of the process is sent. It does not change after that, because backends would show
// a changed resource as another program.
type process struct {
	recording.Process
	model  *ntconv.Process // for the namer; nil if unknown
	pid    uint64
	hasPID bool
	host   string

	foreign  bool // the trace is not one of .NET
	envelope envelope
	nameless bool  // its service.name is recording.UnknownService
	items    int64 // items with this resource
}

// A processKey identifies a process. It contains no pointer, so that what Watch learned in an earlier reading of the
// trace remains valid.
type processKey struct {
	host string
	pid  uint64
}

func keyOf(p *ntconv.Process) processKey {
	if p == nil {
		return processKey{pid: ^uint64(0)}
	}
	return processKey{p.Host, p.PID}
}

// processes holds the processes of a trace. last and found cache the latest lookup.
type processes struct {
	foreign bool // the trace is not one of .NET
	reader  recording.ProcessReader
	all     map[processKey]*process
	last    *ntconv.Process
	found   *process
}

// of returns the process of p, and adds it if necessary. nil is the process of spans without a process.
func (t *processes) of(p *ntconv.Process) *process {
	if t.found != nil && t.last == p {
		return t.found
	}
	key := keyOf(p)
	found := t.all[key]
	if found == nil {
		found = &process{foreign: t.foreign, host: key.host, pid: key.pid, hasPID: p != nil}
		found.envelope.field, found.envelope.process = fieldResource, found
		if p != nil {
			found.Name = p.Name
		}
		if t.all == nil {
			t.all = make(map[processKey]*process)
		}
		t.all[key] = found
	}
	t.last, t.found = p, found
	return found
}

// unnamed returns the number of items without a service.name although the trace contains one: its event followed their
// first batch.
func (t *processes) unnamed() (n int64) {
	for _, p := range t.all {
		if p.nameless && p.Service() != recording.UnknownService {
			n += p.items
		}
	}
	return n
}

// awaited reports whether a process has items, but neither a name nor a resource that was sent.
func (t *processes) awaited() bool {
	for _, p := range t.all {
		if p.awaited() {
			return true
		}
	}
	return false
}

// awaited reports whether a process of .NET, which names itself in the trace, has not done so.
func (p *process) awaited() bool {
	return p.hasPID && p.items > 0 && p.envelope.head == nil && !p.foreign && p.Service() == recording.UnknownService
}

// learn processes an event that describes a process.
func (t *processes) learn(e *ntconv.Event) {
	var owner *ntconv.Process
	if e.Thread != nil {
		owner = e.Thread.Process
	}
	t.reader.Learn(&t.of(owner).Process, e)
}

// maxSize returns an upper bound of the size of the resource that describe would build from what is known now.
func (p *process) maxSize(o *Options) int {
	const perAttribute = 64 // for a key that describe adds, and all tags and lengths
	size := 11*perAttribute + max(len(o.ServiceName), len(p.Command), len(p.Name), len(recording.UnknownService)) +
		len(p.Command) + len(p.Name) + len(p.Runtime) + len(p.Version) + len(p.OS) + len(p.Arch) + len(p.host)
	for _, a := range o.Resource {
		size += perAttribute + len(a.Key) + len(a.Value)
	}
	return size
}

// describe builds the resource of a process.
func (p *process) describe(t *table, o *Options) {
	var list []span.Attribute
	text := func(key, value string) {
		if value != "" {
			list = append(list, span.Attribute{Key: key, Value: span.String(value)})
		}
	}
	service := o.ServiceName
	if service == "" {
		service = p.Service()
		_, given := o.Resource.Get(attrServiceName)
		p.nameless = service == recording.UnknownService && !given
		if service == recording.UnknownService && p.foreign {
			service = recording.UnknownProgram
		}
	}
	text(attrServiceName, service)
	if p.hasPID {
		list = append(list, span.Attribute{Key: "process.pid", Value: span.Int(int64(p.pid))})
	}
	text("process.executable.name", p.Name)
	text("process.command_line", p.Command)
	text("process.runtime.name", p.Runtime)
	text("process.runtime.version", p.Version)
	if p.Runtime != "" || p.OS != "" { // only the events of a .NET runtime state these
		text("telemetry.sdk.language", "dotnet")
	}
	text("os.type", p.OS)
	text("host.arch", p.Arch)
	text("host.name", p.host)
	t.b = t.b[:0]
	t.resource(&span.Resource{Attributes: withAttributes(list, o.Resource)})
	p.envelope.head, p.envelope.size = bytes.Clone(t.b), len(t.b)
}

// withAttributes adds attributes to a list. They replace attributes with the same key.
func withAttributes(list []span.Attribute, attrs ntconv.Attrs) []span.Attribute {
	for _, a := range attrs {
		own := span.Attribute{Key: a.Key, Value: span.String(a.Value)}
		if i := slices.IndexFunc(list, func(b span.Attribute) bool { return b.Key == a.Key }); i >= 0 {
			list[i] = own
		} else {
			list = append(list, own)
		}
	}
	return list
}

const attrServiceName = "service.name"
