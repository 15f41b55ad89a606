package profile

import (
	"cmp"
	"slices"
	"strings"

	"github.com/ntconv/ntconv"
)

// sortRows sorts the rows by time, and rows at the same time by content. The order in which rows were added depends on
// the order of the events of different threads, which differs between a trace and its copy in another version. It must
// be called after the last sample.
func (s *set) sortRows() {
	order := make([]uint32, len(s.rows))
	for i := range order {
		order[i] = uint32(i)
	}
	slices.SortFunc(order, func(a, b uint32) int {
		x, y := &s.rows[a], &s.rows[b]
		if c := cmp.Or(cmp.Compare(x.first, y.first), cmp.Compare(x.last, y.last)); c != 0 {
			return c
		}
		return cmp.Or(s.compareOwners(x.owner, y.owner), s.compareStacks(x.stack, y.stack),
			slices.Compare(s.pool.Tags.Lists[x.tag], s.pool.Tags.Lists[y.tag]),
			slices.CompareFunc(s.pool.labels.list[x.labels], s.pool.labels.list[y.labels], compareLabels),
			cmp.Compare(x.source, y.source), cmp.Compare(x.epoch, y.epoch))
	})
	n := len(s.columns)
	rows, values := make([]row, len(s.rows)), make([]int64, len(s.values))
	for to, from := range order {
		rows[to] = s.rows[from]
		copy(values[to*n:][:n], s.values[int(from)*n:])
	}
	s.rows, s.values = rows, values
}

func (s *set) compareOwners(a, b uint32) int {
	if a == b {
		return 0
	}
	x, y := s.owners[a], s.owners[b]
	return cmp.Or(compareProcesses(x.process, y.process), compareThreads(x.thread, y.thread))
}

func compareProcesses(a, b *ntconv.Process) int {
	return compareNilFirst(a, b, func(a, b *ntconv.Process) int {
		return cmp.Or(cmp.Compare(a.PID, b.PID), strings.Compare(a.Host, b.Host))
	})
}

func compareThreads(a, b *ntconv.Thread) int {
	return compareNilFirst(a, b, func(a, b *ntconv.Thread) int {
		return cmp.Or(cmp.Compare(a.TID, b.TID), strings.Compare(a.Name, b.Name))
	})
}

// compareNilFirst compares two pointers: nil is less than any other.
func compareNilFirst[T any](a, b *T, compare func(a, b *T) int) int {
	switch {
	case a == b:
		return 0
	case a == nil:
		return -1
	case b == nil:
		return 1
	}
	return compare(a, b)
}

// compareStacks compares stacks by their addresses, then by the names of their frames.
func (s *set) compareStacks(a, b uint32) int {
	if a == b {
		return 0
	}
	x, y := &s.pool.stacks.list[a], &s.pool.stacks.list[b]
	if c := slices.Compare(x.stack.PCs, y.stack.PCs); c != 0 {
		return c
	}
	frames := s.pool.stacks.frames.list
	return slices.CompareFunc(x.frames, y.frames, func(a, b uint32) int {
		f, g := &frames[a], &frames[b]
		if f.Func == nil || g.Func == nil {
			return cmp.Compare(f.PC, g.PC)
		}
		return cmp.Or(strings.Compare(f.Func.Name, g.Func.Name), cmp.Compare(f.Line, g.Line), cmp.Compare(f.PC, g.PC))
	})
}

func compareLabels(a, b ntconv.Label) int {
	return cmp.Or(cmp.Compare(a.Kind, b.Kind), strings.Compare(a.Key, b.Key), strings.Compare(a.Str, b.Str),
		cmp.Compare(a.Num, b.Num), slices.Compare(a.ID[:], b.ID[:]))
}

// A ranking numbers values in the order in which rows have them.
type ranking map[uint32]uint32

// of returns the rank of a value. A nil ranking returns the value itself.
func (r ranking) of(value uint32) uint32 {
	if r == nil {
		return value
	}
	rank, ok := r[value]
	if !ok {
		rank = uint32(len(r))
		r[value] = rank
	}
	return rank
}
