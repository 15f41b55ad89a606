package elfsym

import (
	"debug/elf"
	"encoding/hex"
	"hash/crc32"
	"io"
	"strings"
)

// Types of notes.
const (
	noteBuildID   = 3 // of GNU
	noteGoBuildID = 4 // of Go
)

// BuildID returns the GNU build ID in hexadecimal, or "" if the file has none.
func (f *File) BuildID() string {
	id := hex.EncodeToString(f.note("GNU", noteBuildID))
	return id
}

// GoBuildID returns the build ID of the Go linker, or "".
func (f *File) GoBuildID() string { return string(f.note("Go", noteGoBuildID)) }

// note returns the description of the first note with that owner and type.
func (f *File) note(owner string, typ uint32) []byte {
	for i := range f.sections {
		if s := &f.sections[i]; s.typ == elf.SHT_NOTE {
			if d := f.noteIn(s.off, s.size, owner, typ); d != nil {
				return d
			}
		}
	}
	for i := range f.segments {
		if s := &f.segments[i]; s.typ == elf.PT_NOTE {
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
		nameSize, descSize, t := int(c.u32()), int(c.u32()), c.u32()
		if nameSize > len(c.b) || descSize > len(c.b) {
			return nil
		}
		name := c.skip((nameSize + 3) &^ 3)
		desc := c.skip(descSize)
		if t == typ && strings.TrimRight(string(name), "\x00") == owner && len(desc) > 0 {
			return desc
		}
		c.skip(-descSize & 3)
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

// CRC returns the CRC-32 of the whole file, as a debug link states it. It returns the errors of the reader.
func (f *File) CRC() (uint32, error) {
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
