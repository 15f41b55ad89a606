package elfsym

import (
	"debug/elf"
	"encoding/hex"
	"fmt"
	"hash/crc32"
	"io"
	"strings"
)

// Types of notes.
const (
	noteBuildID   = 3 // of GNU
	noteGoBuildID = 4 // of Go
)

// maxNoteSections bounds the sections that are searched for a note. Programs have some.
const maxNoteSections = 64

// BuildID returns the GNU build ID in hexadecimal, or "" if the file has none.
func (f *File) BuildID() string { return hex.EncodeToString(f.note("GNU", noteBuildID)) }

// GoBuildID returns the build ID of the Go linker, or "".
func (f *File) GoBuildID() string { return string(f.note("Go", noteGoBuildID)) }

// note returns the description of the first note with that owner and type.
func (f *File) note(owner string, typ uint32) []byte {
	left := maxNoteSections
	for i := range f.sections {
		if s := &f.sections[i]; s.typ == elf.SHT_NOTE && left > 0 {
			left--
			if d := f.noteIn(s.off, s.size, owner, typ); d != nil {
				return d
			}
		}
	}
	for i := range f.segments {
		if s := &f.segments[i]; s.typ == elf.PT_NOTE && left > 0 {
			left--
			if d := f.noteIn(s.off, s.filesz, owner, typ); d != nil {
				return d
			}
		}
	}
	return nil
}

// noteIn searches one note section (ELF specification, "Note Section"). Names and descriptions are padded to 4 bytes.
func (f *File) noteIn(off, size uint64, owner string, typ uint32) []byte {
	b, err := f.read(off, size, maxNotes)
	if err != nil {
		return nil
	}
	c := &fields{b: b, f: f}
	for len(c.b) >= 12 {
		nameSize, descSize, t := c.u32(), c.u32(), c.u32()
		if nameSize > maxNotes || descSize > maxNotes {
			return nil
		}
		name := c.skip(int(nameSize+3) &^ 3)
		desc := c.skip(int(descSize))
		if t == typ && strings.TrimRight(string(name), "\x00") == owner && len(desc) > 0 {
			return desc
		}
		c.skip(int(-descSize & 3))
	}
	return nil
}

// DebugLink returns the name of the separate debug file and its CRC-32 (.gnu_debuglink), or "". The name has no
// directory.
func (f *File) DebugLink() (name string, crc uint32) {
	b := f.data(".gnu_debuglink", maxName)
	s := string(cString(b, 0, maxName))
	end := (len(s) + 4) &^ 3
	if s == "" || strings.ContainsAny(s, "/\\") || s == "." || s == ".." || len(b) < end+4 {
		return "", 0
	}
	return s, f.order.Uint32(b[end:])
}

// maxChecked is the largest file whose checksum is computed, in bytes. A sparse file can be larger than any disk.
const maxChecked = 16 << 30

// CRC returns the CRC-32 of the whole file, as a debug link states it. It returns the errors of the reader, and an
// error for files of more than 16 GiB.
func (f *File) CRC() (uint32, error) {
	if f.size > maxChecked {
		return 0, fmt.Errorf("%d bytes: limit %d", f.size, int64(maxChecked))
	}
	h := crc32.NewIEEE()
	if _, err := io.Copy(h, io.NewSectionReader(f.r, 0, f.size)); err != nil {
		return 0, err
	}
	return h.Sum32(), nil
}

// HasAlternateDebug reports whether DWARF refers to a file shared by several programs (.gnu_debugaltlink), which is not
// supported: names that are stored there are missing.
func (f *File) HasAlternateDebug() bool { return f.hasData(".gnu_debugaltlink") }

// HasSymbols reports whether the file has a full symbol table: .symtab, or that of MiniDebugInfo, or that of Go.
func (f *File) HasSymbols() bool {
	return f.hasData(".symtab") || f.hasData(".gnu_debugdata") || f.hasGoTable()
}

// HasDebugInfo reports whether the file states source lines.
func (f *File) HasDebugInfo() bool { return f.hasDWARF() || f.hasGoTable() }

// DebugOnly reports whether the file is a separate debug file: its sections of code have no bytes.
func (f *File) DebugOnly() bool {
	for i := range f.sections {
		if s := &f.sections[i]; s.flags&elf.SHF_EXECINSTR != 0 && s.size > 0 {
			return s.typ == elf.SHT_NOBITS
		}
	}
	return false
}
