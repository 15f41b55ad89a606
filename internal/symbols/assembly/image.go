package assembly

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
)

// ErrFormat is wrapped by the errors of files that are not valid assemblies or metadata.
var ErrFormat = errors.New("not a valid .NET assembly")

// ErrNative is returned for PE files without a CLI header, such as native libraries of Windows.
var ErrNative = errors.New("not a .NET assembly")

// A Directory is a range of addresses in a mapped image, relative to its base.
type Directory struct{ RVA, Size uint32 }

// A Section is a section of a PE file (PE/COFF specification, section table).
type Section struct {
	Name     string
	RVA      uint32 // of the first byte
	Size     uint32 // in memory
	Offset   uint32 // of the first byte in the file
	FileSize uint32
}

// Values of Image.Machine that native code of .NET has. On systems other than Windows the value is combined with a
// number of the operating system by exclusive or (PE-COFF.md of dotnet/runtime).
const (
	MachineI386  = 0x14c
	MachineARM   = 0x1c4
	MachineAMD64 = 0x8664
	MachineARM64 = 0xaa64
)

// An Image is a PE file with a CLI header. It refers to the bytes that it was parsed from.
type Image struct {
	Machine  uint16 // one of the Machine constants if the operating system is known, or else the value of the file
	Sections []Section

	data          []byte
	exports       Directory
	debug         Directory
	metadata      Directory // II.25.3.3
	managedNative Directory
}

const (
	maxSections  = 96 // Windows loads no more
	dirExport    = 0
	dirDebug     = 6
	dirCLI       = 14
	magicPE32    = 0x10b
	magicPE64    = 0x20b
	sectionSize  = 40
	cliHeaderMin = 72
)

// ParseImage parses the headers of a PE file with a CLI header. The image keeps data, which must not change.
func ParseImage(data []byte) (*Image, error) {
	pe := u32(data, 0x3c)
	if !bytes.HasPrefix(data, []byte("MZ")) || string(at(data, pe, 4)) != "PE\x00\x00" {
		return nil, fmt.Errorf("byte 0: no PE header: %w", ErrFormat)
	}
	img := &Image{data: data, Machine: machine(u16(data, pe+4))}
	sections, optional := u16(data, pe+6), uint32(u16(data, pe+20))
	dirs := pe + 24
	switch u16(data, pe+24) {
	case magicPE32:
		dirs += 96
	case magicPE64:
		dirs += 112
	default:
		return nil, fmt.Errorf("byte %d: unknown optional header: %w", pe+24, ErrFormat)
	}
	if sections > maxSections {
		return nil, fmt.Errorf("byte %d: %d sections, limit %d: %w", pe+6, sections, maxSections, ErrFormat)
	}
	for i := range uint32(sections) {
		b := at(data, pe+24+optional+i*sectionSize, sectionSize)
		if b == nil {
			return nil, fmt.Errorf("section table is truncated: %w", ErrFormat)
		}
		img.Sections = append(img.Sections, Section{
			Name: string(bytes.TrimRight(b[:8], "\x00")), Size: u32(b, 8), RVA: u32(b, 12),
			FileSize: u32(b, 16), Offset: u32(b, 20),
		})
	}
	img.exports, img.debug = directory(data, dirs+8*dirExport), directory(data, dirs+8*dirDebug)
	cli := directory(data, dirs+8*dirCLI)
	header := img.At(cli.RVA, cliHeaderMin)
	if header == nil {
		return nil, ErrNative
	}
	img.metadata, img.managedNative = directory(header, 8), directory(header, 64)
	return img, nil
}

// machine removes the operating system from the machine of a PE file.
func machine(m uint16) uint16 {
	// Windows, Linux, macOS, FreeBSD, NetBSD, SunOS
	for _, system := range [...]uint16{0, 0x7b79, 0x4644, 0xadc4, 0x1993, 0x1992} {
		switch x := m ^ system; x {
		case MachineI386, MachineARM, MachineAMD64, MachineARM64:
			return x
		}
	}
	return m
}

// At returns size bytes at an address relative to the image base, or nil if the file does not hold them.
func (img *Image) At(rva, size uint32) []byte {
	b := img.From(rva)
	if uint64(len(b)) < uint64(size) || b == nil {
		return nil
	}
	return b[:size]
}

// From returns the bytes from an address to the end of its section, or nil if the file does not hold them.
func (img *Image) From(rva uint32) []byte {
	for i := range img.Sections {
		s := &img.Sections[i]
		if rva < s.RVA || rva-s.RVA >= s.FileSize {
			continue
		}
		from := uint64(s.Offset) + uint64(rva-s.RVA)
		to := min(uint64(s.Offset)+uint64(s.FileSize), uint64(len(img.data)))
		if from >= to {
			return nil
		}
		return img.data[from:to:to]
	}
	return nil
}

// RVA returns the address of a byte of the file relative to the image base. It returns false if no section contains the
// byte.
func (img *Image) RVA(offset uint64) (uint32, bool) {
	for i := range img.Sections {
		if s := &img.Sections[i]; offset >= uint64(s.Offset) && offset-uint64(s.Offset) < uint64(s.FileSize) {
			rva := offset - uint64(s.Offset) + uint64(s.RVA)
			return uint32(rva), rva < 1<<32
		}
	}
	return 0, false
}

// Limit returns the first address, relative to the image base, after all sections.
func (img *Image) Limit() uint32 {
	limit := uint64(0)
	for i := range img.Sections {
		limit = max(limit, uint64(img.Sections[i].RVA)+uint64(max(img.Sections[i].Size, img.Sections[i].FileSize)))
	}
	return uint32(min(limit, 1<<32-1))
}

// ManagedNative returns where the header of precompiled code lies. Its size is 0 if there is none.
func (img *Image) ManagedNative() Directory { return img.managedNative }

// Metadata parses the metadata of the assembly.
func (img *Image) Metadata() (*Metadata, error) { return img.MetadataAt(img.metadata) }

// MetadataAt parses metadata that is stored elsewhere in the image, such as that of a component or a manifest.
func (img *Image) MetadataAt(d Directory) (*Metadata, error) {
	b := img.At(d.RVA, d.Size)
	if len(b) == 0 {
		return nil, fmt.Errorf("no metadata at address %#x: %w", d.RVA, ErrFormat)
	}
	return ParseMetadata(b)
}

// MetadataOfHeader parses the metadata that a CLI header elsewhere in the image refers to.
func (img *Image) MetadataOfHeader(d Directory) (*Metadata, error) {
	return img.MetadataAt(directory(img.At(d.RVA, cliHeaderMin), 8))
}

// Export returns the address of an exported symbol relative to the image base.
func (img *Image) Export(name string) (uint32, bool) {
	b := img.At(img.exports.RVA, 40)
	n, functions, names, ordinals := u32(b, 24), u32(b, 28), u32(b, 32), u32(b, 36)
	list := img.From(names)
	for i := uint32(0); i < n && uint64(i)*4+4 <= uint64(len(list)); i++ {
		if bytes.HasPrefix(img.From(u32(list, 4*i)), []byte(name+"\x00")) {
			ordinal := u16(img.From(ordinals), 2*i)
			return u32(img.From(functions), 4*uint32(ordinal)), true
		}
	}
	return 0, false
}

func directory(b []byte, offset uint32) Directory { return Directory{u32(b, offset), u32(b, offset+4)} }

// at returns size bytes from offset on, or nil if b does not hold them.
func at(b []byte, offset, size uint32) []byte {
	if uint64(offset)+uint64(size) > uint64(len(b)) {
		return nil
	}
	return b[offset : offset+size : offset+size]
}

func u16(b []byte, offset uint32) uint16 {
	if b = at(b, offset, 2); b == nil {
		return 0
	}
	return binary.LittleEndian.Uint16(b)
}

func u32(b []byte, offset uint32) uint32 {
	if b = at(b, offset, 4); b == nil {
		return 0
	}
	return binary.LittleEndian.Uint32(b)
}
