// Package sample holds what the exporters of profiles have in common, those of pprof and folded stacks: which kinds of
// profiles a trace may hold, all options that do not depend on the format, and what has been written.
//
// [Kind] identifies a kind of profile: samples of threads and CPUs, and profiles that are computed from other events,
// such as allocations, exceptions and waits for locks. docs/profiles.md states for each kind which events it needs and
// how its values are computed.
package sample

import (
	"errors"
	"fmt"
	"strings"
)

// A Kind is a kind of profile.
type Kind uint8

const (
	// Auto selects the best kind that the trace has samples of, see Preferred.
	Auto Kind = iota
	// Wall is wall-clock time of managed threads, running or waiting, from .NET's sample profiler.
	Wall
	// CPU is CPU time from a machine-wide profiler, which samples only running threads.
	CPU
	// Imported restores the profile that the trace was converted from: its sample types, labels and comments.
	Imported
	// Alloc is allocated objects and bytes, estimated from sampled allocations.
	Alloc
	// Exceptions is thrown exceptions.
	Exceptions
	// Contention is waits for locks that another thread held.
	Contention
	// Wait is waits of threads for handles, monitors and other threads (.NET 9 and later).
	Wait
	// GC is garbage collections, and the time for which they suspended all threads.
	GC
	// JIT is compilations of methods.
	JIT
	// TypeLoad is loads of types.
	TypeLoad
	// ThreadPool is the time that work items spent in the queue of the thread pool.
	ThreadPool
	// Tasks is tasks of the Task Parallel Library: time in the queue and time of execution.
	Tasks
	// OffCPU is the time for which threads had no CPU, from the context switches of a machine-wide trace.
	OffCPU
	// PageFaults is page faults of a machine-wide trace.
	PageFaults
	// Requests is HTTP requests that a server handled or a client sent.
	Requests
	// Slices is the own time of nested slices and spans.
	Slices
	// Events is the selected events of any type.
	Events
	// Count is the number of constants above.
	Count
)

// infos holds the facts of each kind that do not depend on a trace. name is the name for ParseKind, doc completes
// "a profile of", and one and many name what the profile counts.
var infos = [Count]struct{ name, doc, one, many string }{
	Auto:       {"auto", "the best kind that the trace has", "sample", "samples"},
	Wall:       {"wall", "time of managed threads", "sample of threads", "samples of threads"},
	CPU:        {"cpu", "CPU time of a machine-wide trace", "sample of CPUs", "samples of CPUs"},
	Imported:   {"imported", "the original profile", "imported sample", "imported samples"},
	Alloc:      {"alloc", "allocated objects and bytes", "sampled allocation", "sampled allocations"},
	Exceptions: {"exceptions", "thrown exceptions", "exception", "exceptions"},
	Contention: {"contention", "waits for locks", "lock contention", "lock contentions"},
	Wait:       {"wait", "waits of threads", "wait", "waits"},
	GC:         {"gc", "garbage collections and their pauses", "garbage collection", "garbage collections"},
	JIT:        {"jit", "compiled methods", "compilation", "compilations"},
	TypeLoad:   {"typeload", "loaded types", "type load", "type loads"},
	ThreadPool: {"threadpool", "time in the queue of the thread pool", "queued work item", "queued work items"},
	Tasks:      {"tasks", "tasks, queued and executed", "task", "tasks"},
	OffCPU:     {"off-cpu", "time without a CPU", "context switch", "context switches"},
	PageFaults: {"page-faults", "page faults", "page fault", "page faults"},
	Requests:   {"requests", "HTTP requests", "request", "requests"},
	Slices:     {"slices", "own time of nested slices and spans", "slice", "slices"},
	Events:     {"events", "the selected events", "event", "events"},
}

// String returns the name of the kind, as Parse accepts it, or "unknown(N)".
func (k Kind) String() string {
	if k >= Count {
		return fmt.Sprintf("unknown(%d)", uint8(k))
	}
	return infos[k].name
}

// Doc returns what a profile of the kind shows, as a phrase without a verb.
func (k Kind) Doc() string {
	if k >= Count {
		return ""
	}
	return infos[k].doc
}

// Noun returns the noun for n of the items that a profile of the kind counts, such as "exceptions".
func (k Kind) Noun(n int64) string {
	switch {
	case k >= Count:
		return ""
	case n == 1:
		return infos[k].one
	}
	return infos[k].many
}

// ErrUnknown means that no kind has a name.
var ErrUnknown = errors.New("unknown kind of profile")

// Parse returns the kind with the given name. For other names it returns Auto and an error that wraps ErrUnknown and
// lists the names.
func Parse(name string) (Kind, error) {
	for k := range Count {
		if infos[k].name == name {
			return k, nil
		}
	}
	var names []string
	for k := range Count {
		names = append(names, infos[k].name)
	}
	return Auto, fmt.Errorf("%w %q: want %s", ErrUnknown, name, strings.Join(names, ", "))
}

// All returns all kinds but Auto, in the order in which they are listed for users.
func All() []Kind {
	var list []Kind
	for k := Wall; k < Count; k++ {
		list = append(list, k)
	}
	return list
}

// Preferred returns all kinds but Auto in the order in which Auto selects them. Samples of threads come first, because
// they also cover waiting threads. Kinds that state where a program spends time or memory follow, then what happened in
// it, and last what the runtime did for it.
func Preferred() []Kind {
	return []Kind{
		Wall, CPU, Imported, Alloc, OffCPU, Contention, Wait, Exceptions, Requests, Tasks, GC, JIT, ThreadPool, TypeLoad,
		PageFaults, Slices, Events,
	}
}

// An Other is a kind of profile that a trace has in addition to the one that was written.
type Other struct {
	Kind Kind
	N    uint64 // samples, or events that begin one
}
