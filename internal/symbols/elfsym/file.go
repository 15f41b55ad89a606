package elfsym

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// ErrFormat means that a file is not a valid ELF file.
var ErrFormat = errors.New("not a valid ELF file")

// Bounds of tables that are read before anything is known about the file.
const (
	maxSections = 1 << 16
	maxSegments = 1 << 12
	maxNotes    = 1 << 16 // bytes of one note section
	maxEntry    = 1 << 10 // bytes of a program or section header
	maxName     = 1 << 12 // bytes of a debug link or a source file's name

	maxSectionName = 1 << 8 // bytes
)

// maxSection is the largest section that is read, in bytes after decompression.
const maxSection = 1 << 30

// A File is an ELF file that is read on demand. It is not safe for concurrent use.
type File struct {
	r        io.ReaderAt
	size     int64
	is64     bool
	order    binary.ByteOrder
	kind     elf.Type
	machine  elf.Machine
	entry    uint64 // address of the first instruction
	segments []segment
	sections []section
}

// A segment is a program header (ELF specification, "Program Header").
type segment struct {
	typ                       elf.ProgType
	flags                     elf.ProgFlag
	off, vaddr, filesz, memsz uint64
}

// A section is a section header with its name.
type section struct {
	name            string
	typ             elf.SectionType
	flags           elf.SectionFlag
	addr, off, size uint64
	link            uint32
	entsize         uint64
}

// New reads the headers of a file of the given size. The File keeps r. The error wraps ErrFormat.
func New(r io.ReaderAt, size int64) (*File, error) {
	f := &File{r: r, size: size}
	var head [64]byte
	n, err := r.ReadAt(head[:min(int64(len(head)), max(size, 0))], 0)
	if err != nil && err != io.EOF {
		return nil, err
	}
	if n < 52 || string(head[:4]) != elf.ELFMAG {
		return nil, fmt.Errorf("%w: no ELF header", ErrFormat)
	}
	f.is64 = elf.Class(head[elf.EI_CLASS]) == elf.ELFCLASS64
	if f.is64 && n < 64 || !f.is64 && elf.Class(head[elf.EI_CLASS]) != elf.ELFCLASS32 {
		return nil, fmt.Errorf("%w: class %d", ErrFormat, head[elf.EI_CLASS])
	}
	switch elf.Data(head[elf.EI_DATA]) {
	case elf.ELFDATA2LSB:
		f.order = binary.LittleEndian
	case elf.ELFDATA2MSB:
		f.order = binary.BigEndian
	default:
		return nil, fmt.Errorf("%w: byte order %d", ErrFormat, head[elf.EI_DATA])
	}
	c := &fields{b: head[16:n], f: f}
	f.kind = elf.Type(c.u16())
	f.machine = elf.Machine(c.u16())
	c.skip(4)
	f.entry = c.word()
	phoff, shoff := c.word(), c.word()
	c.skip(4 + 2)
	phentsize, phnum := c.u16(), c.u16()
	shentsize, shnum, shstrndx := c.u16(), c.u16(), c.u16()
	if err := f.readSegments(phoff, int(phentsize), int(phnum)); err != nil {
		return nil, err
	}
	if err := f.readSections(shoff, int(shentsize), int(shnum), int(shstrndx)); err != nil {
		return nil, err
	}
	return f, nil
}

// fields reads consecutive fields of a header. A read past the end yields 0.
type fields struct {
	b []byte
	f *File
}

func (c *fields) skip(n int) []byte {
	if n > len(c.b) {
		c.b = nil
		return nil
	}
	b := c.b[:n]
	c.b = c.b[n:]
	return b
}

func (c *fields) u16() uint16 {
	if b := c.skip(2); b != nil {
		return c.f.order.Uint16(b)
	}
	return 0
}

func (c *fields) u32() uint32 {
	if b := c.skip(4); b != nil {
		return c.f.order.Uint32(b)
	}
	return 0
}

func (c *fields) u64() uint64 {
	if b := c.skip(8); b != nil {
		return c.f.order.Uint64(b)
	}
	return 0
}

// word reads an address, offset or size of the file's class.
func (c *fields) word() uint64 {
	if c.f.is64 {
		return c.u64()
	}
	return uint64(c.u32())
}

// read returns bytes of the file. It allocates no more than the file holds.
func (f *File) read(off, size uint64, limit uint64) ([]byte, error) {
	if size > limit {
		return nil, fmt.Errorf("%w: %d bytes at byte %d: limit %d", ErrFormat, size, off, limit)
	}
	if off > uint64(f.size) || size > uint64(f.size)-off {
		return nil, fmt.Errorf("%w: %d bytes at byte %d lie outside of the file of %d bytes", ErrFormat, size, off, f.size)
	}
	b := make([]byte, size)
	if n, err := f.r.ReadAt(b, int64(off)); n < len(b) {
		return nil, fmt.Errorf("%d bytes at byte %d: %w", size, off, err)
	}
	return b, nil
}

func (f *File) readSegments(off uint64, entry, count int) error {
	if count == 0 || off == 0 {
		return nil
	}
	if want := f.either(56, 32); entry < want || entry > maxEntry || count > maxSegments {
		return fmt.Errorf("%w: %d program headers of %d bytes", ErrFormat, count, entry)
	}
	b, err := f.read(off, uint64(entry*count), uint64(entry*count))
	if err != nil {
		return fmt.Errorf("program headers: %w", err)
	}
	for ; len(b) > 0; b = b[entry:] {
		c := &fields{b: b[:entry], f: f}
		s := segment{typ: elf.ProgType(c.u32())}
		if f.is64 {
			s.flags = elf.ProgFlag(c.u32())
		}
		s.off, s.vaddr = c.word(), c.word()
		c.word() // physical address
		s.filesz, s.memsz = c.word(), c.word()
		if !f.is64 {
			s.flags = elf.ProgFlag(c.u32())
		}
		f.segments = append(f.segments, s)
	}
	return nil
}

// readSections reads the section headers. Those that do not fit into 16 bits are counted in the first header.
func (f *File) readSections(off uint64, entry, count, names int) error {
	if off == 0 {
		return nil
	}
	if want := f.either(64, 40); entry < want || entry > maxEntry {
		return fmt.Errorf("%w: section headers of %d bytes", ErrFormat, entry)
	}
	if count == 0 || names == int(elf.SHN_XINDEX) {
		b, err := f.read(off, uint64(entry), uint64(entry))
		if err != nil {
			return fmt.Errorf("section headers: %w", err)
		}
		first, _ := f.section(b)
		if count == 0 {
			count = int(min(first.size, maxSections+1))
		}
		if names == int(elf.SHN_XINDEX) {
			names = int(first.link)
		}
	}
	if count > maxSections {
		return fmt.Errorf("%w: more than %d sections", ErrFormat, maxSections)
	}
	b, err := f.read(off, uint64(entry*count), uint64(entry*count))
	if err != nil {
		return fmt.Errorf("section headers: %w", err)
	}
	nameOffsets := make([]uint32, count)
	for i := range count {
		var s section
		s, nameOffsets[i] = f.section(b[i*entry : (i+1)*entry])
		f.sections = append(f.sections, s)
	}
	if names <= 0 || names >= count {
		return nil
	}
	strings, err := f.read(f.sections[names].off, f.sections[names].size, 1<<24)
	if err != nil {
		return fmt.Errorf("section names: %w", err)
	}
	for i := range f.sections {
		f.sections[i].name = string(cString(strings, uint64(nameOffsets[i]), maxSectionName))
	}
	return nil
}

func (f *File) section(b []byte) (s section, name uint32) {
	c := &fields{b: b, f: f}
	name, s.typ = c.u32(), elf.SectionType(c.u32())
	s.flags, s.addr, s.off, s.size = elf.SectionFlag(c.word()), c.word(), c.word(), c.word()
	s.link = c.u32()
	c.skip(4)
	c.word() // alignment
	s.entsize = c.word()
	return s, name
}

// either returns a for 64-bit files and b for 32-bit files.
func (f *File) either(a, b int) int {
	if f.is64 {
		return a
	}
	return b
}

// cString returns the bytes at off up to the first NUL, at most limit of them.
func cString(b []byte, off uint64, limit int) []byte {
	if off >= uint64(len(b)) {
		return nil
	}
	b = b[off:min(uint64(len(b)), off+uint64(limit))]
	if i := bytes.IndexByte(b, 0); i >= 0 {
		return b[:i]
	}
	return b
}

// named returns the first section with that name, or nil.
func (f *File) named(name string) *section {
	for i := range f.sections {
		if f.sections[i].name == name {
			return &f.sections[i]
		}
	}
	return nil
}

// hasData reports whether a section with that name has bytes in the file. Those of a separate debug file that belong to
// the program have none.
func (f *File) hasData(name string) bool {
	s := f.named(name)
	return s != nil && s.typ != elf.SHT_NOBITS && s.size > 0
}
