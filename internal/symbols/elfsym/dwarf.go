package elfsym

import (
	"cmp"
	"debug/dwarf"
	"encoding/binary"
	"fmt"
	"slices"
	"sort"
)

// A Frame is a function at an address.
type Frame struct {
	Name         string // as the linker spells it; as in the source if debug information has no other name
	File         string // source file; empty if unknown
	StartLine    int32  // of the function, 0 if unknown
	Line, Column int32  // of the instruction, 0 if unknown
}

// Limits on what is kept of debug information.
const (
	maxDWARF        = 3 << 30 // bytes of all sections of a file
	maxAbbrevBytes  = 32 << 20
	maxRanges       = 1 << 22 // address ranges of units, or of functions of one unit
	maxBadRanges    = 64      // invalid lists of address ranges; each may be as long as its section
	maxInlined      = 1 << 16 // address ranges of calls that are inlined into one function
	maxScopes       = 1 << 22 // functions of one unit, including inlined ones
	maxRows         = 1 << 23 // rows of a unit's line table
	maxOpenUnits    = 1 << 12 // parsed units that are kept
	maxOpenRows     = 1 << 24 // rows and functions of the parsed units that are kept, unless one alone has more
	maxOrigins      = 16      // references from an inlined function to its name
	maxInlinedDepth = 64      // frames of one address
)

// dwarfData is the debug information of a file. Units are parsed when an address in them is looked up.
type dwarfData struct {
	data  *dwarf.Data
	order binary.ByteOrder
	lines []byte // .debug_line
	units []unitRange
	open  map[int]*unit
	used  []int // keys of open, the oldest first
	rows  int   // total size of open
	roots []dwarf.Offset
	size  int64 // bytes of all sections
}

// A unitRange is a range of addresses of a compile unit, end exclusive.
type unitRange struct {
	start, end uint64
	root       int // index of the unit
}

// hasDWARF reports whether the file has debug information for lines.
func (f *File) hasDWARF() bool { return f.hasData(".debug_info") }

// openDWARF reads the sections of debug information and indexes its units by address.
func (f *File) openDWARF() (d *dwarfData, err error) {
	defer recovered(&err)
	total := uint64(0)
	section := func(name string) []byte {
		b := f.data(name, min(maxSection, maxDWARF-total))
		total += uint64(len(b))
		return b
	}
	info, abbrev := section(".debug_info"), f.data(".debug_abbrev", maxAbbrevBytes)
	headers, err := unitHeaders(info, f.order)
	if err != nil {
		return nil, err
	}
	if err := checkAbbreviations(headers, abbrev, f.order); err != nil {
		return nil, err
	}
	d = &dwarfData{order: f.order, lines: section(".debug_line"), open: make(map[int]*unit)}
	d.data, err = dwarf.New(abbrev, nil, nil, info, d.lines, nil, section(".debug_ranges"), section(".debug_str"))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errDWARF, err)
	}
	for _, name := range []string{".debug_addr", ".debug_line_str", ".debug_str_offsets", ".debug_rnglists"} {
		if err := d.data.AddSection(name, section(name)); err != nil {
			return nil, fmt.Errorf("%w: %w", errDWARF, err)
		}
	}
	d.size = int64(total)
	return d, d.index(headers)
}

// recovered turns a panic of debug/dwarf, which is not made for invalid input, into an error.
func recovered(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("%w: %v", errDWARF, p)
	}
}

// index lists the address ranges of all units. On an error it keeps what it has read.
func (d *dwarfData) index(headers []unitHeader) error {
	err := d.readUnits(headers)
	slices.SortFunc(d.units, func(a, b unitRange) int {
		return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.root, b.root))
	})
	return err
}

func (d *dwarfData) readUnits(headers []unitHeader) (err error) {
	defer recovered(&err)
	r, count := d.data.Reader(), 0
	for _, h := range headers {
		if h.root == 0 {
			continue
		}
		r.Seek(dwarf.Offset(h.root))
		e, err := r.Next()
		if err != nil {
			return fmt.Errorf("%w: %w", errDWARF, err)
		}
		if e == nil || e.Tag != dwarf.TagCompileUnit {
			continue
		}
		ranges, err := d.data.Ranges(e)
		if err != nil { // the other units may still be valid
			count += maxRanges / maxBadRanges
		}
		if count += len(ranges); count > maxRanges {
			return fmt.Errorf("%w: more than %d address ranges", errDWARF, maxRanges)
		}
		for _, g := range ranges {
			if g[0] < g[1] && g[0] != 0 { // the linker sets ranges of discarded code to 0
				d.units = append(d.units, unitRange{g[0], g[1], len(d.roots)})
			}
		}
		d.roots = append(d.roots, e.Offset)
	}
	return nil
}

// at returns the unit that contains an address, or nil.
func (d *dwarfData) at(addr uint64) *unit {
	i := sort.Search(len(d.units), func(i int) bool { return d.units[i].start > addr })
	for tries := 0; i > 0 && tries < maxEnclosing; tries++ {
		i--
		if addr < d.units[i].end {
			return d.unit(d.units[i].root)
		}
	}
	return nil
}

// unit returns a parsed unit. A unit that cannot be parsed is empty.
func (d *dwarfData) unit(n int) *unit {
	if u := d.open[n]; u != nil {
		return u
	}
	u := d.parse(n)
	d.rows += u.size()
	for len(d.used) > 0 && (len(d.used) >= maxOpenUnits || d.rows > maxOpenRows) {
		d.rows -= d.open[d.used[0]].size()
		delete(d.open, d.used[0])
		d.used = d.used[1:]
	}
	d.open[n] = u
	d.used = append(d.used, n)
	return u
}

// append appends the frames at an address, innermost first. It returns dst unchanged if no function is known.
func (d *dwarfData) append(dst []Frame, addr uint64) []Frame {
	u := d.at(addr)
	if u == nil {
		return dst
	}
	row := u.row(addr)
	at := Frame{Line: row.line, Column: row.column, File: u.file(row.file)}
	scopes := u.enclosing(addr)
	if len(scopes) == 0 {
		if row.line == 0 {
			return dst
		}
		return append(dst, at)
	}
	for i := len(scopes) - 1; i >= 0; i-- {
		s := &u.scopes[scopes[i]]
		f := at
		name := d.name(u, s.origin)
		f.Name, f.StartLine = name.text, name.line
		dst = append(dst, f)
		at = Frame{Line: s.callLine, Column: s.callColumn, File: u.file(s.callFile)}
	}
	return dst
}
