package elfsym

import "debug/elf"

// pageSize is the largest page size of the supported machines. Loaders map whole pages, so a mapping may begin up to a
// page before the segment, and its last page may hold the beginning of another one.
const pageSize = 1 << 16

// A Mapping is the part of a file that a process has mapped.
type Mapping struct {
	Start, Limit uint64 // addresses of the process; Limit is exclusive
	Offset       uint64 // byte offset in the file of Start
}

// Address returns the address in the file of an address pc of a process that lies in m. It returns false if no segment
// of the file contains it. Executable segments come first: the last page of the data before them may be mapped twice.
func (f *File) Address(m Mapping, pc uint64) (uint64, bool) {
	off := pc - m.Start + m.Offset
	for _, slack := range []uint64{0, pageSize - 1} {
		for _, executable := range []bool{true, false} {
			for i := range f.segments {
				s := &f.segments[i]
				if s.typ != elf.PT_LOAD || executable != (s.flags&elf.PF_X != 0) || s.filesz == 0 {
					continue
				}
				if first := s.off &^ slack; off >= first && off-first < s.filesz+s.off-first {
					return s.vaddr + off - s.off, true
				}
			}
		}
	}
	return 0, false
}

// Agrees reports whether m can be a mapping of the file: an executable segment contains its first byte, and the mapping
// does not extend past the pages of that segment. It is the check for files without a build ID.
func (f *File) Agrees(m Mapping) bool {
	for i := range f.segments {
		s := &f.segments[i]
		if s.typ != elf.PT_LOAD || s.flags&elf.PF_X == 0 || s.filesz == 0 {
			continue
		}
		first, last := s.off&^(pageSize-1), (s.off+s.filesz+pageSize-1)&^(pageSize-1)
		if m.Offset >= first && m.Offset < last && m.Limit-m.Start <= last-m.Offset {
			return true
		}
	}
	return false
}

// AddressIn is Address for a separate debug file, in which the segments have addresses but no bytes. It applies if
// there is one executable segment and the mapping has its size, as it has unless the process changed it.
func (f *File) AddressIn(m Mapping, pc uint64) (uint64, bool) {
	const page = 1 << 12
	var found *segment
	for i := range f.segments {
		if s := &f.segments[i]; s.typ == elf.PT_LOAD && s.flags&elf.PF_X != 0 {
			if found != nil {
				return 0, false
			}
			found = s
		}
	}
	if found == nil {
		return 0, false
	}
	first, last := found.vaddr&^(page-1), (found.vaddr+found.memsz+page-1)&^(page-1)
	if last-first != m.Limit-m.Start {
		return 0, false
	}
	return first + pc - m.Start, true
}
