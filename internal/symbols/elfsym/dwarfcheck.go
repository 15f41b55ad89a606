package elfsym

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// This file checks DWARF before debug/dwarf reads it. That package is not made for untrusted input: it allocates
// tables by the counts that a header states, and parses a table of abbreviations once per unit that refers to it.

// errDWARF means that debug information is invalid or exceeds a limit.
var errDWARF = errors.New("invalid debug information")

// Bounds of debug information.
const (
	maxAttributes    = 512     // of one abbreviation; compilers write at most some dozens
	maxUnits         = 1 << 20 // compile units of a file
	maxAbbreviations = 1 << 22 // of a file
)

// A unitHeader is what the header of a unit in .debug_info states.
type unitHeader struct {
	root    uint64 // offset of its first entry
	abbrevs uint64 // offset in .debug_abbrev
}

// unitHeaders returns the headers of all compile units (DWARF 5, section 7.5.1.1).
func unitHeaders(info []byte, order binary.ByteOrder) ([]unitHeader, error) {
	var units []unitHeader
	for c := (cursor{b: info, order: order}); len(c.b) > 0; {
		start := len(info) - len(c.b)
		unit, wide := c.length()
		if c.failed || len(units) >= maxUnits {
			return nil, fmt.Errorf("%w: unit at byte %d of .debug_info", errDWARF, start)
		}
		body := len(unit.b)
		if body == 0 {
			continue
		}
		var u unitHeader
		version, typ := unit.u16(), uint8(1)
		if version >= 5 {
			typ = unit.u8()
			unit.u8() // address size
			u.abbrevs = unit.offset(wide)
		} else {
			u.abbrevs = unit.offset(wide)
			unit.u8()
		}
		const skeleton, splitCompile = 4, 5
		if typ == skeleton || typ == splitCompile {
			unit.u64() // ID of the split unit
		}
		u.root = uint64(len(info)-len(c.b)-body) + uint64(body-len(unit.b))
		const compile, partial = 1, 3
		if unit.failed {
			return nil, fmt.Errorf("%w: unit at byte %d of .debug_info", errDWARF, start)
		}
		if version < 2 || version > 5 {
			return nil, fmt.Errorf("%w: unit of version %d at byte %d of .debug_info", errDWARF, version, start)
		}
		if typ != compile && typ != partial && typ != skeleton {
			u.root = 0 // types only
		}
		units = append(units, u)
	}
	return units, nil
}

// checkAbbreviations returns an error if reading the tables of all units would take more than about the size of
// .debug_abbrev: tables that overlap, or attributes without end.
func checkAbbreviations(units []unitHeader, abbrevs []byte, order binary.ByteOrder) error {
	seen := make(map[uint64]bool)
	budget, count := 2*len(abbrevs)+1<<12, 0
	for _, u := range units {
		if seen[u.abbrevs] {
			continue
		}
		seen[u.abbrevs] = true
		if u.abbrevs > uint64(len(abbrevs)) {
			return fmt.Errorf("%w: no abbreviations at byte %d of .debug_abbrev", errDWARF, u.abbrevs)
		}
		c := cursor{b: abbrevs[u.abbrevs:], order: order}
		before := len(c.b)
		for c.uleb() != 0 && !c.failed {
			c.uleb()
			c.u8()
			if count++; !skipAttributes(&c) || count > maxAbbreviations {
				return fmt.Errorf("%w: abbreviations at byte %d of .debug_abbrev", errDWARF, u.abbrevs)
			}
		}
		if budget -= before - len(c.b); budget < 0 {
			return fmt.Errorf("%w: overlapping tables in .debug_abbrev", errDWARF)
		}
	}
	return nil
}

// skipAttributes skips the attributes of an abbreviation. It returns false if there are too many.
func skipAttributes(c *cursor) bool {
	const implicitConst, indirect = 0x21, 0x16
	for n := 0; n <= maxAttributes; n++ {
		attr, form := c.uleb(), c.uleb()
		if form == implicitConst {
			c.uleb()
		}
		if form == indirect {
			return false // debug/dwarf follows chains of indirect forms
		}
		if attr == 0 && form == 0 {
			return true
		}
	}
	return false
}

// checkLineHeader returns an error if the header of the line table at off states more directories or files than its
// bytes can describe (DWARF 5, section 6.2.4).
func checkLineHeader(lines []byte, off int64, order binary.ByteOrder) error {
	if off < 0 || off > int64(len(lines)) {
		return fmt.Errorf("%w: no line table at byte %d of .debug_line", errDWARF, off)
	}
	all := cursor{b: lines[off:], order: order}
	c, wide := all.length()
	version := c.u16()
	if version < 5 {
		if c.failed || all.failed {
			return fmt.Errorf("%w: line table at byte %d of .debug_line", errDWARF, off)
		}
		return nil
	}
	c.bytes(2) // sizes of addresses and segment selectors
	c.offset(wide)
	c.bytes(5) // minimum length, maximum operations, default, base, range
	for opcodes := c.u8(); opcodes > 1; opcodes-- {
		c.u8()
	}
	for range 2 { // directories, then files
		var forms [256]uint64
		n := int(c.u8())
		for i := range n {
			c.uleb()
			forms[i] = c.uleb()
		}
		count := c.uleb()
		if count > uint64(len(c.b)) || n == 0 && count > 0 {
			return fmt.Errorf("%w: line table at byte %d of .debug_line states %d files", errDWARF, off, count)
		}
		for range count {
			for i := range n {
				if !c.skipForm(forms[i], wide) {
					return fmt.Errorf("%w: line table at byte %d of .debug_line: form %#x", errDWARF, off, forms[i])
				}
			}
		}
	}
	if c.failed || all.failed {
		return fmt.Errorf("%w: line table at byte %d of .debug_line", errDWARF, off)
	}
	return nil
}

// skipForm skips a value of one of the forms that line tables use. It returns false for another form or at the end.
func (c *cursor) skipForm(form uint64, wide bool) bool {
	switch form {
	case 0x08: // string
		c.text()
	case 0x0e, 0x1f, 0x1d: // strp, line_strp, strp_sup
		c.offset(wide)
	case 0x1a, 0x0f: // strx, udata
		c.uleb()
	case 0x25, 0x0b: // strx1, data1
		c.u8()
	case 0x26, 0x05: // strx2, data2
		c.u16()
	case 0x27: // strx3
		c.bytes(3)
	case 0x28, 0x06: // strx4, data4
		c.u32()
	case 0x07: // data8
		c.u64()
	case 0x1e: // data16
		c.bytes(16)
	case 0x09: // block
		c.bytes(c.uleb())
	default:
		return false
	}
	return !c.failed
}
