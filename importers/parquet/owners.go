package parquet

import (
	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/events/owner"
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
	pids      owner.Numbers
	last      ownerKey
	lastLane  *lane
	fallback  *lane // of rows of further threads; nil until it is needed
}

// unknownID represents a process or thread ID that a row does not state.
const unknownID = -1

func newOwners() owners {
	return owners{processes: map[ownerKey]*ntconv.Process{}, lanes: map[ownerKey]*lane{}}
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

// add adds the thread of a key. If there are too many threads, it returns the fallback.
func (o *owners) add(key ownerKey) *lane {
	full := len(o.lanes) >= owner.MaxThreads
	if full {
		if o.fallback != nil {
			return o.fallback
		}
		key = ownerKey{pid: unknownID, tid: unknownID}
	}
	t := &ntconv.Thread{TID: ntconv.TIDUnknown, Name: key.thread, Process: o.process(ownerKey{pid: key.pid, process: key.process})}
	if key.tid >= 0 {
		t.TID = uint64(key.tid)
	}
	added := &lane{Thread: t}
	if full {
		o.fallback = added
	} else {
		o.lanes[key] = added
	}
	return added
}

// process returns the process of a key without thread. A process without an ID gets an unused PID.
func (o *owners) process(key ownerKey) *ntconv.Process {
	if p := o.processes[key]; p != nil {
		return p
	}
	if len(o.processes) >= owner.MaxProcesses {
		key = ownerKey{pid: unknownID}
		if p := o.processes[key]; p != nil {
			return p
		}
	}
	var p *ntconv.Process
	if key.pid < 0 {
		p = owner.Process(o.pids.New(owner.DefaultPID), key.process)
	} else {
		p = &ntconv.Process{PID: uint64(key.pid), Name: key.process, PointerSize: 8}
		o.pids.Add(p.PID)
	}
	o.processes[key] = p
	return p
}
