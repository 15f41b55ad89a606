package elfsym

import (
	"bytes"
	"cmp"
	"debug/elf"
	"errors"
	"fmt"
	"math"
	"slices"
	"sort"
)

// A Table holds the functions of one file by address. It is not safe for concurrent use.
type Table struct {
	functions []function
	names     [][]byte // string tables that functions refer to
	wide      bool     // some function extends past the beginning of a following one
}

// A function is a range of addresses. Records contain no pointers: a library may have a million of them.
type function struct {
	start, end uint64 // end is exclusive
	name       uint32 // offset in the string table
	strings    uint16 // index of the string table
	rank       uint8  // among symbols of one address the highest is chosen
}

// maxFunctions bounds the functions of one file. The largest known programs have some millions.
const maxFunctions = 1 << 25

// maxUnsized bounds the extent of a function whose symbol has no size, as those of assembly code.
const maxUnsized = 1 << 16

// maxEnclosing bounds the search for a function around an address past the end of the nearest one.
const maxEnclosing = 64

// Symbols returns the functions of the symbol tables of the file: .symtab, .dynsym, and those of MiniDebugInfo. It
// returns an empty Table if there are none. An error means that some part could not be read; the Table holds the rest.
func (f *File) Symbols() (*Table, error) {
	t := new(Table)
	err := t.add(f)
	mini, miniErr := f.miniDebug()
	if mini != nil {
		miniErr = t.add(mini)
	}
	t.sort()
	return t, errors.Join(err, miniErr)
}

// Add adds the functions of a separate debug file f of the same build. The Table then serves the program.
func (t *Table) Add(f *File) error {
	err := t.add(f)
	t.sort()
	return err
}

// Len returns the number of functions.
func (t *Table) Len() int { return len(t.functions) }

// Size returns the approximate memory that the Table occupies, in bytes.
func (t *Table) Size() int64 {
	n := int64(len(t.functions)) * 24
	for _, s := range t.names {
		n += int64(len(s))
	}
	return n
}

// add adds the symbols of f. A file has at most one section of each type (ELF specification, "Sections"); further ones
// could refer to the same bytes.
func (t *Table) add(f *File) error {
	var errs []error
	for _, typ := range []elf.SectionType{elf.SHT_SYMTAB, elf.SHT_DYNSYM} {
		i := slices.IndexFunc(f.sections, func(s section) bool { return s.typ == typ && s.link < uint32(len(f.sections)) })
		if i >= 0 {
			errs = append(errs, t.addTable(f, &f.sections[i]))
		}
	}
	return errors.Join(errs...)
}

// addTable adds the functions of one symbol table (ELF specification, "Symbol Table").
func (t *Table) addTable(f *File, s *section) error {
	entry := uint64(f.either(24, 16))
	b, err := f.content(s, maxSection)
	if err != nil || uint64(len(b)) < entry {
		return err
	}
	strings, err := f.content(&f.sections[s.link], min(maxSection, math.MaxUint32))
	if err != nil {
		return err
	}
	if len(t.names) == math.MaxUint16 || len(b)/int(entry) > maxFunctions-len(t.functions) {
		return fmt.Errorf("%w: section %s: too many symbols", ErrFormat, s.name)
	}
	table := uint16(len(t.names))
	t.names = append(t.names, strings)
	dynamic := s.typ == elf.SHT_DYNSYM
	for ; uint64(len(b)) >= entry; b = b[entry:] {
		c := &fields{b: b[:entry], f: f}
		var n function
		var info byte
		var index uint16
		var size uint64
		if n.name = c.u32(); f.is64 {
			info = c.skip(2)[0]
			index, n.start, size = c.u16(), c.u64(), c.u64()
		} else {
			n.start, size = uint64(c.u32()), uint64(c.u32())
			info = c.skip(2)[0]
			index = c.u16()
		}
		if f.machine == elf.EM_ARM {
			n.start &^= 1 // the bit selects the Thumb instruction set
		}
		if n.end, n.rank = f.extent(info, index, n.start, size, dynamic); n.end > n.start && n.name < uint32(len(strings)) &&
			!isMarker(strings[n.name:]) {
			n.strings = table
			t.functions = append(t.functions, n)
		}
	}
	return nil
}

// isMarker reports whether a name marks a change between code and data (ARM ELF, "Mapping symbols"), or is empty.
func isMarker(name []byte) bool {
	return len(name) == 0 || name[0] == 0 ||
		len(name) > 1 && name[0] == '$' && (name[1] == 'x' || name[1] == 'd' || name[1] == 'a' || name[1] == 't')
}

// extent returns the end of the function that a symbol describes, and its rank. The end is 0 if the symbol is not a
// function. Symbols without a size extend to the next symbol or the end of their section; those of .dynsym do not,
// because a stripped file lacks the next symbol.
func (f *File) extent(info byte, index uint16, start, size uint64, dynamic bool) (end uint64, rank uint8) {
	typ := elf.SymType(info & 0xf)
	if index == uint16(elf.SHN_UNDEF) || index == uint16(elf.SHN_ABS) || index == uint16(elf.SHN_COMMON) {
		return 0, 0
	}
	switch typ {
	case elf.STT_FUNC, elf.STT_GNU_IFUNC:
		rank = typed
	case elf.STT_NOTYPE:
		if dynamic {
			return 0, 0
		}
	default:
		return 0, 0
	}
	limit := uint64(math.MaxUint64)
	if int(index) < len(f.sections) {
		s := &f.sections[index]
		if s.flags&elf.SHF_EXECINSTR == 0 {
			return 0, 0
		}
		if limit = s.addr + s.size; start < s.addr || start >= limit {
			return 0, 0
		}
	}
	if bind := elf.SymBind(info >> 4); bind == elf.STB_GLOBAL || bind == elf.STB_WEAK {
		rank++
	}
	if size > 0 && size <= math.MaxUint64-start {
		return start + size, rank + 4
	}
	if dynamic {
		return 0, 0
	}
	return min(limit, start+min(maxUnsized, math.MaxUint64-start)), rank | unsized
}

// Bits of a rank.
const (
	typed   = 0x08 // the symbol has the type of a function
	unsized = 0x80 // the symbol has no size
)

// sort orders the functions by address, chooses one per address, and ends those without a size.
func (t *Table) sort() {
	slices.SortFunc(t.functions, func(a, b function) int {
		return cmp.Or(
			cmp.Compare(a.start, b.start),
			cmp.Compare(b.rank&^unsized, a.rank&^unsized),
			t.compareNames(&a, &b),
		)
	})
	t.functions = slices.Clip(slices.CompactFunc(t.functions, func(a, b function) bool { return a.start == b.start }))
	t.wide = false
	for i := range t.functions {
		n := &t.functions[i]
		if i+1 == len(t.functions) {
			break
		}
		if next := t.functions[i+1].start; n.rank&unsized != 0 {
			n.end = min(n.end, next)
		} else if n.end > next {
			t.wide = true
		}
	}
}

// compareNames orders names of one address by readability: read before __read and __GI___read.
func (t *Table) compareNames(a, b *function) int {
	if a.start != b.start || a.rank != b.rank {
		return 0
	}
	m, n := t.name(a), t.name(b)
	underscores := func(s []byte) int { return len(s) - len(bytes.TrimLeft(s, "_")) }
	return cmp.Or(
		cmp.Compare(underscores(m), underscores(n)), cmp.Compare(len(m), len(n)), bytes.Compare(m, n),
		cmp.Compare(a.end, b.end), cmp.Compare(a.strings, b.strings),
	)
}

func (t *Table) name(n *function) []byte {
	return cString(t.names[n.strings], uint64(n.name), maxSymbolName)
}

// find returns the function that contains an address, or nil.
func (t *Table) find(addr uint64) *function {
	i := sort.Search(len(t.functions), func(i int) bool { return t.functions[i].start > addr })
	var label *function // a label in assembly code may lie in a function with a size, whose name is better
	for tries := 0; i > 0 && tries < maxEnclosing; tries++ {
		i--
		if n := &t.functions[i]; addr < n.end {
			if n.rank&unsized == 0 || n.rank&typed != 0 {
				return n
			}
			label = cmp.Or(label, n)
		}
		if !t.wide {
			break
		}
	}
	return label
}

// Lookup returns the name of the function that contains an address, as the linker spells it.
func (t *Table) Lookup(addr uint64) (name string, start uint64, ok bool) {
	n := t.find(addr)
	if n == nil {
		return "", 0, false
	}
	return string(t.name(n)), n.start, true
}

// maxSymbolName bounds a name in bytes. Names of C++ templates have thousands.
const maxSymbolName = 1 << 16
