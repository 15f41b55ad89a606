package symbolfiles

import (
	"strings"
	"sync"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/symbols/elfsym"
	"github.com/ntconv/ntconv/symbol"
)

// Options say where a Finder looks. The zero value finds nothing.
type Options struct {
	// Paths are directories, or single files, that the user names. A directory is searched by build ID, by path and by
	// name.
	Paths []string
	// DebugDirs are directories of separate debug files, such as /usr/lib/debug. They are searched by build ID and by
	// path.
	DebugDirs []string
	// Local permits files of this machine at the paths of the trace, if they have the build ID of the mapping, and their
	// debug files in DebugDirs.
	Local bool
	// Lines requests source lines and inlined functions.
	Lines bool
	// Spelling selects the spelling of names.
	Spelling elfsym.Spelling
	// Servers are URLs of debuginfod servers. Without them, no request is sent.
	Servers []string
	// Cache is the directory for files of Servers. Empty means ntconv/debuginfod in the user's cache directory.
	Cache string
}

// A Finder resolves addresses with files. It is safe for concurrent use; several tables may share it.
type Finder struct {
	mu       sync.Mutex
	options  func() Options
	ready    bool
	set      Options // result of options
	trees    []*tree // of set.Paths, and then of set.DebugDirs
	explicit int     // number of trees of set.Paths
	server   *server // nil without servers
	host     Host

	assemblies Assemblies // nil: those of .NET are not searched

	modules map[moduleKey]*module
	recent  map[*ntconv.Mapping]*module // bounded by maxRecentMappings
	perf    map[perfKey]*perfMap
	kernel  *kernelSymbols // nil until the first address of the kernel
	held    int64          // bytes of all opened files
	frames  []elfsym.Frame // scratch
	spelled map[string]ntconv.Function
}

// Bounds of what a Finder keeps.
const (
	maxModules        = 1 << 14
	maxRecentMappings = 1 << 12
	maxPerfMaps       = 1 << 10
	maxHeld           = 4 << 30 // bytes of symbols and debug information
)

// New returns a Finder. It calls options once, when it is first asked for an address, so that flags may be parsed
// later.
func New(options func() Options) *Finder {
	return &Finder{
		options: options, modules: make(map[moduleKey]*module), recent: make(map[*ntconv.Mapping]*module),
		perf: make(map[perfKey]*perfMap), spelled: make(map[string]ntconv.Function),
	}
}

// Serve sets the program for which files are downloaded.
func (f *Finder) Serve(h Host) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.host = h
}

// prepare evaluates the options. The caller holds mu.
func (f *Finder) prepare() {
	if f.ready {
		return
	}
	f.ready, f.set = true, f.options()
	for _, p := range f.set.Paths {
		f.trees = append(f.trees, newTree(p))
	}
	f.explicit = len(f.trees)
	for _, p := range f.set.DebugDirs {
		f.trees = append(f.trees, newTree(p))
	}
	if len(f.set.Servers) > 0 {
		f.server = newServer(f.set.Servers, f.set.Cache, &f.host)
	}
}

// AppendNative implements symbol.Native.
func (f *Finder) AppendNative(dst []symbol.NativeFrame, a *symbol.NativeAddress) []symbol.NativeFrame {
	if f.assemblies != nil && !a.Kernel && a.Mapping != nil && IsAssembly(a.Mapping.File) {
		return f.assemblies.AppendNative(dst, a)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.prepare()
	switch {
	case a.Kernel:
		return f.appendKernel(dst, a)
	case a.Mapping == nil || isGenerated(a.Mapping.File):
		return f.appendPerf(dst, a)
	}
	m := f.module(a.Mapping)
	if m == nil || m.object == nil {
		return dst
	}
	out := f.appendModule(dst, m, a)
	if len(out) > len(dst) {
		m.named++
	}
	return out
}

// appendModule appends the functions at an address of a module.
func (f *Finder) appendModule(dst []symbol.NativeFrame, m *module, a *symbol.NativeAddress) []symbol.NativeFrame {
	in := elfsym.Mapping{Start: a.Mapping.Start, Limit: a.Mapping.Limit, Offset: a.Mapping.Offset}
	addr, ok := uint64(0), false
	switch {
	case m.program != nil && m.buildID == "" && !m.program.Agrees(in):
		m.disagrees = true
		return dst
	case m.program != nil:
		addr, ok = m.program.Address(in, a.PC)
	case m.debug != nil:
		addr, ok = m.debug.AddressIn(in, a.PC)
	}
	if !ok {
		m.outside = true
		return dst
	}
	before := m.object.Size()
	f.frames = m.object.Append(f.frames[:0], addr, f.set.Lines && f.held < maxHeld)
	f.held += m.object.Size() - before
	for i := range f.frames {
		n := &f.frames[i]
		fn := f.spell(n.Name)
		fn.File, fn.StartLine = n.File, n.StartLine
		dst = append(dst, symbol.NativeFrame{Function: fn, Line: n.Line, Column: n.Column})
	}
	return dst
}

// maxSpelled bounds the demangled names that are kept. Demangling a name of C++ takes longer than finding it.
const maxSpelled = 1 << 16

// spell returns the names of a function, without file and line.
func (f *Finder) spell(linker string) ntconv.Function {
	fn, ok := f.spelled[linker]
	if ok {
		return fn
	}
	fn.Name = elfsym.Demangle(linker, f.set.Spelling)
	if plain := elfsym.Demangle(linker, elfsym.SpellLinker); plain != fn.Name {
		fn.SystemName = plain
	}
	if fn.Name == "" {
		fn.Name = "??" // debug information without a name
	}
	if len(f.spelled) >= maxSpelled {
		clear(f.spelled)
	}
	f.spelled[linker] = fn
	return fn
}

// isGenerated reports whether a mapping with this file name holds generated code, which perf maps describe.
func isGenerated(file string) bool {
	return file == "" || strings.HasPrefix(file, "/memfd:") || strings.HasPrefix(file, "//anon") ||
		file == "[heap]" || strings.HasPrefix(file, "[anon") || strings.HasPrefix(file, "[stack")
}

// module returns the state of a mapped file, or nil if there are too many.
func (f *Finder) module(m *ntconv.Mapping) *module {
	if known := f.recent[m]; known != nil {
		return known
	}
	key := moduleKey{m.File, m.BuildID}
	found := f.modules[key]
	if found == nil {
		if len(f.modules) >= maxModules {
			return nil
		}
		found = f.search(key)
		f.modules[key] = found
	}
	if len(f.recent) >= maxRecentMappings {
		clear(f.recent)
	}
	f.recent[m] = found
	return found
}
