package elfsym

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"sort"
	"strings"
)

// A goTable is the function table of a Go program (runtime/symtab.go: pcHeader, _func; cmd/link/internal/ld/pcln.go).
// It remains when symbols are stripped. The offsets in it come from the file, so every access is bounds-checked.
type goTable struct {
	order             binary.ByteOrder
	version           goVersion
	ptr               int // size of an address in bytes
	quantum           uint64
	text              uint64 // address that offsets of functions are relative to
	data              []byte // the whole table
	names, cus, files []byte
	pcs, funcs        []byte
	count             int // functions

	inlined     []byte // go:func.*, which holds the trees of inlined calls; nil if it was not found
	inlinedBase uint64 // its address

	left int64 // steps of value until all others fail
}

// goVersion is the version of the layout.
type goVersion int

const (
	go116 goVersion = iota
	go118
	go120
)

// errGoTable means that a function table is invalid or of an unknown version.
var errGoTable = errors.New("invalid Go function table")

// goMagic has the magic number of each version.
var goMagic = map[uint32]goVersion{0xfffffffa: go116, 0xfffffff0: go118, 0xfffffff1: go120}

// hasGoTable reports whether the file has a function table of Go.
func (f *File) hasGoTable() bool { return f.goSection() != nil }

func (f *File) goSection() *section {
	for i := range f.sections {
		if s := &f.sections[i]; strings.HasSuffix(s.name, ".gopclntab") && s.size > 0 {
			return s
		}
	}
	return nil
}

// goFunctions reads the function table.
func (f *File) goFunctions() (*goTable, error) {
	s := f.goSection()
	if s == nil {
		return nil, fmt.Errorf("%w: no section .gopclntab", errGoTable)
	}
	b, err := f.content(s, maxSection)
	if err != nil {
		return nil, err
	}
	t := &goTable{order: f.order, data: b, left: maxTotalSteps}
	if err := t.header(); err != nil {
		return nil, err
	}
	if t.version == go116 {
		return t, nil
	}
	m, found := f.goModule(s.addr, t)
	if found {
		t.text = m.text
		t.inlined, t.inlinedBase = f.at(m.gofunc), m.gofunc
		return t, nil
	}
	if t.text = t.word(2); t.text == 0 {
		if text := f.named(".text"); text != nil {
			t.text = text.addr
		}
	}
	// The section may begin with C code. Then no function begins at the entry point, and all names would be wrong.
	if i := t.find(f.entry); i < 0 || t.start(i) != f.entry {
		return nil, fmt.Errorf("%w: the beginning of the code is unknown", errGoTable)
	}
	return t, nil
}

// header reads the header of the table: magic, quantum, size of addresses, then words.
func (t *goTable) header() error {
	b := t.data
	if len(b) < 16 {
		return fmt.Errorf("%w: %d bytes", errGoTable, len(b))
	}
	version, ok := goMagic[t.order.Uint32(b)]
	if t.version = version; !ok || b[4] != 0 || b[5] != 0 || b[7] != 4 && b[7] != 8 {
		return fmt.Errorf("%w: magic number %#x", errGoTable, b[:8])
	}
	t.quantum, t.ptr = uint64(b[6]), int(b[7])
	first := 3 // version 1.18 added the beginning of the code
	if t.version == go116 {
		first = 2
	}
	for i, part := range []*[]byte{&t.names, &t.cus, &t.files, &t.pcs, &t.funcs} {
		*part = from(b, t.word(first+i))
	}
	count := t.word(0)
	if count > uint64(len(t.funcs)/(2*t.fieldSize())) {
		return fmt.Errorf("%w: %d functions", errGoTable, count)
	}
	t.count = int(count)
	return nil
}

// word returns a word of the header, 0 if there is none.
func (t *goTable) word(n int) uint64 { return t.pointer(from(t.data, uint64(8+n*t.ptr))) }

// pointer returns the address at the beginning of b, 0 if b is too short.
func (t *goTable) pointer(b []byte) uint64 {
	switch {
	case len(b) < t.ptr:
		return 0
	case t.ptr == 4:
		return uint64(t.order.Uint32(b))
	}
	return t.order.Uint64(b)
}

// from returns the bytes from off on, nil if off is out of range.
func from(b []byte, off uint64) []byte {
	if off > uint64(len(b)) {
		return nil
	}
	return b[off:]
}

// u32 returns the number at off in b, and false if it is out of range.
func (t *goTable) u32(b []byte, off uint64) (uint32, bool) {
	if b = from(b, off); len(b) < 4 {
		return 0, false
	}
	return t.order.Uint32(b), true
}

func (t *goTable) fieldSize() int {
	if t.version == go116 {
		return t.ptr
	}
	return 4
}

// field returns field n of the list of functions: address and offset of the first, those of the second, and so on.
func (t *goTable) field(n int) uint64 {
	b := from(t.funcs, uint64(n*t.fieldSize()))
	if t.version == go116 {
		return t.pointer(b)
	}
	v, _ := t.u32(b, 0)
	return uint64(v)
}

// start returns the address of a function. That of number count is the end of the code.
func (t *goTable) start(i int) uint64 { return t.text + t.field(2*i) }

// find returns the number of the function that contains an address, or -1.
func (t *goTable) find(addr uint64) int {
	i := sort.Search(t.count, func(i int) bool { return t.start(i) > addr }) - 1
	if i < 0 || addr >= t.start(t.count) && i == t.count-1 {
		return -1
	}
	return i
}

// A goFunc is a function record. Its numbers are fields of _func.
type goFunc struct {
	entry   uint64
	name    uint32
	pcfile  uint32
	pcline  uint32
	npcdata uint32
	cu      uint32
	line    int32  // of the function; 0 before Go 1.20
	rest    []byte // tables of the function
	nfunc   uint8
}

// record returns the record of a function.
func (t *goTable) record(i int) (n goFunc, ok bool) {
	b := from(t.funcs, t.field(2*i+1))
	n.entry = t.start(i)
	size := 4
	if t.version == go116 {
		size = t.ptr
	}
	c := cursor{b: b, order: t.order}
	c.bytes(uint64(size))
	n.name = c.u32()
	c.bytes(12) // size of arguments, deferreturn, pcsp
	n.pcfile, n.pcline, n.npcdata, n.cu = c.u32(), c.u32(), c.u32(), c.u32()
	if t.version == go120 {
		n.line = int32(c.u32())
	}
	c.bytes(3)
	n.nfunc = c.u8()
	n.rest = c.b
	return n, !c.failed
}

// Bounds of the steps of tables from addresses to values. A function with a million steps has megabytes of code; a
// hundred thousand addresses of large programs take 1<<28 steps.
const (
	maxSteps      = 1 << 20 // of a function
	maxTotalSteps = 1 << 32 // of all calls
)

// value returns the value at an address of a table from addresses to values (golang.org/s/go12symtab), -1 if there is
// none.
func (t *goTable) value(table uint32, n *goFunc, addr uint64) int32 {
	if table == 0 {
		return -1
	}
	c := cursor{b: from(t.pcs, uint64(table)), order: t.order}
	at, value := n.entry, int32(-1)
	for step := range min(maxSteps, t.left) {
		t.left--
		delta := uint32(c.uleb())
		if delta == 0 && step > 0 || c.failed {
			return -1
		}
		if delta&1 != 0 {
			value += int32(^(delta >> 1))
		} else {
			value += int32(delta >> 1)
		}
		if at += c.uleb() * t.quantum; addr < at {
			return value
		}
	}
	return -1
}

// Numbers of tables of a function (internal/abi/symtab.go).
const (
	goInlineIndex = 2 // PCDATA_InlTreeIndex
	goInlineTree  = 3 // FUNCDATA_InlTree
	goInlineSize  = 16
)

// append appends the frames at an address, innermost first. Without lines it appends the names only.
func (t *goTable) append(dst []Frame, addr uint64, lines bool) []Frame {
	i := t.find(addr)
	if i < 0 {
		return dst
	}
	n, ok := t.record(i)
	if !ok {
		return dst
	}
	if lines {
		tree, index := t.inlineTree(&n)
		for range maxInlinedDepth {
			at := t.value(index, &n, addr)
			if at < 0 || tree == nil {
				break
			}
			call := from(tree, uint64(at)*goInlineSize)
			if len(call) < goInlineSize {
				break
			}
			f := t.frame(&n, t.order.Uint32(call[4:]), addr)
			f.StartLine = int32(t.order.Uint32(call[12:]))
			dst = append(dst, f)
			addr = n.entry + uint64(t.order.Uint32(call[8:])) // an instruction at the call in the outer function
		}
		f := t.frame(&n, n.name, addr)
		f.StartLine = n.line
		return append(dst, f)
	}
	return append(dst, Frame{Name: t.name(n.name)})
}

// inlineTree returns the tree of inlined calls of a function and the table that points into it, or nil.
func (t *goTable) inlineTree(n *goFunc) (tree []byte, index uint32) {
	if t.version != go120 || t.inlined == nil || n.npcdata <= goInlineIndex || n.nfunc <= goInlineTree {
		return nil, 0
	}
	index, _ = t.u32(n.rest, 4*goInlineIndex)
	off, ok := t.u32(n.rest, 4*(uint64(n.npcdata)+goInlineTree))
	if !ok || off == math.MaxUint32 {
		return nil, 0
	}
	return from(t.inlined, uint64(off)), index
}

// frame returns a function with file and line at an address of n.
func (t *goTable) frame(n *goFunc, name uint32, addr uint64) Frame {
	f := Frame{Name: t.name(name)}
	if line := t.value(n.pcline, n, addr); line > 0 {
		f.Line = line
	}
	file := t.value(n.pcfile, n, addr)
	if file < 0 {
		return f
	}
	if off, ok := t.u32(t.cus, 4*(uint64(n.cu)+uint64(file))); ok && off != math.MaxUint32 {
		f.File = string(cString(t.files, uint64(off), maxName))
	}
	return f
}

func (t *goTable) name(off uint32) string {
	return string(cString(t.names, uint64(off), maxSymbolName))
}
