package parquet

import (
	"github.com/ntconv/ntconv"
)

// An ownerKey holds what a row states about the thread of its event.
type ownerKey struct {
	pid, tid        int64 // unknownID if the row does not state it
	process, thread string
}

// A lane is the thread of rows without definitions, with the sequence number of its last event.
type lane struct {
	*ntconv.Thread
	seq uint32
}

// owners assigns processes and threads to rows without definitions. last and lastLane cache the latest lookup.
type owners struct {
	processes map[ownerKey]*ntconv.Process // keys without thread
	lanes     map[ownerKey]*lane
	pids      map[uint64]bool // PIDs in use
	last      ownerKey
	lastLane  *lane
	// fallback is the thread for rows of further processes and threads. It is created when it is needed.
	fallback *lane
}

// The process of rows that name none, as in importers/pprof.
const (
	fallbackPID  = 1
	fallbackName = "process"
)

// Rows of further processes and threads are assigned to the fallback.
const (
	maxProcesses = 10_000
	maxThreads   = 100_000
)

// unknownID represents a process or thread ID that a row does not state.
const unknownID = -1

func newOwners() owners {
	return owners{processes: map[ownerKey]*ntconv.Process{}, lanes: map[ownerKey]*lane{}, pids: map[uint64]bool{}}
}

// lane returns the thread of a row, and adds it if necessary.
func (o *owners) lane(key ownerKey) *lane {
	if o.lastLane != nil && key == o.last {
		return o.lastLane
	}
	found := o.lanes[key]
	if found == nil {
		found = o.add(key)
	}
	o.last, o.lastLane = key, found
	return found
}

// add adds the thread of a key. Beyond maxThreads it returns the fallback.
func (o *owners) add(key ownerKey) *lane {
	if len(o.lanes) >= maxThreads {
		if o.fallback == nil {
			o.fallback = &lane{
				Thread: &ntconv.Thread{TID: ntconv.TIDUnknown, Process: o.process(ownerKey{pid: unknownID})},
			}
		}
		return o.fallback
	}
	t := &ntconv.Thread{
		TID:     ntconv.TIDUnknown,
		Name:    key.thread,
		Process: o.process(ownerKey{pid: key.pid, process: key.process}),
	}
	if key.tid >= 0 {
		t.TID = uint64(key.tid)
	}
	found := &lane{Thread: t}
	o.lanes[key] = found
	return found
}

// process returns the process of a key without thread. A process without an ID gets an unused PID.
func (o *owners) process(key ownerKey) *ntconv.Process {
	if p := o.processes[key]; p != nil {
		return p
	}
	if len(o.processes) >= maxProcesses {
		key = ownerKey{pid: unknownID}
		if p := o.processes[key]; p != nil {
			return p
		}
	}
	p := &ntconv.Process{PID: uint64(key.pid), Name: key.process, PointerSize: 8}
	if key.pid < 0 {
		p.PID = fallbackPID
		for o.pids[p.PID] {
			p.PID++
		}
		if p.Name == "" {
			p.Name = fallbackName
		}
	}
	o.pids[p.PID] = true
	o.processes[key] = p
	return p
}
