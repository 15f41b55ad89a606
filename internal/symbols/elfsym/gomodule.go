package elfsym

import (
	"debug/elf"
	"slices"
)

// A goModule is the part of runtime.moduledata (runtime/symtab.go) that the function table needs.
type goModule struct{ text, gofunc uint64 }

// Words of runtime.moduledata. The layout is that of Go 1.20 and later; the words before text are older.
const (
	goWordNames  = 1 // address of the names of functions
	goWordText   = 1 + 6*3 + 3
	goWordGofunc = goWordText + 2*6 + 3 + 2 + 1
	goWords      = goWordGofunc + 1
)

// maxGoData bounds the bytes of variables that are searched for runtime.moduledata.
const maxGoData = 256 << 20

// goModule finds runtime.moduledata: its first word is the address of the function table, its second word that of the
// names. Words of position-independent programs are in relocations.
func (f *File) goModule(table uint64, t *goTable) (m goModule, ok bool) {
	names := table + t.word(3)
	word := uint64(t.ptr)
	accept := func(at uint64, value func(addr uint64) uint64) bool {
		if value(at) != table || value(at+goWordNames*word) != names {
			return false
		}
		m.text = value(at + goWordText*word)
		if t.version == go120 {
			m.gofunc = value(at + goWordGofunc*word)
		}
		return m.text != 0
	}
	for i, left := 0, uint64(maxGoData); i < len(f.sections); i++ {
		s := &f.sections[i]
		if s.typ != elf.SHT_PROGBITS || s.flags&elf.SHF_WRITE == 0 || s.size > left {
			continue
		}
		left -= s.size // sections of a malformed file overlap
		b, err := f.content(s, maxSection)
		if err != nil {
			continue
		}
		in := func(addr uint64) uint64 { return t.pointer(from(b, addr-s.addr)) }
		for off := uint64(0); off+goWords*word <= uint64(len(b)); off += word {
			if accept(s.addr+off, in) {
				return m, true
			}
		}
	}
	values := f.relocated(word)
	var places []uint64
	for at, v := range values {
		if v == table {
			places = append(places, at)
		}
	}
	slices.Sort(places)
	for _, at := range places {
		if accept(at, func(addr uint64) uint64 { return values[addr] }) {
			return m, true
		}
	}
	return m, false
}

// maxRelocations bounds the relocations that are read.
const maxRelocations = 1 << 22

// relocated returns the words that relative relocations set, by address (ELF specification, "Relocation").
func (f *File) relocated(word uint64) map[uint64]uint64 {
	s := f.named(".rela.dyn")
	if s == nil || !f.is64 || word != 8 {
		return nil
	}
	b, err := f.content(s, maxSection)
	if err != nil {
		return nil
	}
	const entry = 24
	values := make(map[uint64]uint64)
	for n := 0; len(b) >= entry && n < maxRelocations; n, b = n+1, b[entry:] {
		typ := uint32(f.order.Uint64(b[8:]))
		if typ == uint32(elf.R_X86_64_RELATIVE) || typ == uint32(elf.R_AARCH64_RELATIVE) {
			values[f.order.Uint64(b)] = f.order.Uint64(b[16:])
		}
	}
	return values
}

// at returns the bytes of the file from an address to the end of its section, or nil.
func (f *File) at(addr uint64) []byte {
	for i := range f.sections {
		s := &f.sections[i]
		if s.typ != elf.SHT_NOBITS && s.flags&elf.SHF_ALLOC != 0 && addr >= s.addr && addr-s.addr < s.size {
			b, err := f.content(s, maxSection)
			if err != nil {
				return nil
			}
			return b[addr-s.addr:]
		}
	}
	return nil
}
