package fileio

import (
	"archive/zip"
	"bufio"
	"errors"
	"fmt"
	"hash"
	"hash/crc32"
	"io"
	"io/fs"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/klauspost/compress/flate"
)

// errNoParts is the cause if an input has no members.
var errNoParts = fmt.Errorf("neither a directory nor a zip archive, so it has no members: %w", errors.ErrUnsupported)

// An archive is the table of contents of a zip file.
type archive struct {
	files  map[string]*zip.File
	budget *budget
}

// archive returns the table of contents. It reads it once.
func (in *Input) archive() (*archive, error) {
	if a := in.zip.Load(); a != nil {
		return a, nil
	}
	at, size, err := in.At()
	if err != nil {
		return nil, err
	}
	if !isZip(at) {
		return nil, errNoParts
	}
	r, err := zip.NewReader(at, size)
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) { // names are checked below
		return nil, fmt.Errorf("zip archive: %w: %w", ErrCorrupt, err)
	}
	a, err := newArchive(r, size)
	if err != nil {
		return nil, err
	}
	if a.budget = in.budget; a.budget == nil {
		a.budget = new(budget)
	}
	if !in.zip.CompareAndSwap(nil, a) {
		a = in.zip.Load() // another goroutine was faster; all must share its budget
	}
	return a, nil
}

// isZip reports whether a file begins with a local file header, or with the end of an archive without members.
//
// The layout is that of APPNOTE.TXT 6.3.10, sections 4.3.7 and 4.3.16.
func isZip(r io.ReaderAt) bool {
	var head [4]byte
	n, _ := r.ReadAt(head[:], 0)
	return n == len(head) && (string(head[:]) == "PK\x03\x04" || string(head[:]) == "PK\x05\x06")
}

// newArchive selects the regular files with valid names. If several have one name, it selects the first.
func newArchive(r *zip.Reader, size int64) (*archive, error) {
	if len(r.File) > maxMembers {
		return nil, errTooMany
	}
	a := &archive{files: make(map[string]*zip.File, len(r.File))}
	rest := uint64(size)
	for _, f := range r.File {
		if f.CompressedSize64 > rest {
			return nil, fmt.Errorf("zip archive: %w: the members are larger than the file or overlap", ErrCorrupt)
		}
		rest -= f.CompressedSize64
		name := strings.ReplaceAll(f.Name, `\`, "/") // some writers on Windows
		if a.files[name] == nil && fs.ValidPath(name) && f.Mode().IsRegular() {
			a.files[name] = f
		}
	}
	return a, nil
}

func (a *archive) names() []string {
	names := make([]string, 0, len(a.files))
	for name := range a.files {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// open returns a member as an Input that reads through the descriptor of the archive.
func (a *archive) open(in *Input, name string) (*Input, error) {
	f := a.files[name]
	if f == nil {
		return nil, fs.ErrNotExist
	}
	switch {
	case f.Flags&1 != 0:
		return nil, fmt.Errorf("encrypted; extract it first: %w", errors.ErrUnsupported)
	case f.Method != zip.Store && f.Method != zip.Deflate:
		return nil, fmt.Errorf("zip compression method %d; extract it first: %w", f.Method, errors.ErrUnsupported)
	case f.Method == zip.Store && f.CompressedSize64 != f.UncompressedSize64:
		return nil, fmt.Errorf("zip archive: %w: stored without compression, but %d bytes give %d",
			ErrCorrupt, f.CompressedSize64, f.UncompressedSize64)
	}
	begin, err := f.DataOffset()
	if err != nil {
		return nil, fmt.Errorf("zip archive: %w: %w", ErrCorrupt, err)
	}
	size := int64(f.CompressedSize64)
	if begin > in.size-size {
		return nil, fmt.Errorf("zip archive: %w: the member ends after the archive", ErrCorrupt)
	}
	data := io.NewSectionReader(in.file, begin, size)
	m := &Input{name: in.name + "/" + name, limits: in.limits, file: data, size: size, budget: a.budget}
	if f.Method == zip.Deflate {
		m.entry = f
	}
	return m, nil
}

// inflate returns the content of a deflated member as a source for a stream, which may find it compressed again. Both
// decompressors count bytes and have the same limits.
func (in *Input) inflate(src *source) *source {
	br := bufio.NewReaderSize(src, rawBuffer)
	d := &decoder{
		src: src, br: br, format: deflated, limits: in.limits, meter: in.budget.meter(in.name + "\x00" + deflated.String()),
		r: &checked{r: flate.NewReader(br), sum: crc32.NewIEEE(), entry: in.entry},
	}
	return &source{name: in.name, r: d, n: new(atomic.Int64), located: true, stored: src.n.Load}
}

// A checked reader verifies size and checksum of a member against the archive.
type checked struct {
	r     io.Reader
	n     uint64
	sum   hash.Hash32
	entry *zip.File
}

// Read implements io.Reader.
func (c *checked) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += uint64(n)
	c.sum.Write(p[:n])
	if err == io.EOF && c.n != c.entry.UncompressedSize64 {
		err = fmt.Errorf("%d bytes decompressed, but the archive says %d", c.n, c.entry.UncompressedSize64)
	}
	if err == io.EOF && c.entry.CRC32 != 0 && c.sum.Sum32() != c.entry.CRC32 { // some writers omit it
		err = zip.ErrChecksum
	}
	return n, err
}
