package samples

import (
	"encoding/binary"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/data/intern"
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
	all       intern.Bytes
	processes intern.Table[*ntconv.Process]
	functions intern.Table[*ntconv.Function]
	mappings  intern.Table[*ntconv.Mapping]
	buf       []byte
}

type pointer struct {
	process *ntconv.Process
	stack   *ntconv.Stack
}

// of returns the number of a stack, from 1, and whether its content is new.
func (k *keys) of(p *ntconv.Process, s *ntconv.Stack) (number uint32, isNew bool) {
	at := pointer{p, s}
	if n := k.recent[at]; n != 0 {
		return n, false
	}
	process, _ := k.processes.Add(p)
	b := binary.AppendUvarint(k.buf[:0], uint64(process))
	b = binary.AppendUvarint(b, uint64(len(s.Frames)))
	for i := range s.Frames {
		f := &s.Frames[i]
		function, _ := k.functions.Add(f.Func)
		mapping, _ := k.mappings.Add(f.Mapping)
		for _, n := range [...]uint64{uint64(function), uint64(mapping), f.PC, uint64(uint32(f.Line)), uint64(uint32(f.Column)), uint64(f.Flags)} {
			b = binary.AppendUvarint(b, n)
		}
	}
	for _, pc := range s.PCs {
		b = binary.LittleEndian.AppendUint64(b, pc)
	}
	k.buf = b
	before := k.all.Len()
	number = k.all.Add(b)
	if k.recent == nil {
		k.recent = make(map[pointer]uint32)
	}
	k.recent[at] = number
	return number, k.all.Len() > before
}
