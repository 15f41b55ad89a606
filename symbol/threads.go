package symbol

import (
	"strings"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/events/clr"
)

// Names of threads of the runtime, as it names them for debuggers.
const (
	threadFinalizer = ".NET Finalizer"
	threadGC        = ".NET GC"
	threadPool      = ".NET TP Worker"
	threadTiered    = ".NET Tiered Compilation Worker"
)

// threads determines what threads of .NET are for: no event states their names. The evidence is, in this order: flags of
// the event that states the creation of a thread, events that only such a thread writes, and the outermost functions of
// its stacks. Threads are identified by their ID, so a table filled from one reader serves another one; an ID with
// contradicting evidence, because it was used again, has no name.
type threads struct {
	stated map[threadKey]string // "" if the evidence contradicts itself
	roots  map[threadKey]*threadRoots
	recent [recentThreads]recentThread // by thread ID, because threads alternate
}

type threadKey struct {
	process processKey
	tid     uint64
}

// threadRoots are the outermost addresses of the first stacks of a thread.
type threadRoots struct {
	process *ntconv.Process
	n       int
	at      [maxRoots]ntconv.Ticks
	pcs     [maxRoots][rootDepth]uint64 // leaf first; 0 for none
}

const (
	recentThreads = 256 // a power of 2, so that an index is computed without a division
	maxRoots      = 4   // stacks per thread
	rootDepth     = 4   // addresses per stack: the function in rootFunctions is among frames of the runtime and of the library
)

type recentThread struct {
	thread *ntconv.Thread
	roots  *threadRoots
}

// rootFunctions are parts of the names of functions, in any spelling, that are the outermost ones of threads for a
// purpose.
var rootFunctions = [...]struct{ function, name string }{
	{"WorkerThread.WorkerThreadStart", threadPool},
	{"PerformWaitCallback", threadPool}, // before .NET 6
	{"GateThread.GateThreadStart", ".NET TP Gate"},
	{"WaitThread.WaitThreadStart", ".NET TP Wait"},
	{"TimerQueue.TimerThread", ".NET Timer"},
	{"SocketAsyncEngine.EventLoop", ".NET Sockets"},
	{"GC.RunFinalizers", threadFinalizer},
	{"FinalizerThread::FinalizerThreadStart", threadFinalizer},
	{"TieredCompilation", threadTiered},
	{"bgc_thread_function", ".NET BGC"},
	{"gc_thread_function", ".NET Server GC"},
}

// A threadUse is what the events of a type say about threads.
type threadUse uint8

const (
	threadNothing threadUse = iota
	threadCreated           // flags of a thread
	threadSampled           // stacks of a thread
	threadFinalizes
	threadWorks
	threadCompiles
)

// threadUseOf returns what the events of a type say about threads.
func threadUseOf(typ *ntconv.Type) threadUse {
	switch clr.ClassOf(typ) {
	case clr.ClassSample, clr.ClassUniversalCPU:
		return threadSampled
	case clr.ClassThread:
		return threadCreated
	}
	l := clr.Lookup(typ.Provider, typ.ID, typ.Version)
	if l == nil {
		return threadNothing
	}
	switch l.Name() {
	case "GCFinalizersBegin", "GCFinalizersEnd":
		return threadFinalizes
	case "ThreadPoolWorkerThreadStart", "ThreadPoolWorkerThreadWait":
		return threadWorks
	case "TieredCompilationBackgroundJitStart", "TieredCompilationBackgroundJitStop":
		return threadCompiles
	}
	return threadNothing
}

// observeThread learns from an event whose type has a use.
func (t *Table) observeThread(e *ntconv.Event, use threadUse) {
	if e.Thread == nil {
		return
	}
	key := threadKey{keyOf(e.Thread.Process), e.Thread.TID}
	switch use {
	case threadSampled:
		t.threads.sampled(e, key)
	case threadCreated:
		t.learnThread(e, key.process)
	case threadFinalizes:
		t.threads.state(key, threadFinalizer)
	case threadWorks:
		t.threads.state(key, threadPool)
	case threadCompiles:
		t.threads.state(key, threadTiered)
	}
}

// state notes evidence about a thread.
func (s *threads) state(key threadKey, name string) {
	if s.stated == nil {
		s.stated = map[threadKey]string{}
	}
	switch known, ok := s.stated[key]; {
	case !ok || known == name || known == threadTiered && name == threadPool:
	case known == threadPool && name == threadTiered: // .NET 5 compiles methods of higher tiers on threads of the pool
		name = known
	default:
		name = ""
	}
	s.stated[key] = name
}

// learnThread learns the flags of a thread. Most threads have none, because the runtime sets them later.
func (t *Table) learnThread(e *ntconv.Event, process processKey) {
	p, missing := t.schemas.Of(e).Project("Flags", "OSThreadID")
	var v [2]ntconv.Value
	if p.Read(e, v[:]); len(missing) > 0 || v[0].Kind() != ntconv.ValueUint || v[1].Kind() != ntconv.ValueUint {
		t.unreadable(e, "thread event has no flags")
		return
	}
	const (
		special = 1 << iota
		finalizer
		pool
	)
	key, flags := threadKey{process, v[1].Uint()}, v[0].Uint()
	switch {
	case flags&finalizer != 0:
		t.threads.state(key, threadFinalizer)
	case flags&pool != 0:
		t.threads.state(key, threadPool)
	case flags&special != 0:
		t.threads.state(key, threadGC)
	}
}

// sampled keeps the outermost addresses of the first stacks of a thread.
func (s *threads) sampled(e *ntconv.Event, key threadKey) {
	slot := &s.recent[e.Thread.TID%recentThreads]
	if slot.thread != e.Thread {
		if s.roots == nil {
			s.roots = map[threadKey]*threadRoots{}
		}
		r := s.roots[key]
		if r == nil {
			r = &threadRoots{process: e.Thread.Process}
			s.roots[key] = r
		}
		*slot = recentThread{e.Thread, r}
	}
	r := slot.roots
	if r.n == maxRoots || e.Stack == nil || len(e.Stack.PCs) == 0 {
		return
	}
	r.at[r.n] = e.Time
	copy(r.pcs[r.n][:], e.Stack.PCs[max(0, len(e.Stack.PCs)-rootDepth):])
	r.n++
}

// ThreadName returns th.Name, or else what the thread is for if it is one of the runtime's, in the runtime's own words:
// .NET Finalizer, .NET TP Worker. It returns "" for other threads. th may be nil.
func (t *Table) ThreadName(th *ntconv.Thread) string {
	if th == nil {
		return ""
	}
	if th.Name != "" {
		return th.Name
	}
	key := threadKey{keyOf(th.Process), th.TID}
	if name, ok := t.threads.stated[key]; ok {
		return name
	}
	if r := t.threads.roots[key]; r != nil {
		return t.nameOfRoots(r)
	}
	return ""
}

// nameOfRoots returns the name that the outermost functions of a thread's stacks imply.
func (t *Table) nameOfRoots(r *threadRoots) string {
	var frames []ntconv.Frame
	for i := range r.n {
		pcs := r.pcs[i][:]
		for len(pcs) > 0 && pcs[len(pcs)-1] == 0 {
			pcs = pcs[:len(pcs)-1]
		}
		frames = t.AppendFrames(frames[:0], r.process, &ntconv.Stack{PCs: pcs}, r.at[i])
		for k := range frames {
			if frames[k].Func == nil {
				continue
			}
			for _, f := range rootFunctions {
				if strings.Contains(frames[k].Func.Name, f.function) {
					return f.name
				}
			}
		}
	}
	return ""
}
