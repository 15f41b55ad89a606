package elfsym

import (
	"cmp"
	"debug/dwarf"
	"io"
	"slices"
	"sort"
)

// A unit is a parsed compile unit.
type unit struct {
	files  []string
	rows   []row // sorted by address
	scopes []scope
	ranges []scopeRange // of functions that are not inlined, sorted by start
	names  map[dwarf.Offset]originName
}

// size returns the number of rows, functions and ranges.
func (u *unit) size() int { return len(u.rows) + len(u.scopes) + len(u.ranges) }

// A row begins a range of instructions of one line. The range ends with the next row.
type row struct {
	addr         uint64
	file         int32 // index in unit.files, -1 if none
	line, column int32
	end          bool // the code ends before addr
}

// A scope is a function, or a call that was inlined into another scope.
type scope struct {
	origin               dwarf.Offset // entry with the name, or that refers to it
	first, last          int32        // inlined calls of a function: scopes[first:last], outer ones first
	callFile             int32        // index in unit.files
	callLine, callColumn int32
	inlined              [][2]uint64 // address ranges of an inlined call
	count                int32       // of a function: address ranges of all inlined calls
}

// A scopeRange is a range of addresses of a function, end exclusive.
type scopeRange struct {
	start, end uint64
	scope      int32
}

// originName is the name of a function.
type originName struct {
	text string
	line int32
}

// parse reads the functions and the line table of a unit. On an error it keeps what it has read.
func (d *dwarfData) parse(n int) *unit {
	u := &unit{names: make(map[dwarf.Offset]originName)}
	_ = d.parseInto(u, n) // a unit that cannot be read has no lines; names come from the symbol table
	return u
}

func (d *dwarfData) parseInto(u *unit, n int) (err error) {
	defer recovered(&err)
	r := d.data.Reader()
	r.Seek(d.roots[n])
	root, err := r.Next()
	if err != nil || root == nil {
		return err
	}
	if err := d.readLines(u, root); err != nil {
		return err
	}
	if !root.Children {
		return nil
	}
	return d.readScopes(u, r)
}

// readLines reads the line table of a unit.
func (d *dwarfData) readLines(u *unit, root *dwarf.Entry) error {
	off, ok := root.Val(dwarf.AttrStmtList).(int64)
	if !ok {
		return nil
	}
	if err := checkLineHeader(d.lines, off, d.order); err != nil {
		return err
	}
	lines, err := d.data.LineReader(root)
	if err != nil || lines == nil {
		return err
	}
	index := make(map[*dwarf.LineFile]int32)
	for i, f := range lines.Files() { // call sites refer to files by these numbers
		name := ""
		if f != nil {
			name = f.Name
		}
		u.files = append(u.files, name)
		index[f] = int32(i)
	}
	var e dwarf.LineEntry
	for first := 0; len(u.rows) < maxRows; {
		if err := lines.Next(&e); err == io.EOF {
			break
		} else if err != nil {
			return err
		}
		n := row{addr: e.Address, file: -1, line: int32(e.Line), column: int32(e.Column), end: e.EndSequence}
		if at, ok := index[e.File]; ok && e.File != nil {
			n.file = at
		}
		u.rows = append(u.rows, n)
		if n.end {
			if u.rows[first].addr == 0 { // the linker sets addresses of discarded code to 0
				u.rows = u.rows[:first]
			}
			first = len(u.rows)
		}
	}
	// An end of a sequence comes before rows of the next sequence at the same address.
	slices.SortStableFunc(u.rows, func(a, b row) int {
		return cmp.Or(cmp.Compare(a.addr, b.addr), -cmp.Compare(truth(a.end), truth(b.end)))
	})
	return nil
}

func truth(b bool) int {
	if b {
		return 1
	}
	return 0
}

// A scopeReader reads the functions of a unit.
type scopeReader struct {
	d     *dwarfData
	u     *unit
	calls map[int32][]scope // inlined calls of each function, outer ones first
	count int               // ranges so far
}

// readScopes reads the functions of a unit. r is positioned after the root. On an error it keeps what it has read.
func (d *dwarfData) readScopes(u *unit, r *dwarf.Reader) error {
	s := scopeReader{d: d, u: u, calls: make(map[int32][]scope)}
	err := s.read(r)
	for in := range int32(len(u.scopes)) {
		first := int32(len(u.scopes))
		u.scopes = append(u.scopes, s.calls[in]...)
		u.scopes[in].first, u.scopes[in].last = first, int32(len(u.scopes))
	}
	slices.SortFunc(u.ranges, func(a, b scopeRange) int {
		return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.scope, b.scope))
	})
	return err
}

// read reads entries up to the end of the root's children.
func (s *scopeReader) read(r *dwarf.Reader) (err error) {
	defer recovered(&err)
	for owner := []int32{-1}; len(owner) > 0 && s.count < maxScopes; { // per level: the function around it, -1 if none
		e, err := r.Next()
		if err != nil || e == nil {
			return err
		}
		if e.Tag == 0 {
			owner = owner[:len(owner)-1]
			continue
		}
		in, descend := owner[len(owner)-1], true
		switch e.Tag {
		case dwarf.TagSubprogram:
			in = s.function(e)
			descend = in >= 0 // others are declarations, or the models of inlined calls
		case dwarf.TagInlinedSubroutine:
			s.call(in, e)
		case dwarf.TagLexDwarfBlock, dwarf.TagModule, dwarf.TagNamespace, dwarf.TagStructType, dwarf.TagClassType,
			dwarf.TagUnionType, dwarf.TagEnumerationType, dwarf.TagVariantPart, dwarf.TagVariant:
		default:
			descend = false
		}
		switch {
		case !e.Children:
		case descend:
			owner = append(owner, in)
		default:
			r.SkipChildren()
		}
	}
	return nil
}

// rangesOf returns the address ranges of an entry and counts them.
func (s *scopeReader) rangesOf(e *dwarf.Entry) [][2]uint64 {
	ranges, err := s.d.data.Ranges(e)
	if err != nil {
		s.count += maxScopes / maxBadRanges
		return nil
	}
	s.count += len(ranges)
	return ranges
}

// function adds a function and returns its index, -1 if it has no code.
func (s *scopeReader) function(e *dwarf.Entry) int32 {
	ranges := s.rangesOf(e)
	if len(ranges) == 0 || ranges[0][0] == 0 || len(s.u.ranges)+len(ranges) > maxRanges {
		return -1
	}
	in := int32(len(s.u.scopes))
	s.u.scopes = append(s.u.scopes, scope{origin: e.Offset})
	for _, g := range ranges {
		s.u.ranges = append(s.u.ranges, scopeRange{g[0], g[1], in})
	}
	return in
}

// call adds a call that was inlined into a function.
func (s *scopeReader) call(in int32, e *dwarf.Entry) {
	ranges := s.rangesOf(e)
	if in < 0 || len(ranges) == 0 || len(ranges) > maxInlined-int(s.u.scopes[in].count) {
		return
	}
	s.u.scopes[in].count += int32(len(ranges))
	s.calls[in] = append(s.calls[in], scope{
		origin: e.Offset, inlined: ranges, callFile: number(e, dwarf.AttrCallFile),
		callLine: number(e, dwarf.AttrCallLine), callColumn: number(e, dwarf.AttrCallColumn),
	})
}

// number returns an attribute as a number, 0 if it is absent or out of range.
func number(e *dwarf.Entry, a dwarf.Attr) int32 {
	if v, ok := e.Val(a).(int64); ok && v > 0 && v < 1<<31 {
		return int32(v)
	}
	return 0
}

// row returns the row of an address; its line is 0 if there is none.
func (u *unit) row(addr uint64) row {
	i := sort.Search(len(u.rows), func(i int) bool { return u.rows[i].addr > addr })
	if i == 0 || u.rows[i-1].end {
		return row{file: -1}
	}
	return u.rows[i-1]
}

// file returns the name of a file by its index.
func (u *unit) file(n int32) string {
	if n < 0 || int(n) >= len(u.files) {
		return ""
	}
	return u.files[n]
}

// enclosing returns the function at an address and the inlined calls in it that contain the address, outer ones first.
func (u *unit) enclosing(addr uint64) (list []int32) {
	i := sort.Search(len(u.ranges), func(i int) bool { return u.ranges[i].start > addr })
	for tries := 0; i > 0 && tries < maxEnclosing; tries++ {
		i--
		if addr >= u.ranges[i].end {
			continue
		}
		s := u.ranges[i].scope
		list = append(list, s)
		for n := u.scopes[s].first; n < u.scopes[s].last && len(list) < maxInlinedDepth; n++ {
			if slices.ContainsFunc(u.scopes[n].inlined, func(g [2]uint64) bool { return g[0] <= addr && addr < g[1] }) {
				list = append(list, n)
			}
		}
		return list
	}
	return nil
}

// name returns the name of the function that an entry declares or refers to.
func (d *dwarfData) name(u *unit, at dwarf.Offset) originName {
	n, ok := u.names[at]
	if !ok {
		n, _ = d.nameAt(at) // without a name, the symbol table has one
		u.names[at] = n
	}
	return n
}

func (d *dwarfData) nameAt(at dwarf.Offset) (n originName, err error) {
	defer recovered(&err)
	r := d.data.Reader()
	for range maxOrigins {
		r.Seek(at)
		e, err := r.Next()
		if err != nil || e == nil {
			return n, err
		}
		for _, a := range []dwarf.Attr{dwarf.AttrLinkageName, attrMIPSLinkageName} {
			if s, ok := e.Val(a).(string); ok && s != "" {
				n.text = s
			}
		}
		if n.line == 0 {
			n.line = number(e, dwarf.AttrDeclLine)
		}
		if n.text != "" {
			return n, err
		}
		next, ok := e.Val(dwarf.AttrAbstractOrigin).(dwarf.Offset)
		if !ok {
			next, ok = e.Val(dwarf.AttrSpecification).(dwarf.Offset)
		}
		if !ok {
			n.text, _ = e.Val(dwarf.AttrName).(string)
			return n, err
		}
		if s, ok := e.Val(dwarf.AttrName).(string); ok && s != "" {
			n.text = s // C has no linkage names
			return n, err
		}
		at = next
	}
	return n, nil
}

// attrMIPSLinkageName is DW_AT_MIPS_linkage_name, which compilers wrote before DWARF 4.
const attrMIPSLinkageName dwarf.Attr = 0x2007
