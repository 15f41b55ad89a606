package assembly

import (
	"bytes"
	"compress/flate"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

var (
	// ErrWindowsPDB is returned for PDBs in the older format, which only Windows builds of the .NET Framework write.
	ErrWindowsPDB = errors.New("a Windows PDB, not a portable one")
	// ErrNone is returned for assemblies without an embedded PDB.
	ErrNone = errors.New("the assembly has no embedded PDB")
	// ErrSize is returned for embedded PDBs that exceed the limit.
	ErrSize = errors.New("the embedded PDB exceeds the limit")
)

// A PDB is a portable PDB. It refers to the bytes that it was parsed from and is not safe for concurrent use.
type PDB struct {
	id        PDBID
	m         *Metadata
	documents map[uint32]string
}

// ParsePDB reads the headers of a portable PDB. The PDB keeps data, which must not change.
func ParsePDB(data []byte) (*PDB, error) {
	if bytes.HasPrefix(data, []byte("Microsoft C/C++ ")) {
		return nil, ErrWindowsPDB
	}
	m, err := ParseMetadata(data)
	if err != nil {
		return nil, err
	}
	id, ok := m.PDB()
	if !ok {
		return nil, fmt.Errorf("no #Pdb stream: %w", ErrFormat)
	}
	return &PDB{id: id, m: m, documents: make(map[uint32]string)}, nil
}

// maxRatio bounds the compression of an embedded PDB; compilers achieve less than 10.
const maxRatio = 256

// EmbeddedPDB decompresses and parses the PDB in an assembly. It returns ErrNone if there is none, and ErrSize if it has
// more than limit bytes, or maxRatio times its compressed size.
func EmbeddedPDB(img *Image, limit int64) (*PDB, error) {
	compressed, size := img.EmbeddedPDB()
	if compressed == nil {
		return nil, ErrNone
	}
	if limit = min(limit, maxRatio*int64(len(compressed))); int64(size) > limit {
		return nil, fmt.Errorf("%w: %d bytes, limit %d", ErrSize, size, limit)
	}
	data, err := io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(compressed)), int64(size)))
	if err != nil {
		return nil, fmt.Errorf("decompress the embedded PDB: %w", err)
	}
	return ParsePDB(data)
}

// ID returns the identity of the PDB. It equals that of the assembly of the same build.
func (p *PDB) ID() PDBID { return p.id }

// A Location is a position in a source file. Line and Column start at 1.
type SourceLocation struct {
	File         string // as the compiler recorded it
	Line, Column int32
}

// Locate returns the location of the statement that contains an IL offset of a method definition, given by its row. IL
// without a location, which compilers generate, belongs to the statement before it, or else to the first one. Locate
// returns false if the method has no location.
func (p *PDB) Locate(row, il uint32) (SourceLocation, bool) {
	var best point
	p.points(row, func(next point) bool {
		if best.line != 0 && next.il > il {
			return false
		}
		best = next
		return true
	})
	return p.location(best)
}

// First returns the first location of a method definition. It returns false if the method has none.
func (p *PDB) First(row uint32) (SourceLocation, bool) { return p.Locate(row, 0) }

func (p *PDB) location(at point) (SourceLocation, bool) {
	if at.line == 0 {
		return SourceLocation{}, false
	}
	file := p.document(at.document)
	return SourceLocation{file, int32(min(at.line, 1<<31-1)), int32(min(at.column, 1<<31-1))}, file != ""
}

// maxSequencePoints bounds the sequence points of a method.
const maxSequencePoints = 1 << 20

// A point is a sequence point with a location.
type point struct{ document, il, line, column uint32 }

// points calls visit for the sequence points of a method that have a location, in the order of IL offsets, until it
// returns false ("Sequence Points Blob").
func (p *PDB) points(row uint32, visit func(point) bool) {
	r := reader{rest: p.m.Blob(p.m.Cell(MethodDebugInformation, row, MethodDebugPoints)), ok: true}
	at := point{document: p.m.Cell(MethodDebugInformation, row, MethodDebugDocument)}
	r.uint() // signature of the local variables
	if at.document == 0 {
		at.document = r.uint()
	}
	located := false
	for n := 0; len(r.rest) > 0 && r.ok && n < maxSequencePoints; n++ {
		delta := r.uint()
		if delta == 0 && n > 0 {
			at.document = r.uint()
			continue
		}
		at.il += delta
		lines, columns := r.uint(), int32(0)
		if lines == 0 {
			columns = int32(r.uint())
		} else {
			columns = r.int()
		}
		if lines == 0 && columns == 0 {
			continue // hidden
		}
		if located {
			at.line, at.column = at.line+uint32(r.int()), at.column+uint32(r.int())
		} else {
			at.line, at.column, located = r.uint(), r.uint(), true
		}
		if !r.ok || at.line != 0 && !visit(at) {
			return
		}
	}
}

// document returns the path of a document, whose parts are blobs of their own ("Document Name Blob").
func (p *PDB) document(row uint32) string {
	if name, ok := p.documents[row]; ok {
		return name
	}
	const maxPath, maxDocuments = 1 << 14, 1 << 16
	blob := p.m.Blob(p.m.Cell(Document, row, DocumentName))
	separator := ""
	if len(blob) > 0 {
		c, size := utf8.DecodeRune(blob)
		if c != 0 {
			separator = string(c)
		}
		blob = blob[size:]
	}
	var b strings.Builder
	r := reader{rest: blob, ok: true}
	for i := 0; len(r.rest) > 0 && r.ok && b.Len() < maxPath; i++ {
		if i > 0 {
			b.WriteString(separator)
		}
		if part := r.uint(); part != 0 {
			text := p.m.Blob(part)
			b.Write(text[:min(len(text), maxPath)])
		}
	}
	name := ""
	if r.ok && b.Len() < maxPath {
		name = strings.ToValidUTF8(b.String(), "\uFFFD")
	}
	if len(p.documents) >= maxDocuments {
		clear(p.documents)
	}
	p.documents[row] = name
	return name
}

// Documents returns the paths of all source files.
func (p *PDB) Documents() []string {
	var list []string
	for row := range p.m.Rows(Document) {
		list = append(list, p.document(row+1))
	}
	return list
}

// A reader reads compressed numbers until one is invalid.
type reader struct {
	rest []byte
	ok   bool
}

func (r *reader) uint() (v uint32) {
	v, rest, ok := Compressed(r.rest)
	r.rest, r.ok = rest, r.ok && ok
	return v
}

func (r *reader) int() (v int32) {
	v, rest, ok := CompressedSigned(r.rest)
	r.rest, r.ok = rest, r.ok && ok
	return v
}
