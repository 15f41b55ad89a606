package pprof

import (
	"math/bits"
	"math/rand/v2"
	"slices"

	"github.com/ntconv/ntconv/internal/data/intern"
)

// A function is a Function message. Its strings are numbers of the string table.
type function struct {
	name, system, file uint32
	startLine          int32
}

// A functionTable numbers functions by content from 1.
type functionTable struct {
	list  []function
	names []uint32 // functions with only a name, by the number of the name; 0 means none
	index intern.Index
	key   secret
}

func (t *functionTable) add(f function) uint32 {
	if f.system == 0 && f.file == 0 && f.startLine == 0 {
		if n := int(f.name) + 1 - len(t.names); n > 0 {
			t.names = append(t.names, make([]uint32, n)...)
		}
		if t.names[f.name] == 0 {
			t.list = append(t.list, f)
			t.names[f.name] = uint32(len(t.list))
		}
		return t.names[f.name]
	}
	p := t.index.Probe(t.key.fold(uint64(f.name)<<32|uint64(f.system), uint64(f.file)<<32|uint64(uint32(f.startLine))))
	for p.Next() {
		if t.list[p.ID-1] == f {
			return p.ID
		}
	}
	t.list = append(t.list, f)
	id := uint32(len(t.list))
	t.index.Insert(&p, id)
	return id
}

// A line is a Line message.
type line struct {
	function     uint32
	line, column int32
}

// A location is an address with its lines. Nearly all locations have one line with only a function.
type location struct {
	address uint64
	mapping uint32 // number in tables.mappings or 0, times 2; plus 1 if frames were folded
	code    uint32 // number of the only function, or isRun plus an index in locationTable.runs
}

const isRun = 1 << 31

func (l *location) mappingID() uint32 { return l.mapping >> 1 }
func (l *location) folded() bool      { return l.mapping&1 != 0 }

// A locationTable numbers locations by content from 1. A trace without symbols has one location per address, so
// locations are small and contain no pointers.
type locationTable struct {
	list  []location
	runs  []run
	lines []line // of runs
	index intern.Index
	key   secret
	one   [1]line // result of linesOf
}

// A run is lines[from:to].
type run struct{ from, to uint32 }

// add returns the number of a location. It borrows lines.
func (t *locationTable) add(address uint64, mapping uint32, folded bool, lines []line) uint32 {
	l := location{address: address, mapping: mapping<<1 | uint32(boolBit(folded))}
	hash := t.key.fold(address, uint64(l.mapping))
	for _, n := range lines {
		hash = t.key.fold(hash^uint64(n.function), uint64(uint32(n.line))<<32|uint64(uint32(n.column)))
	}
	p := t.index.Probe(hash)
	for p.Next() {
		if k := &t.list[p.ID-1]; k.address == l.address && k.mapping == l.mapping && slices.Equal(t.linesOf(k), lines) {
			return p.ID
		}
	}
	if len(lines) == 1 && lines[0].line == 0 && lines[0].column == 0 {
		l.code = lines[0].function
	} else {
		l.code = isRun | uint32(len(t.runs))
		from := uint32(len(t.lines))
		t.lines = append(t.lines, lines...)
		t.runs = append(t.runs, run{from, uint32(len(t.lines))})
	}
	t.list = append(t.list, l)
	id := uint32(len(t.list))
	t.index.Insert(&p, id)
	return id
}

// linesOf returns the lines of a location, valid until the next call.
func (t *locationTable) linesOf(l *location) []line {
	if l.code&isRun != 0 {
		r := t.runs[l.code&^isRun]
		return t.lines[r.from:r.to]
	}
	t.one[0] = line{function: l.code}
	return t.one[:]
}

func boolBit(b bool) byte {
	if b {
		return 1
	}
	return 0
}

// A secret is a random key for hashes, so that no input can be constructed to have colliding hashes.
type secret uint64

func (k *secret) fold(a, b uint64) uint64 {
	if *k == 0 {
		*k = secret(rand.Uint64() | 1)
	}
	hi, lo := bits.Mul64(a^uint64(*k), b^bits.RotateLeft64(uint64(*k), 32))
	return hi ^ lo
}
