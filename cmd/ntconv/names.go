package main

import (
	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/symbol"
)

// A recall is a namer for the second pass over an input: the table learned everything in the first. Processes are known by
// pointer, and each pass has its own; but both see the same stream, so the n-th of one is the n-th of the other.
type recall struct {
	*symbol.Table
	learned []*ntconv.Process
	is      map[*ntconv.Process]*ntconv.Process
	last    *ntconv.Process
}

func newRecall(t *symbol.Table) *recall {
	return &recall{Table: t, is: make(map[*ntconv.Process]*ntconv.Process)}
}

// learn is Observe for the first pass.
func (r *recall) learn(e *ntconv.Event) {
	r.Table.Observe(e)
	if p := processOf(e); p != nil && p != r.last {
		r.last = p
		if _, known := r.is[p]; !known {
			r.is[p] = p
			r.learned = append(r.learned, p)
		}
	}
}

// again begins the second pass.
func (r *recall) again() {
	clear(r.is)
	r.last = nil
}

// meet must see every event of the second pass before its names are asked for.
func (r *recall) meet(e *ntconv.Event) {
	if p := processOf(e); p != nil && p != r.last {
		r.last = p
		if n := len(r.is); r.is[p] == nil && n < len(r.learned) {
			r.is[p] = r.learned[n]
		}
	}
}

func processOf(e *ntconv.Event) *ntconv.Process {
	if e.Thread == nil {
		return nil
	}
	return e.Thread.Process
}

// AppendFrames implements ntconv.Namer.
func (r *recall) AppendFrames(dst []ntconv.Frame, p *ntconv.Process, s *ntconv.Stack, at ntconv.Ticks) []ntconv.Frame {
	return r.Table.AppendFrames(dst, r.is[p], s, at)
}

// Epoch implements ntconv.Namer.
func (r *recall) Epoch(p *ntconv.Process, s *ntconv.Stack) uint32 { return r.Table.Epoch(r.is[p], s) }

// Mappings implements ntconv.Namer.
func (r *recall) Mappings(p *ntconv.Process) []*ntconv.Mapping { return r.Table.Mappings(r.is[p]) }

// Process implements ntconv.Namer.
func (r *recall) Process(p *ntconv.Process) ntconv.ProcessInfo { return r.Table.Process(r.is[p]) }
