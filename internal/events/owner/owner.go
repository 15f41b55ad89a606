// Package owner makes the processes and threads of files that do not number or name them as an operating system does:
// IDs may be missing, used twice, or not numbers, and an untrusted file may have any number of them.
package owner

import (
	"cmp"
	"strconv"

	"github.com/ntconv/ntconv"
)

// Limits of an importer's tables. Events of further processes and threads are assigned to others.
const (
	MaxProcesses = 10_000
	MaxThreads   = 100_000
)

// The process of samples and rows that name none.
const (
	DefaultPID  = 1
	DefaultName = "process"
)

// Process returns a new process. Its name is the first of names that is not empty, or else DefaultName.
func Process(pid uint64, names ...string) *ntconv.Process {
	return &ntconv.Process{PID: pid, Name: cmp.Or(cmp.Or(names...), DefaultName), PointerSize: 8}
}

// Parse returns the ID in a text, and false if the text is not a decimal number below 2^63, which labels can hold.
func Parse(text string) (id uint64, ok bool) {
	id, err := strconv.ParseUint(text, 10, 63)
	return id, err == nil
}

// Numbers are the IDs in use among processes, or among threads. The zero value has none. It is not safe for concurrent
// use.
type Numbers struct {
	used       map[uint64]bool
	begin, end uint64 // all IDs from begin up to end are in use
}

// Has reports whether an ID is in use.
func (n *Numbers) Has(id uint64) bool { return n.used[id] }

// Len returns how many IDs are in use.
func (n *Numbers) Len() int { return len(n.used) }

// Add marks an ID as used. It returns false if the ID is in use already.
func (n *Numbers) Add(id uint64) bool {
	if n.used[id] {
		return false
	}
	if n.used == nil {
		n.used = map[uint64]bool{}
	}
	n.used[id] = true
	return true
}

// New returns the first unused ID that is at least from, and marks it as used. It takes constant time on average if from
// never decreases.
func (n *Numbers) New(from uint64) uint64 {
	if from < n.begin || from > n.end {
		n.begin, n.end = from, from
	}
	for !n.Add(n.end) {
		n.end++
	}
	n.end++
	return n.end - 1
}

// A Name states what labels say about a thread. Empty strings and negative IDs are unknown.
type Name struct {
	Process, Thread string
	PID, TID        int64
}

// Labels returns labels that name a thread and its process, for formats that have neither threads nor processes.
func (n Name) Labels() *ntconv.Labels {
	var list []ntconv.Label
	for _, l := range [...]struct{ key, text string }{{"process", n.Process}, {"thread", n.Thread}} {
		if l.text != "" {
			list = append(list, ntconv.Label{Kind: ntconv.LabelString, Key: l.key, Str: l.text})
		}
	}
	for _, l := range [...]struct {
		key string
		id  int64
	}{{"pid", n.PID}, {"tid", n.TID}} {
		if l.id >= 0 {
			list = append(list, ntconv.Label{Kind: ntconv.LabelInt, Key: l.key, Num: l.id, Unit: "id"})
		}
	}
	return ntconv.NewLabels(list)
}
