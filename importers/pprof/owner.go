package pprof

import (
	"cmp"
	"slices"
	"strings"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/events/owner"
)

// sortLabels sorts labels into the order in which they are written.
func sortLabels(list []ntconv.Label) {
	slices.SortStableFunc(list, func(a, b ntconv.Label) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Key, b.Key))
	})
}

// owners are the processes and threads of samples, derived from their labels. Samples beyond the limits of package owner
// belong to the default process and to the first thread of their process; their labels stay unchanged.
//
// prepare calls count for every sample and then name; only after that, thread and tags return results.
//
//	field      set by            read by
//	taken      countThread       numberThreads
//	ids        countThread (0), numberThreads   thread
//	processes  count; name completes them       thread, tags
//	threads    thread            thread
type owners struct {
	m         *message
	processes map[uint64]*labeled
	threads   map[threadKey]*ntconv.Thread

	taken owner.Numbers        // thread IDs in labels, up to owner.MaxThreads
	ids   map[threadKey]uint64 // IDs for threads that have only names
	named []threadKey          // the threads of ids, in the order of their first samples
}

// A labeled is a process and what its name depends on.
type labeled struct {
	process *ntconv.Process
	roots   map[*ntconv.Mapping]int // number of stacks by the file of their outermost frame
	named   string                  // name in a label
	tags    *ntconv.Mapping         // mapping of frames that are labels
}

// A threadKey identifies a thread.
type threadKey struct {
	pid, tid uint64
	name     string
	byName   bool // no label contains the thread ID
}

func newOwners(m *message) owners {
	return owners{m: m, processes: map[uint64]*labeled{}, threads: map[threadKey]*ntconv.Thread{}, ids: map[threadKey]uint64{}}
}

// ownerOf returns the process and thread in the labels of a sample. A thread without any label has the ID of its
// process; the ID of a thread that has only a name follows later.
func ownerOf(s *sample) (k threadKey, process string) {
	k.pid = owner.DefaultPID
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

// countThread counts the thread of a sample.
func (o *owners) countThread(k threadKey) {
	if !k.byName {
		if o.taken.Len() < owner.MaxThreads {
			o.taken.Add(k.tid)
		}
		return
	}
	if _, known := o.ids[k]; !known && len(o.ids) < owner.MaxThreads {
		o.ids[k] = 0
		o.named = append(o.named, k)
	}
}

// numberThreads assigns IDs to the threads that have only names: 1, 2, 3 and so on, except IDs of other threads.
func (o *owners) numberThreads() {
	for _, k := range o.named {
		o.ids[k] = o.taken.New(1)
	}
}

// id returns a label as an ID of the operating system. ok is false if it is not one.
func (l *label) id() (uint64, bool) {
	if !l.numeric {
		return owner.Parse(l.text)
	}
	return uint64(l.number), l.number >= 0
}

// count counts the owner of a sample.
func (o *owners) count(s *sample) {
	k, name := ownerOf(s)
	p := o.processes[k.pid]
	if p == nil && len(o.processes) >= owner.MaxProcesses {
		k.pid = owner.DefaultPID
		p = o.processes[k.pid]
	}
	if p == nil {
		p = &labeled{roots: map[*ntconv.Mapping]int{}}
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

// name creates the processes after all samples were counted.
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
		if best == nil && len(o.m.mappings) > 0 && o.m.mappings[0].File != "" {
			best = o.m.mappings[0]
		}
		file := ""
		if best != nil {
			file = baseName(best.File)
		}
		p.process = owner.Process(pid, p.named, file)
		p.process.Mappings = o.m.mappings
		p.tags = &ntconv.Mapping{File: "/labels/" + p.process.Name}
	}
}

// isOuter reports whether PerfView treats a stack that begins in a file as complete, regardless of the name of the
// process.
func isOuter(file string) bool {
	name := strings.ToLower(baseName(file))
	return name == "libc" || name == "ntdll.dll" || strings.HasPrefix(name, "libc.") ||
		strings.HasPrefix(name, "libc-") ||
		strings.HasPrefix(name, "ld-musl-")
}

// before orders mappings of equal weight, so that the output is deterministic.
func before(a, b *ntconv.Mapping) bool {
	return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Start, b.Start)) < 0
}

// thread returns the thread of a sample.
func (o *owners) thread(s *sample) *ntconv.Thread {
	k, _ := ownerOf(s)
	if o.processes[k.pid] == nil {
		k.pid = owner.DefaultPID
	}
	id := k.tid
	if k.byName {
		id = o.ids[k]
	}
	t := o.threads[k]
	if t == nil && (len(o.threads) >= owner.MaxThreads || k.byName && id == 0) {
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
