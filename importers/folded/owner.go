package folded

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/ntconv/ntconv"
)

// An owner is the thread for which samples were recorded, and labels that name it. exporters/pprof writes the labels.
type owner struct {
	thread *ntconv.Thread
	labels *ntconv.Labels // nil if the line names no owner
}

// owners assigns the processes and threads of the lines.
type owners struct {
	fallback *owner                     // for lines that name no owner
	roots    map[string]*owner          // by the text of the outermost frames
	process  map[string]*ntconv.Process // by the text of the process frame
	pids     map[uint64]bool            // PIDs in use
	tids     map[uint64]bool            // TIDs in use
}

// The process and thread of lines that name none, as in importers/pprof.
const (
	fallbackPID  = 1
	fallbackName = "process"
)

// Lines of further processes and threads are assigned to the fallback.
const (
	maxProcesses = 10_000
	maxThreads   = 100_000
)

func newOwners() owners {
	p := &ntconv.Process{PID: fallbackPID, Name: fallbackName, PointerSize: 8}
	return owners{
		fallback: &owner{thread: &ntconv.Thread{TID: fallbackPID, Process: p}}, roots: map[string]*owner{},
		process: map[string]*ntconv.Process{}, pids: map[uint64]bool{}, tids: map[uint64]bool{},
	}
}

// roots returns the owner that the outermost frames of a stack name, and the rest of the stack.
func (s *source) roots(text []byte) (*owner, []byte) {
	n := 0
	if s.o.ProcessRoot {
		n++
	}
	if s.o.ThreadRoot {
		n++
	}
	if n == 0 {
		return s.owners.fallback, text
	}
	end := 0 // after the roots and their separator
	for range n {
		at := bytes.IndexByte(text[end:], ';')
		if at < 0 {
			end = len(text) + 1
			break
		}
		end += at + 1
	}
	roots, rest := text[:end-1], text[min(end, len(text)):]
	o := s.owners.roots[string(roots)]
	if o == nil {
		o = s.newOwner(string(roots))
	}
	return o, rest
}

// newOwner returns the owner for roots that are not known yet.
func (s *source) newOwner(roots string) *owner {
	o := &s.owners
	if len(o.roots) >= maxThreads {
		return o.fallback
	}
	process, thread := "", roots
	if s.o.ProcessRoot {
		process, thread, _ = strings.Cut(roots, ";")
	}
	var names, numbers []ntconv.Label
	t := &ntconv.Thread{Process: o.fallback.thread.Process}
	if s.o.ProcessRoot {
		var known bool
		if t.Process, known = o.processOf(process); known {
			numbers = append(
				numbers,
				ntconv.Label{Kind: ntconv.LabelInt, Key: "pid", Num: int64(t.Process.PID), Unit: "id"},
			)
		}
		names = append(names, ntconv.Label{Kind: ntconv.LabelString, Key: "process", Str: t.Process.Name})
	}
	t.TID = t.Process.PID
	if s.o.ThreadRoot && thread != "" {
		name, id, known := cutID(thread)
		if t.Name = name; known && name == "thread" { // the name that exporters/folded writes for a thread without a name
			t.Name = ""
		}
		if known {
			numbers = append(numbers, ntconv.Label{Kind: ntconv.LabelInt, Key: "tid", Num: int64(id), Unit: "id"})
		} else {
			id = unused(o.tids)
		}
		if t.Name != "" {
			names = append(names, ntconv.Label{Kind: ntconv.LabelString, Key: "thread", Str: t.Name})
		}
		o.tids[id] = true
		t.TID = id
	}
	found := &owner{thread: t, labels: ntconv.NewLabels(append(names, numbers...))}
	o.roots[roots] = found
	return found
}

// processOf returns the process that a frame names, and whether the frame states its PID.
func (o *owners) processOf(text string) (p *ntconv.Process, known bool) {
	name, id, known := cutID(text)
	if p := o.process[text]; p != nil {
		return p, known && p.PID == id
	}
	if len(o.process) >= maxProcesses {
		return o.fallback.thread.Process, false
	}
	if known = known && !o.pids[id]; !known {
		id = unused(o.pids)
	}
	o.pids[id] = true
	p = &ntconv.Process{PID: id, Name: name, PointerSize: 8}
	o.process[text] = p
	return p, known
}

// cutID splits NAME-ID. It returns false if text has no ID. The name is valid UTF-8.
func cutID(text string) (name string, id uint64, ok bool) {
	text = toValid(strings.TrimSpace(text))
	at := strings.LastIndexByte(text, '-')
	if at <= 0 {
		return text, 0, false
	}
	id, err := strconv.ParseUint(text[at+1:], 10, 63)
	if err != nil {
		return text, 0, false
	}
	return text[:at], id, true
}

// unused returns an unused ID, at least 1. The search starts after the number of used IDs, because IDs are assigned in
// ascending order.
func unused(ids map[uint64]bool) uint64 {
	id := uint64(len(ids)) + 1
	for ids[id] {
		id++
	}
	return id
}
