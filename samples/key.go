package samples

import (
	"encoding/binary"

	"github.com/ntconv/ntconv"
)

// A Key identifies the call stack of a sample within one Reader: its addresses, or frames, in a process and the functions
// that have the addresses at the time of the sample. Equal stacks have an equal Key whatever their pointers, unless
// another function may have had one of the addresses in between, and equal keys mean equal frames. It is comparable. The
// zero Key means no stack.
type Key struct{ number, epoch uint32 }

// keys numbers stacks by their content. recent has the numbers of pointers, because most sources deliver one pointer for
// many events.
type keys struct {
	recent    map[pointer]uint32
	all       map[string]uint32
	processes map[*ntconv.Process]uint32
	functions map[*ntconv.Function]uint32
	mappings  map[*ntconv.Mapping]uint32
	buf       []byte
}

type pointer struct {
	process *ntconv.Process
	stack   *ntconv.Stack
}

func newKeys() keys {
	return keys{
		recent: make(map[pointer]uint32), all: make(map[string]uint32), processes: make(map[*ntconv.Process]uint32),
		functions: make(map[*ntconv.Function]uint32), mappings: make(map[*ntconv.Mapping]uint32),
	}
}

// of returns the number of a stack, from 1, and whether its content is new.
func (k *keys) of(p *ntconv.Process, s *ntconv.Stack) (number uint32, isNew bool) {
	at := pointer{p, s}
	if n := k.recent[at]; n != 0 {
		return n, false
	}
	b := binary.AppendUvarint(k.buf[:0], uint64(numberOf(k.processes, p)))
	b = binary.AppendUvarint(b, uint64(len(s.Frames)))
	for i := range s.Frames {
		f := &s.Frames[i]
		for _, n := range [...]uint64{
			uint64(numberOf(k.functions, f.Func)), uint64(numberOf(k.mappings, f.Mapping)), f.PC, uint64(uint32(f.Line)), uint64(uint32(f.Column)), uint64(f.Flags),
		} {
			b = binary.AppendUvarint(b, n)
		}
	}
	for _, pc := range s.PCs {
		b = binary.LittleEndian.AppendUint64(b, pc)
	}
	k.buf = b
	n := k.all[string(b)]
	if isNew = n == 0; isNew {
		n = uint32(len(k.all) + 1)
		k.all[string(b)] = n
	}
	k.recent[at] = n
	return n, isNew
}

// numberOf returns the number of a pointer, from 1.
func numberOf[T any](all map[*T]uint32, p *T) uint32 {
	n := all[p]
	if n == 0 {
		n = uint32(len(all) + 1)
		all[p] = n
	}
	return n
}
