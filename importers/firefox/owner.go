package firefox

import (
	"strconv"

	"github.com/ntconv/ntconv"
)

// ownerFields holds what a thread element states about the thread and its process.
type ownerFields struct{ name, process, processType, pid, tid string }

// owners assigns processes and threads.
type owners struct {
	processes map[string]*ntconv.Process // by pid as in the file
	pids      map[uint64]bool            // PIDs in use
	tids      map[uint64]bool            // TIDs in use
}

func newOwners() owners {
	return owners{map[string]*ntconv.Process{}, map[uint64]bool{}, map[uint64]bool{}}
}

// thread returns a new thread. It replaces IDs that are not numbers or are in use.
func (o *owners) thread(t *ownerFields, product string) *ntconv.Thread {
	p := o.processes[t.pid]
	if p == nil {
		p = &ntconv.Process{PID: number(t.pid, o.pids), Name: t.process, PointerSize: 8}
		if p.Name == "" && (t.processType == "" || t.processType == "default") {
			p.Name = product
		}
		if p.Name == "" {
			p.Name = t.processType
		}
		if p.Name == "" {
			p.Name = "process"
		}
		o.processes[t.pid] = p
	}
	out := &ntconv.Thread{TID: number(t.tid, o.tids), Name: t.name, Process: p}
	if t.name == "thread "+t.tid { // the name that exporters/firefox writes for a thread without a name
		out.Name = ""
	}
	return out
}

// number returns the ID in text if it is a number that is not in use, and otherwise an unused ID. It marks the ID as
// used.
func number(text string, used map[uint64]bool) uint64 {
	id, err := strconv.ParseUint(text, 10, 63)
	if err != nil || used[id] {
		for id = uint64(len(used)) + 1; used[id]; {
			id++
		}
	}
	used[id] = true
	return id
}

// labels returns labels that name a thread and its process, for formats that have neither threads nor processes.
func (o *owners) labels(t *ntconv.Thread) *ntconv.Labels {
	list := []ntconv.Label{{Kind: ntconv.LabelString, Key: "process", Str: t.Process.Name}}
	if t.Name != "" {
		list = append(list, ntconv.Label{Kind: ntconv.LabelString, Key: "thread", Str: t.Name})
	}
	return ntconv.NewLabels(append(list,
		ntconv.Label{Kind: ntconv.LabelInt, Key: "pid", Num: int64(t.Process.PID), Unit: "id"},
		ntconv.Label{Kind: ntconv.LabelInt, Key: "tid", Num: int64(t.TID), Unit: "id"}))
}
