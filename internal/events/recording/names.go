package recording

import (
	"cmp"
	"slices"
	"strings"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/events/clr"
)

// A NameSet is the names of a process during a part of a trace, without duplicates: those that the kernel and the trace
// give it, the executable of its command line, and the assembly that dotnet runs. It is immutable. Equal sets of one
// Names have the same pointer.
type NameSet struct{ list []string }

// All returns the names. The caller must not change the slice.
func (s *NameSet) All() []string { return s.list }

// Names records how processes are called, and since when: process IDs are reused, and a process that executes another
// program gets the name of that program. Its answers do not depend on the order of the events, and observing an event
// again changes nothing, so several passes over a trace can share it. The zero value is ready to use. Names is not safe
// for concurrent use.
type Names struct {
	reader    ProcessReader
	processes map[processID]*history
	sets      map[string]*NameSet // by content
	types     map[*ntconv.Type]bool
	kind      *ntconv.Type // type of the latest event; describes is types[kind]
	describes bool
	last      *ntconv.Process // the latest process; recent is its history
	recent    *history
}

// A processID identifies a process in every pass over a trace. Each pass has its own pointers.
type processID struct {
	host, name string
	pid        uint64
}

// A history is what events report about the processes that had an ID. programs is computed from reports.
type history struct {
	recorded string // Process.Name
	reports  []report
	programs []program
	unnamed  *NameSet // while there are no reports
}

// A report is what one event states about a process. It is comparable, to recognize repeated events.
type report struct {
	at            ntconv.Ticks
	starts        bool // a program starts, and what earlier reports state is no longer valid
	name, command string
}

// A program is what runs in a process from a time on. The first program of a history runs from the start of the trace.
type program struct {
	from ntconv.Ticks
	set  *NameSet
}

// maxReports limits the reports about a process ID, because each one is compared with the others. Further reports are
// ignored.
const maxReports = 256

// Observe learns from an event, which it borrows.
func (n *Names) Observe(e *ntconv.Event) {
	if e.Kind != ntconv.KindEvent || e.Thread == nil || e.Thread.Process == nil {
		return
	}
	if e.Type != n.kind {
		n.kind, n.describes = e.Type, n.isDescription(e.Type)
	}
	if !n.describes {
		return
	}
	var p Process
	n.reader.Learn(&p, e)
	r := report{at: e.Time, name: p.Name, command: p.Command}
	var m clr.Process
	if clr.ClassOf(e.Type) == clr.ClassUniversalProcess && clr.ParseProcess(e, &m) {
		r.starts = !m.Existing
	}
	h := n.history(e.Thread.Process)
	if r.name == "" && r.command == "" || len(h.reports) == maxReports || slices.Contains(h.reports, r) {
		return
	}
	n.add(h, r)
}

func (n *Names) isDescription(t *ntconv.Type) bool {
	yes, known := n.types[t]
	if !known {
		if n.types == nil {
			n.types = make(map[*ntconv.Type]bool)
		}
		yes = Describes(t)
		n.types[t] = yes
	}
	return yes
}

// add adds a report and computes the programs.
func (n *Names) add(h *history, r report) {
	h.reports = append(h.reports, r)
	slices.SortFunc(h.reports, func(a, b report) int {
		return cmp.Or(
			cmp.Compare(a.at, b.at), compareBool(b.starts, a.starts), cmp.Compare(a.name, b.name), cmp.Compare(a.command, b.command),
		)
	})
	h.programs = nil
	var p Process
	for i, r := range h.reports {
		if r.starts || i == 0 {
			p = Process{}
			h.programs = append(h.programs, program{from: r.at})
		}
		setText(&p.Name, r.name)
		setText(&p.Command, r.command)
		h.programs[len(h.programs)-1].set = n.setOf(h.recorded, &p)
	}
}

// compareBool treats false as less than true.
func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

// At returns the names of a process at a time, or nil if p is nil. It does not allocate for a known process.
func (n *Names) At(p *ntconv.Process, at ntconv.Ticks) *NameSet {
	if p == nil {
		return nil
	}
	h := n.history(p)
	if len(h.programs) == 0 {
		return h.unnamed
	}
	i := len(h.programs) - 1
	for i > 0 && h.programs[i].from > at {
		i--
	}
	return h.programs[i].set
}

// Known reports whether an event, or the source of the events, has stated a name of a process.
func (n *Names) Known(p *ntconv.Process) bool {
	return p != nil && (p.Name != "" || len(n.history(p).reports) > 0)
}

func (n *Names) history(p *ntconv.Process) *history {
	if p == n.last && n.recent != nil {
		return n.recent
	}
	key := processID{p.Host, p.Name, p.PID}
	h := n.processes[key]
	if h == nil {
		if n.processes == nil {
			n.processes = make(map[processID]*history)
		}
		h = &history{recorded: p.Name, unnamed: n.setOf(p.Name, new(Process))}
		n.processes[key] = h
	}
	n.last, n.recent = p, h
	return h
}

// setOf returns the set of the names of a process.
func (n *Names) setOf(recorded string, p *Process) *NameSet {
	var list []string
	add := func(name string) {
		if name != "" && !slices.Contains(list, name) {
			list = append(list, name)
		}
	}
	add(p.Name)
	add(recorded)
	if words := commandWords(p.Command); len(words) > 0 {
		add(baseName(words[0]))
		if strings.EqualFold(programName(words[0]), "dotnet") {
			if assembly := serviceName(p.Command, ""); assembly != UnknownService {
				add(assembly)
			}
		}
	}
	key := strings.Join(list, "\x00")
	s := n.sets[key]
	if s == nil {
		if n.sets == nil {
			n.sets = make(map[string]*NameSet)
		}
		s = &NameSet{list}
		n.sets[key] = s
	}
	return s
}
