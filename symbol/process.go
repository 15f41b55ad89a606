package symbol

import (
	"strings"
	"unicode"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/events/clr"
	"github.com/ntconv/ntconv/internal/events/dotnet"
)

// A process is the table's state of one process.
type process struct {
	host string
	pid  uint64
	info ntconv.ProcessInfo

	namespacePID uint64 // 0 if unknown

	methods methods
	wanted  wanted
	modules modules
	files   map[fileKey]*ntconv.Mapping // managed modules
	native  nativeMap
	ilMaps  ilMaps

	assemblies map[string]*ntconv.Mapping // modules of which only the name is known
	memo       map[memoKey]resolvedName
	defined    map[uint64]*definition             // by synthetic address
	originals  map[ntconv.Mapping]*ntconv.Mapping // contents of mapping definitions
}

type fileKey struct{ file, buildID string }

func newProcess(key processKey) *process {
	return &process{
		host:    key.host,
		pid:     key.pid,
		modules: make(modules),
		files:   make(map[fileKey]*ntconv.Mapping),
		memo:    make(map[memoKey]resolvedName),
	}
}

// file returns the mapping that represents a managed module, or nil if path is empty. It has no addresses, because
// events do not report them.
func (p *process) file(path, buildID string) *ntconv.Mapping {
	if path == "" {
		return nil
	}
	m := p.files[fileKey{path, buildID}]
	if m == nil {
		m = &ntconv.Mapping{File: path, BuildID: buildID}
		p.files[fileKey{path, buildID}] = m
	}
	return m
}

// assembly returns the mapping of a managed module of which only the name is known. It has the path of the mapped file
// with that name if there is one.
func (t *Table) assembly(p *process, name string) *ntconv.Mapping {
	if f, ok := p.assemblies[name]; ok {
		return f
	}
	f := p.file(name, "")
	if m := p.native.assembly(name); m != nil {
		f = p.file(m.File, t.metadata[m.metadata])
	}
	if p.assemblies == nil {
		p.assemblies = make(map[string]*ntconv.Mapping)
	}
	p.assemblies[name] = f
	return f
}

// assembly returns the first mapped assembly with that name, or nil.
func (s *nativeMap) assembly(name string) *mapping {
	for ; s.indexed < len(s.list); s.indexed++ {
		m := s.list[s.indexed]
		if !isAssembly(m.File) {
			continue
		}
		if s.assemblies == nil {
			s.assemblies = make(map[string]*mapping)
		}
		if key := assemblyKey(dotnet.ShortModule(m.File)); s.assemblies[key] == nil {
			s.assemblies[key] = m
		}
	}
	return s.assemblies[assemblyKey(name)]
}

// assemblyKey returns a string that is the same for all names that strings.EqualFold treats as equal.
func assemblyKey(name string) string {
	return strings.Map(func(r rune) rune {
		lowest := r
		for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
			lowest = min(lowest, f)
		}
		return lowest
	}, name)
}

// forget discards memoized names that may have changed. It replaces the map, because clear takes time proportional to
// the largest size that the map ever had.
func (p *process) forget() {
	if len(p.memo) > 0 {
		p.memo = make(map[memoKey]resolvedName)
	}
}

// isAssembly distinguishes shop.dll from the native program shop that starts it.
func isAssembly(file string) bool {
	i := strings.LastIndexByte(file, '.')
	return i >= 0 && (strings.EqualFold(file[i:], ".dll") || strings.EqualFold(file[i:], ".exe"))
}

func (t *Table) learnProcess(e *ntconv.Event) {
	var m clr.Process
	if !clr.ParseProcess(e, &m) {
		t.unreadable(e, "process event is truncated")
		return
	}
	p := t.processOf(e)
	if m.NamespaceID != 0 {
		p.namespacePID = m.NamespaceID
	}
	if len(m.Name) > 0 && string(m.Name) != p.info.Name {
		p.info.Name = string(m.Name)
	}
	if !m.Existing {
		p.info.Start, p.info.End = e.Time, 0
	}
}

func (t *Table) learnExit(e *ntconv.Event) { t.processOf(e).info.End = e.Time }

func (t *Table) learnCommandLine(e *ntconv.Event) {
	p, missing := t.schemas.Of(e).Project("CommandLine")
	var v [1]ntconv.Value
	if p.Read(e, v[:]); len(missing) > 0 || v[0].Kind() != ntconv.ValueString {
		t.unreadable(e, "event has no command line")
		return
	}
	if s := v[0].String(); s != "" {
		t.processOf(e).info.CommandLine = s
	}
}

// executable returns the file name of the first word of a command line.
func executable(line string) string {
	line = strings.TrimSpace(line)
	word := line
	if rest, ok := strings.CutPrefix(line, `"`); ok {
		word, _, _ = strings.Cut(rest, `"`)
	} else if i := strings.IndexAny(line, " \t"); i >= 0 {
		word = line[:i]
	}
	return word[strings.LastIndexAny(word, `/\`)+1:]
}

// Process returns what events reported about p; unknown members are zero. Name is the recorded process name, or else
// the executable of the command line, or else p.Name. p may be nil.
func (t *Table) Process(p *ntconv.Process) ntconv.ProcessInfo {
	var info ntconv.ProcessInfo
	if s := t.processes[keyOf(p)]; s != nil {
		info = s.info
	}
	if info.Name == "" {
		info.Name = executable(info.CommandLine)
	}
	if info.Name == "" && p != nil {
		info.Name = p.Name
	}
	return info
}

// Mappings returns the known mappings of p, sorted by start address. Those of managed modules come first: they have no
// addresses. The mappings stay valid and must not be modified. p may be nil.
func (t *Table) Mappings(p *ntconv.Process) []*ntconv.Mapping {
	var own []*ntconv.Mapping
	if p != nil {
		own = p.Mappings
	}
	s := t.processes[keyOf(p)]
	if s == nil {
		return own
	}
	return t.mappings(s, own)
}
