package recording

import (
	"strconv"
	"strings"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/events/clr"
	"github.com/ntconv/ntconv/schema"
)

// A Process is what a trace states about a process. Empty members are unknown.
type Process struct {
	Name    string // process name of the kernel, at most 15 bytes
	Command string // command line
	OS      string // os.type of the OpenTelemetry semantic conventions: linux, windows, darwin
	Arch    string // host.arch of the OpenTelemetry semantic conventions: amd64, arm64
	Runtime string // name of the runtime: .NET
	Version string // version of the runtime
}

// Service returns the name of the service: the entry assembly or executable of the command line, without directory and
// extension, or else the process name. It returns UnknownService if neither is known.
func (p *Process) Service() string { return serviceName(p.Command, p.Name) }

// Describes reports whether events of type t may describe a process; pass these events to Learn. It is cheap enough to
// be called for every event.
func Describes(t *ntconv.Type) bool {
	switch t.Provider {
	case clr.EventPipe, clr.UniversalSystem, clr.Runtime, clr.Rundown:
		switch clr.ClassOf(t) {
		case clr.ClassProcessInfo, clr.ClassUniversalProcess, clr.ClassRuntimeStart:
			return true
		}
	}
	return false
}

// A Reader reads the events that describe processes. The zero value is ready to use. A Reader is not safe for
// concurrent use.
type ProcessReader struct{ schemas schema.Table }

// Learn updates p with what an event states about its process. Later events override earlier ones. Learn borrows the
// event, whose type must satisfy Describes.
func (r *ProcessReader) Learn(p *Process, e *ntconv.Event) {
	switch clr.ClassOf(e.Type) {
	case clr.ClassProcessInfo:
		v := r.read(e, "CommandLine", "OSInformation", "ArchInformation")
		setText(&p.Command, v[0])
		setText(&p.OS, osType(v[1]))
		setText(&p.Arch, hostArch(v[2]))
	case clr.ClassUniversalProcess:
		var m clr.Process
		if clr.ParseProcess(e, &m) {
			setText(&p.Name, string(m.Name))
		}
	case clr.ClassRuntimeStart:
		v := r.read(e, "Sku", "BclMajorVersion", "BclMinorVersion", "BclBuildNumber", "CommandLine")
		setText(&p.Command, v[4])
		if v[0] == skuCore && v[1] != "4" { // before 5.0, .NET Core reported the version of .NET Framework here
			p.Runtime, p.Version = ".NET", strings.Join(v[1:4], ".")
		}
	}
}

// skuCore is the value of Sku in RuntimeInformation events of all runtimes except .NET Framework.
const skuCore = "2"

// read returns fields of an event as strings, "" for absent fields.
func (r *ProcessReader) read(e *ntconv.Event, fields ...string) []string {
	p, _ := r.schemas.Of(e).Project(fields...)
	values := make([]ntconv.Value, len(fields))
	p.Read(e, values)
	list := make([]string, len(fields))
	for i, v := range values {
		switch v.Kind() {
		case ntconv.ValueString:
			list[i] = v.String()
		case ntconv.ValueUint:
			list[i] = strconv.FormatUint(v.Uint(), 10)
		}
	}
	return list
}

// setText sets *to unless s is empty.
func setText(to *string, s string) {
	if s != "" {
		*to = s
	}
}

// osType returns the value of os.type for the runtime's name of an operating system.
func osType(s string) string {
	switch s {
	case "macOS":
		return "darwin"
	case "Unknown":
		return ""
	}
	return strings.ToLower(s)
}

// hostArch returns the value of host.arch for the runtime's name of an architecture.
func hostArch(s string) string {
	switch s {
	case "x64":
		return "amd64"
	case "Unknown":
		return ""
	}
	return strings.ToLower(s)
}
