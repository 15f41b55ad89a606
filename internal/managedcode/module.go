package managedcode

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/ecma"
	"github.com/ntconv/ntconv/internal/portablepdb"
	"github.com/ntconv/ntconv/internal/readytorun"
	"github.com/ntconv/ntconv/symbol"
)

// A module is an assembly of the trace and the files found for it.
type module struct {
	resolver *Resolver
	path, id string // as recorded; id is that of the PDB, empty if unknown

	image    *ecma.Image
	imageAt  string
	imageErr error // nil before it was searched
	native   *readytorun.Image
	codeErr  error

	pdb    *portablepdb.PDB
	pdbAt  string
	pdbErr error

	refused []Refused

	addresses, named      int
	instructions, located int
}

// A Refused file has the name of the one that was searched, but is of another build or cannot be read.
type Refused struct {
	Path string
	Want string // identity that the trace states
	Got  string // identity of the file; empty if it could not be read
	Err  error  // why it could not be read
}

// String describes the refusal.
func (f Refused) String() string {
	if f.Err != nil {
		return fmt.Sprintf("%s: %v", f.Path, f.Err)
	}
	return fmt.Sprintf("%s: another build: want %s, got %s", f.Path, f.Want, f.Got)
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
	if m.resolver.opts.Local && m.id != "" && filepath.IsAbs(recorded) {
		list = append(list, candidate{recorded, false})
	}
	return list
}

func (m *module) refuse(path, got string, err error) {
	f := Refused{Path: path, Want: m.id, Got: got, Err: err}
	if !slices.ContainsFunc(m.refused, func(o Refused) bool { return o.Path == path && o.Got == got }) {
		m.refused = append(m.refused, f)
	}
}

// findImage returns the assembly. size is that of its mapping, 0 if it is unknown; it matters if the trace has no
// identity.
func (m *module) findImage(size uint64) *ecma.Image {
	if m.image != nil || m.imageErr != nil {
		return m.image
	}
	m.imageErr = errNotFound
	for _, c := range m.candidates(m.path) {
		data, err := readFile(c.path)
		if err != nil {
			continue
		}
		img, err := ecma.ParseImage(data)
		if err != nil {
			m.refuse(c.path, "", err)
			continue
		}
		cv, ok := img.CodeView()
		switch {
		case m.id != "" && ok && sameGUID(m.id, cv.ID):
		case m.id != "" && ok:
			m.imageErr = errRefused
			m.refuse(c.path, pdbID(cv.ID, cv.Age), nil)
			continue
		case m.id != "" || !c.named || size > uint64(len(data))+64<<10:
			m.imageErr = errRefused
			m.refuse(c.path, "no identity", nil)
			continue
		}
		m.image, m.imageAt, m.imageErr = img, c.path, nil
		m.resolver.hold(len(data))
		return img
	}
	return nil
}

// code returns the precompiled code of the assembly that is mapped at a.
func (m *module) code(a *ntconv.Mapping) *readytorun.Image {
	if m.native != nil {
		return m.native
	}
	if m.codeErr != nil || m.findImage(a.Limit-a.Start) == nil {
		return nil
	}
	m.native, m.codeErr = readytorun.Open(m.image, func(name string, mvid [16]byte) *ecma.Metadata {
		return m.resolver.metadata(m.imageAt, name, mvid)
	})
	if m.codeErr != nil && !isMissing(m.codeErr) {
		m.refuse(m.imageAt, "", m.codeErr)
	}
	return m.native
}

// findPDB returns the portable PDB of the assembly: a file next to it or in a directory of the user, or embedded in it.
func (m *module) findPDB() *portablepdb.PDB {
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
	for _, path := range m.pdbPaths() {
		data, err := readFile(path)
		if err != nil {
			continue
		}
		pdb, err := portablepdb.Parse(data)
		if err != nil {
			m.refuse(path, "", err)
			continue
		}
		if !sameGUID(id, pdb.ID()) {
			m.pdbErr = errRefused
			m.refuse(path, pdbID(pdb.ID(), 1), nil)
			continue
		}
		m.pdb, m.pdbAt, m.pdbErr = pdb, path, nil
		m.resolver.hold(len(data))
		return pdb
	}
	m.embedded(img)
	return m.pdb
}

// pdbPaths returns the paths where the PDB may be.
func (m *module) pdbPaths() []string {
	var list []string
	if m.imageAt != "" {
		list = append(list, sibling(m.imageAt, pdbName(m.path)))
	}
	for _, c := range m.candidates(sibling(m.path, pdbName(m.path))) {
		list = append(list, c.path)
	}
	return list
}

// embedded uses the PDB in the assembly, whose identity was checked.
func (m *module) embedded(img *ecma.Image) {
	if img == nil {
		return
	}
	pdb, err := portablepdb.Embedded(img, maxFileSize)
	if err == nil {
		m.pdb, m.pdbAt, m.pdbErr = pdb, m.imageAt, nil
	} else if !isMissing(err) {
		m.refuse(m.imageAt, "", err)
	}
}

// line returns the source line of an IL offset of a method. A negative offset yields only the first line of the method.
func (m *module) line(token uint32, il int32) symbol.SourceLine {
	pdb := m.findPDB()
	if pdb == nil || token>>24 != 6 {
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
