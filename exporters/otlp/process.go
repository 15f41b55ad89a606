package otlp

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/clr"
	"github.com/ntconv/ntconv/internal/span"
	"github.com/ntconv/ntconv/schema"
)

// A process is what the trace says about a process. .NET writes the command line last, so a process is described when its first batch
// leaves, and stays so: backends would show a change as another program.
type process struct {
	pid     uint64
	hasPID  bool
	host    string
	name    string // as the kernel has it: at most 15 bytes
	command string
	os      string // of semantic conventions, as are the following
	arch    string
	runtime string
	version string

	row      resourceRow
	nameless bool  // its resource says unknownService
	spans    int64 // with this resource
}

// processKey identifies a process. It contains no pointer, so that what Watch learned in an earlier reading of the trace holds.
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

// processes are the processes of a trace.
type processes struct {
	schemas schema.Table
	all     map[processKey]*process
	last    *ntconv.Process
	found   *process
}

func (t *processes) of(p *ntconv.Process) *process {
	if t.found != nil && t.last == p {
		return t.found
	}
	key := keyOf(p)
	found := t.all[key]
	if found == nil {
		found = &process{host: key.host, pid: key.pid, hasPID: p != nil}
		found.row.process = found
		if p != nil {
			found.name = p.Name
		}
		if t.all == nil {
			t.all = make(map[processKey]*process)
		}
		t.all[key] = found
	}
	t.last, t.found = p, found
	return found
}

// unnamed returns how many spans have no service.name although the trace has one: the event with it came after their first batch.
func (t *processes) unnamed() (n int64) {
	for _, p := range t.all {
		if p.nameless && serviceName(p.command, p.name) != unknownService {
			n += p.spans
		}
	}
	return n
}

// describesProcess reports whether learn may learn something from events of a type. It costs a few nanoseconds.
func describesProcess(t *ntconv.Type) bool {
	switch t.Provider {
	case clr.EventPipe, clr.UniversalSystem, clr.Runtime, clr.Rundown:
		switch clr.ClassOf(t) {
		case clr.ClassProcessInfo, clr.ClassUniversalProcess, clr.ClassRuntimeStart:
			return true
		}
	}
	return false
}

// learn reads an event that describes a process.
func (t *processes) learn(e *ntconv.Event) {
	var owner *ntconv.Process
	if e.Thread != nil {
		owner = e.Thread.Process
	}
	p := t.of(owner)
	switch clr.ClassOf(e.Type) {
	case clr.ClassProcessInfo:
		v := t.read(e, "CommandLine", "OSInformation", "ArchInformation")
		setText(&p.command, v[0])
		setText(&p.os, osType(v[1]))
		setText(&p.arch, hostArch(v[2]))
	case clr.ClassUniversalProcess:
		var m clr.Process
		if clr.ParseProcess(e, &m) {
			setText(&p.name, string(m.Name))
		}
	case clr.ClassRuntimeStart:
		v := t.read(e, "Sku", "BclMajorVersion", "BclMinorVersion", "BclBuildNumber", "CommandLine")
		setText(&p.command, v[4])
		if v[0] == skuCore && v[1] != "4" { // .NET Core before 5.0 had the version of .NET Framework here
			p.runtime, p.version = ".NET", strings.Join(v[1:4], ".")
		}
	}
}

// skuCore is the field Sku of a RuntimeInformation event of every runtime but .NET Framework.
const skuCore = "2"

// read returns fields of an event as text, "" for absent ones.
func (t *processes) read(e *ntconv.Event, fields ...string) []string {
	p, _ := t.schemas.Of(e).Project(fields...)
	values := make([]ntconv.Value, len(fields))
	p.Read(e, values)
	texts := make([]string, len(fields))
	for i, v := range values {
		switch v.Kind() {
		case ntconv.ValueString:
			texts[i] = v.String()
		case ntconv.ValueUint:
			texts[i] = strconv.FormatUint(v.Uint(), 10)
		}
	}
	return texts
}

func setText(to *string, s string) {
	if s != "" {
		*to = s
	}
}

// osType returns the value of os.type for what the runtime calls an operating system.
func osType(s string) string {
	switch s {
	case "macOS":
		return "darwin"
	case "Unknown":
		return ""
	}
	return strings.ToLower(s)
}

// hostArch returns the value of host.arch for what the runtime calls an architecture.
func hostArch(s string) string {
	switch s {
	case "x64":
		return "amd64"
	case "Unknown":
		return ""
	}
	return strings.ToLower(s)
}

// maxSize returns at least the size of the resource that describe will make of what is known now.
func (p *process) maxSize(o *Options) int {
	const perAttribute = 64 // for a key of describe, and all tags and lengths
	size := 9*perAttribute + max(len(o.ServiceName), len(p.command), len(p.name), len(unknownService)) +
		len(p.command) + len(p.runtime) + len(p.version) + len(p.os) + len(p.arch) + len(p.host)
	for _, a := range o.Resource {
		size += perAttribute + len(a.Key) + len(a.Value)
	}
	return size
}

// describe sets the resource of a process.
func (p *process) describe(t *table, o *Options) {
	var list []span.Attribute
	text := func(key, value string) {
		if value != "" {
			list = append(list, span.Attribute{Key: key, Value: span.String(value)})
		}
	}
	service := o.ServiceName
	if service == "" {
		service = serviceName(p.command, p.name)
		_, given := o.Resource.Get(attrServiceName)
		p.nameless = service == unknownService && !given
	}
	text(attrServiceName, service)
	if p.hasPID {
		list = append(list, span.Attribute{Key: "process.pid", Value: span.Int(int64(p.pid))})
	}
	text("process.command_line", p.command)
	text("process.runtime.name", p.runtime)
	text("process.runtime.version", p.version)
	text("os.type", p.os)
	text("host.arch", p.arch)
	text("host.name", p.host)
	p.row.pb = t.resource(&span.Resource{Attributes: withAttributes(list, o.Resource)})
	p.row.measure()
}

// withAttributes adds attributes to a list, or replaces those with the same keys.
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

// unknownService is the service.name of a program without a name (semantic conventions of resources).
const unknownService = "unknown_service:dotnet"

// serviceName returns the entry assembly or the executable of a command line, without directory and extension: App for
// "/usr/bin/dotnet exec App.dll args" and for "/srv/App args". name is used if there is no command line.
func serviceName(command, name string) string {
	words := commandWords(command)
	if len(words) == 0 {
		words = []string{name}
	}
	program := programName(words[0])
	if !strings.EqualFold(program, "dotnet") {
		return cmp.Or(program, unknownService)
	}
	for _, w := range words[1:] {
		if base := programName(w); isAssembly(w) && base != "" {
			return base
		}
	}
	return unknownService
}

// commandWords splits a command line at spaces outside of quotation marks.
func commandWords(line string) (words []string) {
	for line = strings.TrimSpace(line); line != ""; line = strings.TrimSpace(line) {
		var word string
		if rest, ok := strings.CutPrefix(line, `"`); ok {
			word, line, _ = strings.Cut(rest, `"`)
		} else if i := strings.IndexAny(line, " \t"); i >= 0 {
			word, line = line[:i], line[i:]
		} else {
			word, line = line, ""
		}
		words = append(words, word)
	}
	return words
}

// isAssembly reports whether a file is managed code by its extension.
func isAssembly(path string) bool { return programName(path) != baseName(path) }

func baseName(path string) string { return path[strings.LastIndexAny(path, `/\`)+1:] }

// programName returns the name of a file without directory, .dll and .exe.
func programName(path string) string {
	base := baseName(path)
	if i := len(base) - len(".dll"); i > 0 && (strings.EqualFold(base[i:], ".dll") || strings.EqualFold(base[i:], ".exe")) {
		return base[:i]
	}
	return base
}
