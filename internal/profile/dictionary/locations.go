package dictionary

import (
	"math/bits"
	"math/rand/v2"
	"slices"

	"github.com/ntconv/ntconv/internal/data/intern"
)

// A Function is a function. Its strings are numbers of Strings; System is 0 if it equals Name.
type Function struct {
	Name, System, File uint32
	StartLine          int32
}

// A functionTable numbers functions by content from 1.
type functionTable struct {
	list  []Function
	names []uint32 // functions with only a name, by the number of the name; 0 means none
	index intern.Index
	key   secret
}

func (t *functionTable) add(f Function) uint32 {
	if f.System == 0 && f.File == 0 && f.StartLine == 0 {
		if n := int(f.Name) + 1 - len(t.names); n > 0 {
			t.names = append(t.names, make([]uint32, n)...)
		}
		if t.names[f.Name] == 0 {
			t.list = append(t.list, f)
			t.names[f.Name] = uint32(len(t.list))
		}
		return t.names[f.Name]
	}
	p := t.index.Probe(t.key.fold(uint64(f.Name)<<32|uint64(f.System), uint64(f.File)<<32|uint64(uint32(f.StartLine))))
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

// A Line is a function, by its number, and a place in its source.
type Line struct {
	Function     uint32
	Line, Column int32
}

// A Location is an address with its lines. Nearly all locations have one line with only a function.
type Location struct {
	Address uint64
	mapping uint32 // number of the mapping or 0, shifted by locationBits; below it isFolded and the Code, shifted by 1
	code    uint32 // number of the only function, or isRun plus an index in locationTable.runs
}

const isRun = 1 << 31

// Mapping returns the number of the mapping, 0 if there is none.
func (l *Location) Mapping() uint32 { return l.mapping >> locationBits }

// Folded reports whether a frame of the location replaces several frames of the recorded stack.
func (l *Location) Folded() bool { return l.mapping&isFolded != 0 }

// Code returns what kind of code the location is in.
func (l *Location) Code() Code { return Code(l.mapping >> 1 & 3) }

// A Code is a kind of code.
type Code uint8

const (
	UnknownCode Code = iota
	NativeCode
	ManagedCode
	KernelCode
)

const (
	locationBits = 3 // of location.mapping that are not the number of the mapping
	isFolded     = 1
)

// A locationTable numbers locations by content from 1. A trace without symbols has one location per address, so
// locations are small and contain no pointers.
type locationTable struct {
	list  []Location
	runs  []run
	lines []Line // of runs
	index intern.Index
	key   secret
	one   [1]Line // result of linesOf
}

// A run is lines[from:to].
type run struct{ from, to uint32 }

// add returns the number of a location. It borrows lines.
func (t *locationTable) add(address uint64, mapping uint32, code Code, folded bool, lines []Line) uint32 {
	l := Location{Address: address, mapping: mapping<<locationBits | uint32(code)<<1 | uint32(boolBit(folded))}
	hash := t.key.fold(address, uint64(l.mapping))
	for _, n := range lines {
		hash = t.key.fold(hash^uint64(n.Function), uint64(uint32(n.Line))<<32|uint64(uint32(n.Column)))
	}
	p := t.index.Probe(hash)
	for p.Next() {
		if k := &t.list[p.ID-1]; k.Address == l.Address && k.mapping == l.mapping && slices.Equal(t.linesOf(k), lines) {
			return p.ID
		}
	}
	if len(lines) == 1 && lines[0].Line == 0 && lines[0].Column == 0 {
		l.code = lines[0].Function
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
func (t *locationTable) linesOf(l *Location) []Line {
	if l.code&isRun != 0 {
		r := t.runs[l.code&^isRun]
		return t.lines[r.from:r.to]
	}
	t.one[0] = Line{Function: l.code}
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
