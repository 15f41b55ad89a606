package managedcode

import (
	"errors"
	"strconv"
	"strings"
	"sync"

	"github.com/ntconv/ntconv/internal/events/clr"
	"github.com/ntconv/ntconv/internal/events/dotnet"
	"github.com/ntconv/ntconv/internal/symbols/assembly"
	"github.com/ntconv/ntconv/internal/symbols/symbolfiles"
	"github.com/ntconv/ntconv/symbol"
)

var (
	_ symbolfiles.Assemblies = (*Resolver)(nil)
	_ symbol.Lines           = (*Resolver)(nil)
)

// Options say where a Resolver looks. The zero value finds nothing.
type Options struct {
	// Paths are directories, or single files, that the user names. A directory is searched with all its subdirectories,
	// by name.
	Paths []string
	// Local permits files of this machine at the paths of the trace and next to them, if they have the identity that the
	// trace states.
	Local bool
	// Lines requests source lines.
	Lines bool
}

// A Resolver resolves addresses of precompiled code, and instructions of managed code to source lines. It opens files
// when they are first needed. It is safe for concurrent use; several tables may share it.
type Resolver struct {
	mu      sync.Mutex
	options func() Options
	ready   bool
	opts    Options // result of options
	tree    tree

	modules    map[moduleKey]*module
	order      []*module
	references map[reference]*assembly.Metadata // nil values are assemblies that were not found
	size       int64                            // of the files of all modules and references
}

// A reference is an assembly that precompiled code in a directory refers to.
type reference struct {
	dir, name string
	mvid      [16]byte
}

// moduleKey identifies an assembly of the trace.
type moduleKey struct{ path, id string }

// New returns a Resolver. It calls options once, when it is first asked, so that flags may be parsed later.
func New(options func() Options) *Resolver {
	return &Resolver{options: options, modules: make(map[moduleKey]*module), references: make(map[reference]*assembly.Metadata)}
}

// prepare evaluates the options. The caller holds mu.
func (r *Resolver) prepare() {
	if !r.ready {
		r.ready, r.opts = true, r.options()
		r.tree.roots = r.opts.Paths
	}
}

// maxModules bounds the assemblies whose state is kept.
const maxModules = 1 << 16

// module returns the state of an assembly of the trace.
func (r *Resolver) module(path, id string) *module {
	key := moduleKey{path, strings.ToLower(id)}
	m := r.modules[key]
	if m == nil {
		if len(r.modules) >= maxModules {
			r.modules, r.order = make(map[moduleKey]*module), nil
		}
		m = &module{resolver: r, path: symbolfiles.RecordedPath(path), id: key.id}
		r.modules[key] = m
		r.order = append(r.order, m)
	}
	return m
}

// AppendNative implements symbol.Native for addresses in mapped assemblies.
func (r *Resolver) AppendNative(dst []symbol.NativeFrame, a *symbol.NativeAddress) []symbol.NativeFrame {
	if a.Mapping == nil || a.Kernel || !symbolfiles.IsAssembly(a.Mapping.File) || a.PC < a.Mapping.Start {
		return dst
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.prepare()
	m := r.module(a.Mapping.File, a.Mapping.BuildID)
	code := m.code(a.Mapping)
	if code == nil {
		return dst
	}
	rva, ok := m.image.RVA(a.PC - a.Mapping.Start + a.Mapping.Offset)
	if !ok {
		return dst
	}
	method, ok := code.Lookup(rva)
	if !ok {
		return dst
	}
	m.named++
	f := symbol.NativeFrame{Managed: true, Method: &symbol.NativeMethod{
		Module: method.Assembly, Namespace: method.Type, Name: method.Name, Signature: method.Signature,
	}}
	if method.Assembly == "" {
		f.Method.Module = dotnet.ShortModule(a.Mapping.File)
		if r.opts.Lines {
			line := m.line(method.Token, ilOffset(code.Points(method), rva-method.RVA))
			f.Function.File, f.Function.StartLine, f.Line, f.Column = line.File, line.StartLine, line.Line, line.Column
		}
	}
	return append(dst, f)
}

// HasLines implements symbol.Lines.
func (r *Resolver) HasLines() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.prepare()
	return r.opts.Lines
}

// ManagedLine implements symbol.Lines.
func (r *Resolver) ManagedLine(c *symbol.ManagedCode) symbol.SourceLine {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.prepare()
	if !r.opts.Lines || !symbolfiles.IsAssembly(c.Module) || c.Token>>24 != methodDef {
		return symbol.SourceLine{}
	}
	m := r.module(c.Module, c.PDB)
	il := c.ILOffset
	if il < 0 && m.findPDB() != nil {
		il = m.precompiledOffset(c)
	}
	line := m.line(c.Token, il)
	if line.Line != 0 {
		m.located++
	}
	return line
}

// ilOffset returns the IL offset of an instruction of precompiled code, or -1.
func ilOffset(points []clr.ILPoint, native uint32) int32 {
	if il, ok := clr.ILOffset(points, native); ok {
		return il
	}
	return -1
}

// limits of the memory for files.
const maxFiles = 512 << 20

// hold counts the bytes of a file that a module refers to. If there are too many, all modules drop their files, and
// read them again when they need them.
func (r *Resolver) hold(size int) {
	if r.size += int64(size); r.size <= maxFiles || r.size == int64(size) {
		return
	}
	for _, m := range r.order {
		m.release()
	}
	clear(r.references)
	r.size = int64(size)
}

// metadata returns the metadata of an assembly that precompiled code of another one refers to. It is next to that one
// or in a directory of the user.
func (r *Resolver) metadata(from string, name string, mvid [16]byte) *assembly.Metadata {
	key := reference{sibling(from, ""), name, mvid}
	m, ok := r.references[key]
	if !ok {
		m = r.findMetadata(from, name, mvid)
		if len(r.references) < maxModules {
			r.references[key] = m
		}
	}
	return m
}

func (r *Resolver) findMetadata(from, name string, mvid [16]byte) *assembly.Metadata {
	file := name + ".dll"
	for _, path := range append([]string{sibling(from, file)}, r.tree.find(file)...) {
		data, err := symbolfiles.ReadRegular(path, maxFileSize)
		if err != nil {
			continue
		}
		img, err := assembly.ParseImage(data)
		if err != nil {
			continue
		}
		if m, err := img.Metadata(); err == nil && (mvid == [16]byte{} || m.MVID() == mvid) {
			r.hold(len(data))
			return m
		}
	}
	return nil
}

// pdbID returns the identity of a PDB as symbol servers spell it, with the age that compilers write.
func pdbID(id assembly.PDBID, age uint32) string {
	return assembly.GUIDString(id.GUID) + strconv.FormatUint(uint64(age), 16)
}

// sameGUID compares the identity that the trace states for a module with that of a portable PDB, which has no age.
func sameGUID(trace string, id assembly.PDBID) bool {
	const digits = 32
	return len(trace) >= digits && strings.EqualFold(trace[:digits], assembly.GUIDString(id.GUID))
}

// methodDef is the table of a method definition in a metadata token.
const methodDef = 0x06

// isMissing reports whether an error says nothing about the contents of a file.
func isMissing(err error) bool {
	return errors.Is(err, assembly.ErrNotPrecompiled) || errors.Is(err, assembly.ErrNone)
}
