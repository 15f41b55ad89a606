package pprof

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/ntconv/ntconv"
)

// sortLabels brings labels into the order that they are written in.
func sortLabels(list []ntconv.Label) {
	slices.SortStableFunc(list, func(a, b ntconv.Label) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Key, b.Key))
	})
}

// owners are the processes and threads that samples are about, going by their labels.
type owners struct {
	m         *message
	processes map[uint64]*owner
	threads   map[threadKey]*ntconv.Thread

	taken map[uint64]bool      // ids of threads that samples tell, up to mostThreads
	ids   map[threadKey]uint64 // that were given to threads which have only names
	named []threadKey          // those threads, in the order of their first samples
}

// An owner is a process with what decides about its name.
type owner struct {
	process *ntconv.Process
	roots   map[*ntconv.Mapping]int // stacks that begin in a file
	named   string                  // by a label
	tags    *ntconv.Mapping
}

// A threadKey tells threads apart.
type threadKey struct {
	pid, tid uint64
	name     string
	byName   bool // no label tells the id
}

// What is not real is as good as any number. Samples of further processes and threads are said to be of the process
// without a label, and of its first thread; their labels stay what they are.
const (
	mostProcesses = 10_000
	mostThreads   = 100_000
)

// defaultPID is the id of the process of samples that do not tell.
const defaultPID = 1

func newOwners(m *message) owners {
	return owners{
		m: m, processes: map[uint64]*owner{}, threads: map[threadKey]*ntconv.Thread{},
		taken: map[uint64]bool{}, ids: map[threadKey]uint64{},
	}
}

// ownerOf returns what the labels of a sample say. A thread of which nothing is known has the id of its process, and
// one that has only a name has none.
func ownerOf(s *sample) (k threadKey, process string) {
	k.pid = defaultPID
	tid, hasTID := uint64(0), false
	for i := range s.labels {
		l := &s.labels[i]
		switch l.key {
		case "pid", "process_id", "process id":
			if n, ok := l.id(); ok && n != 0 {
				k.pid = n
			}
		case "tid", "thread_id", "thread id":
			tid, hasTID = l.id()
		case "thread", "thread_name", "thread name":
			k.name = l.text
		case "process", "process_name", "process name":
			process = l.text
		}
	}
	k.tid, k.byName = tid, !hasTID && k.name != ""
	if !hasTID && !k.byName {
		k.tid = k.pid
	}
	return k, process
}

// countThread takes the thread of a sample into account.
func (o *owners) countThread(k threadKey) {
	if !k.byName {
		if len(o.taken) < mostThreads {
			o.taken[k.tid] = true
		}
		return
	}
	if _, known := o.ids[k]; !known && len(o.ids) < mostThreads {
		o.ids[k] = 0
		o.named = append(o.named, k)
	}
}

// numberThreads gives ids to threads that have only names: 1, 2, 3 and so on, but none that another thread has.
func (o *owners) numberThreads() {
	id := uint64(0)
	for _, k := range o.named {
		for id++; o.taken[id]; id++ {
		}
		o.ids[k] = id
	}
}

// id returns a label as an id of the operating system.
func (l *label) id() (uint64, bool) {
	if !l.numeric {
		n, err := strconv.ParseUint(l.text, 10, 63)
		return n, err == nil
	}
	return uint64(l.number), l.number >= 0
}

// count takes a sample into account.
func (o *owners) count(s *sample) {
	k, name := ownerOf(s)
	p := o.processes[k.pid]
	if p == nil && len(o.processes) >= mostProcesses {
		k.pid = defaultPID
		p = o.processes[k.pid]
	}
	if p == nil {
		p = &owner{roots: map[*ntconv.Mapping]int{}}
		o.processes[k.pid] = p
	}
	o.countThread(k)
	if p.named == "" {
		p.named = name
	}
	if n := len(s.locations); n > 0 {
		p.roots[o.m.frames.of(s.locations[n-1])[0].Mapping]++
	}
}

// name makes the processes when all samples were counted.
func (o *owners) name() {
	o.numberThreads()
	for pid, p := range o.processes {
		var best *ntconv.Mapping
		for m, n := range p.roots {
			if m != nil && m.File != "" && !isOuter(m.File) &&
				(best == nil || n > p.roots[best] || n == p.roots[best] && before(m, best)) {
				best = m
			}
		}
		name := p.named
		switch {
		case name != "":
		case best != nil:
			name = baseName(best.File)
		case len(o.m.mappings) > 0 && o.m.mappings[0].File != "":
			name = baseName(o.m.mappings[0].File)
		default:
			name = "process"
		}
		p.process = &ntconv.Process{PID: pid, Name: name, PointerSize: 8, Mappings: o.m.mappings}
		p.tags = &ntconv.Mapping{File: "/labels/" + name}
	}
}

// isOuter reports whether PerfView takes a stack that begins in a file for whole, whatever the process is called.
func isOuter(file string) bool {
	name := strings.ToLower(baseName(file))
	return name == "libc" || name == "ntdll.dll" || strings.HasPrefix(name, "libc.") ||
		strings.HasPrefix(name, "libc-") ||
		strings.HasPrefix(name, "ld-musl-")
}

// before orders mappings of equal weight, so that a profile always gives the same trace.
func before(a, b *ntconv.Mapping) bool {
	return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Start, b.Start)) < 0
}

// thread returns the thread of a sample.
func (o *owners) thread(s *sample) *ntconv.Thread {
	k, _ := ownerOf(s)
	if o.processes[k.pid] == nil {
		k.pid = defaultPID
	}
	id := k.tid
	if k.byName {
		id = o.ids[k]
	}
	t := o.threads[k]
	if t == nil && (len(o.threads) >= mostThreads || k.byName && id == 0) {
		k, id = threadKey{pid: k.pid, tid: k.pid}, k.pid
		t = o.threads[k]
	}
	if t == nil {
		t = &ntconv.Thread{TID: id, Name: k.name, Process: o.processes[k.pid].process}
		o.threads[k] = t
	}
	return t
}

// tags returns the mapping of frames that are labels.
func (o *owners) tags(p *ntconv.Process) *ntconv.Mapping { return o.processes[p.PID].tags }
