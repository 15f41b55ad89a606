package managedcode

import (
	"errors"
	"slices"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/symbols/assembly"
	"github.com/ntconv/ntconv/internal/symbols/symbolfiles"
	"github.com/ntconv/ntconv/symbol"
)

// A module is an assembly of the trace and the files found for it.
type module struct {
	resolver *Resolver
	path, id string // as recorded; id is that of the PDB, empty if unknown

	image    *assembly.Image
	imageAt  string
	imageErr error // nil before it was searched
	native   *assembly.NativeImage
	codeErr  error

	pdb    *assembly.PDB
	pdbAt  string
	pdbErr error

	refused []symbolfiles.Refusal

	named, located uint64 // addresses with a name, instructions with a line
}

var (
	errNotFound = errors.New("no file found")
	errRefused  = errors.New("only files of other builds found")
)

// release drops the bytes of files. What was searched without success is not searched again.
func (m *module) release() {
	if m.image != nil {
		m.image, m.imageErr, m.native, m.codeErr = nil, nil, nil, nil
	}
	if m.pdb != nil {
		m.pdb, m.pdbErr = nil, nil
	}
}

// A candidate is a path that may be the searched file.
type candidate struct {
	path  string
	named bool // in a directory that the user named
}

// candidates returns the paths of a file: in the directories of the user, and as recorded if local files are allowed.
func (m *module) candidates(recorded string) []candidate {
	var list []candidate
	for _, path := range m.resolver.tree.find(base(recorded)) {
		list = append(list, candidate{path, true})
	}
	if m.resolver.opts.Local && m.id != "" && symbolfiles.IsLocal(recorded) {
		list = append(list, candidate{recorded, false})
	}
	return list
}

// refuse notes that a file has the searched name, but is not used.
func (m *module) refuse(c candidate, id, reason string) {
	r := symbolfiles.Refusal{File: c.path, BuildID: id, Want: m.id, Mapping: m.path, Explicit: c.named, Reason: reason}
	if !slices.Contains(m.refused, r) {
		m.refused = append(m.refused, r)
	}
}

const (
	otherBuild = "another build"
	noIdentity = "it has no debug directory, so its build is unknown"
	tooSmall   = "it is smaller than its mapping"
	unnamed    = "the trace does not state the build"
)

// findImage returns the assembly. size is that of its mapping, 0 if it is unknown; it matters if the trace has no
// identity.
func (m *module) findImage(size uint64) *assembly.Image {
	if m.image != nil || m.imageErr != nil {
		return m.image
	}
	m.imageErr = errNotFound
	for _, c := range m.candidates(m.path) {
		data, err := symbolfiles.ReadRegular(c.path, maxFileSize)
		if err != nil {
			continue
		}
		img, err := assembly.ParseImage(data)
		if errors.Is(err, assembly.ErrNative) {
			continue
		}
		if err != nil {
			m.refuse(c, "", err.Error())
			continue
		}
		if id, why := m.mismatch(img, c, size, uint64(len(data))); why != "" {
			m.imageErr = errRefused
			m.refuse(c, id, why)
			continue
		}
		m.resolver.hold(len(data)) // first, because it may release m
		m.image, m.imageAt, m.imageErr = img, c.path, nil
		return img
	}
	return nil
}

// mismatch returns why an assembly is not the mapped one, with its identity, or "".
func (m *module) mismatch(img *assembly.Image, c candidate, mapped, size uint64) (id, why string) {
	const page = 64 << 10
	cv, ok := img.CodeView()
	if ok {
		id = pdbID(cv.ID, cv.Age)
	}
	switch {
	case m.id != "" && !ok:
		return "", noIdentity
	case m.id != "" && !sameGUID(m.id, cv.ID):
		return id, otherBuild
	case m.id == "" && !c.named:
		return id, unnamed
	case m.id == "" && mapped > size+page:
		return id, tooSmall
	}
	return id, ""
}

// code returns the precompiled code of the assembly that is mapped at a.
func (m *module) code(a *ntconv.Mapping) *assembly.NativeImage {
	if m.native != nil {
		return m.native
	}
	if m.codeErr != nil || m.findImage(a.Limit-a.Start) == nil {
		return nil
	}
	m.native, m.codeErr = assembly.OpenNative(m.image, func(name string, mvid [16]byte) *assembly.Metadata {
		return m.resolver.metadata(m.imageAt, name, mvid)
	})
	if m.codeErr != nil && !isMissing(m.codeErr) {
		m.refuse(candidate{path: m.imageAt}, "", m.codeErr.Error())
	}
	return m.native
}

// findPDB returns the portable PDB of the assembly: a file next to it or in a directory of the user, or embedded in it.
func (m *module) findPDB() *assembly.PDB {
	if m.pdb != nil || m.pdbErr != nil {
		return m.pdb
	}
	m.pdbErr = errNotFound
	id := m.id
	img := m.findImage(0)
	if id == "" && img != nil {
		if cv, ok := img.CodeView(); ok {
			id = pdbID(cv.ID, cv.Age)
		}
	}
	if id == "" {
		return nil
	}
	for _, c := range m.pdbPaths() {
		data, err := symbolfiles.ReadRegular(c.path, maxFileSize)
		if err != nil {
			continue
		}
		pdb, err := assembly.ParsePDB(data)
		if err != nil {
			m.refuse(c, "", err.Error())
			continue
		}
		if !sameGUID(id, pdb.ID()) {
			m.pdbErr = errRefused
			m.refuse(c, pdbID(pdb.ID(), 1), otherBuild)
			continue
		}
		m.resolver.hold(len(data))
		m.pdb, m.pdbAt, m.pdbErr = pdb, c.path, nil
		return pdb
	}
	m.embedded(img)
	return m.pdb
}

// pdbPaths returns the paths where the PDB may be.
func (m *module) pdbPaths() []candidate {
	name := pdbName(m.path)
	var list []candidate
	if m.imageAt != "" {
		list = append(list, candidate{path: sibling(m.imageAt, name)})
	}
	return append(list, m.candidates(sibling(m.path, name))...)
}

// embedded uses the PDB in the assembly, whose identity was checked.
func (m *module) embedded(img *assembly.Image) {
	if img == nil {
		return
	}
	pdb, err := assembly.EmbeddedPDB(img, maxFileSize)
	if err == nil {
		_, size := img.EmbeddedPDB()
		m.resolver.hold(int(size))
		m.pdb, m.pdbAt, m.pdbErr = pdb, m.imageAt, nil
	} else if !isMissing(err) {
		m.refuse(candidate{path: m.imageAt}, "", err.Error())
	}
}

// line returns the source line of an IL offset of a method. A negative offset yields only the first line of the method.
func (m *module) line(token uint32, il int32) symbol.SourceLine {
	pdb := m.findPDB()
	if pdb == nil || token>>24 != methodDef {
		return symbol.SourceLine{}
	}
	row := token & 0xffffff
	first, ok := pdb.First(row)
	if !ok {
		return symbol.SourceLine{}
	}
	line := symbol.SourceLine{File: first.File, StartLine: first.Line}
	if il >= 0 {
		if at, ok := pdb.Locate(row, uint32(il)); ok && at.File == first.File {
			line.Line, line.Column = at.Line, at.Column
		}
	}
	return line
}

// precompiledOffset returns the IL offset of an instruction of precompiled code of which only the method is known, or
// -1.
func (m *module) precompiledOffset(c *symbol.ManagedCode) int32 {
	if m.findImage(0) == nil {
		return -1
	}
	code := m.code(&ntconv.Mapping{})
	if code == nil {
		return -1
	}
	if method, ok := code.Find(c.Token, c.Type); ok {
		return ilOffset(code.Points(method), c.NativeOffset)
	}
	return -1
}
