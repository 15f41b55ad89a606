package folded

import (
	"bytes"
	"strings"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/events/owner"
)

// A root is the thread that the outermost frames of a line name, and labels that name it. exporters/pprof writes the
// labels.
type root struct {
	thread *ntconv.Thread
	labels *ntconv.Labels // nil if the line names no thread
}

// owners assigns the processes and threads of the lines.
type owners struct {
	fallback   *root                      // of lines that name none, and beyond the limits
	roots      map[string]*root           // by the text of the outermost frames
	process    map[string]*ntconv.Process // by the text of the process frame
	pids, tids owner.Numbers
}

func newOwners() owners {
	t := &ntconv.Thread{TID: owner.DefaultPID, Process: owner.Process(owner.DefaultPID)}
	return owners{fallback: &root{thread: t}, roots: map[string]*root{}, process: map[string]*ntconv.Process{}}
}

// roots returns the thread that the outermost frames of a stack name, and the rest of the stack.
func (s *source) roots(text []byte) (*root, []byte) {
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
	r := s.owners.roots[string(roots)]
	if r == nil {
		r = s.newRoot(string(roots))
	}
	return r, rest
}

// newRoot returns the thread for outermost frames that are not known yet.
func (s *source) newRoot(roots string) *root {
	o := &s.owners
	if len(o.roots) >= owner.MaxThreads {
		return o.fallback
	}
	process, thread := "", roots
	t := &ntconv.Thread{Process: o.fallback.thread.Process}
	name := owner.Name{PID: -1, TID: -1}
	if s.o.ProcessRoot {
		process, thread, _ = strings.Cut(roots, ";")
		var known bool
		if t.Process, known = o.processOf(process); known {
			name.PID = int64(t.Process.PID)
		}
		name.Process = t.Process.Name
	}
	t.TID = t.Process.PID
	if s.o.ThreadRoot && thread != "" {
		var known bool
		if t.Name, t.TID, known = cutID(thread); known {
			o.tids.Add(t.TID)
			name.TID = int64(t.TID)
			if t.Name == "thread" { // the name that exporters/folded writes for a thread without a name
				t.Name = ""
			}
		} else {
			t.TID = o.tids.New(uint64(o.tids.Len()) + 1)
		}
		name.Thread = t.Name
	}
	r := &root{thread: t, labels: name.Labels()}
	o.roots[roots] = r
	return r
}

// processOf returns the process that a frame names, and whether the frame states its PID.
func (o *owners) processOf(text string) (p *ntconv.Process, known bool) {
	name, id, known := cutID(text)
	if p := o.process[text]; p != nil {
		return p, known && p.PID == id
	}
	if len(o.process) >= owner.MaxProcesses {
		return o.fallback.thread.Process, false
	}
	if known = known && o.pids.Add(id); !known {
		id = o.pids.New(uint64(o.pids.Len()) + 1)
	}
	p = &ntconv.Process{PID: id, Name: name, PointerSize: 8}
	o.process[text] = p
	return p, known
}

// cutID splits NAME-ID. It returns false if text has no ID. The name is valid UTF-8.
func cutID(text string) (name string, id uint64, ok bool) {
	text = toValid(strings.TrimSpace(text))
	if at := strings.LastIndexByte(text, '-'); at > 0 {
		if id, ok = owner.Parse(text[at+1:]); ok {
			return text[:at], id, true
		}
	}
	return text, 0, false
}
