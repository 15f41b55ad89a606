package firefox

import (
	"strconv"

	"github.com/ntconv/ntconv"
)

// ownerTexts are what a thread says about itself and its process.
type ownerTexts struct{ name, process, processType, pid, tid string }

// owners are the processes and threads so far.
type owners struct {
	processes map[string]*ntconv.Process // by the text of pid
	pids      map[uint64]bool            // in use
	tids      map[uint64]bool
}

func newOwners() owners {
	return owners{map[string]*ntconv.Process{}, map[uint64]bool{}, map[uint64]bool{}}
}

// thread returns a new thread. IDs that are not numbers, or are taken, are replaced.
func (o *owners) thread(t *ownerTexts, product string) *ntconv.Thread {
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
	if t.name == "thread "+t.tid { // which exporters/firefox writes where a thread has no name
		out.Name = ""
	}
	return out
}

// number returns an ID that is not in use: that of the text if possible.
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

// labels returns labels that name a thread and its process, for formats that have neither.
func (o *owners) labels(t *ntconv.Thread) *ntconv.Labels {
	list := []ntconv.Label{{Kind: ntconv.LabelString, Key: "process", Str: t.Process.Name}}
	if t.Name != "" {
		list = append(list, ntconv.Label{Kind: ntconv.LabelString, Key: "thread", Str: t.Name})
	}
	return ntconv.NewLabels(append(list,
		ntconv.Label{Kind: ntconv.LabelInt, Key: "pid", Num: int64(t.Process.PID), Unit: "id"},
		ntconv.Label{Kind: ntconv.LabelInt, Key: "thread id", Num: int64(t.TID), Unit: "id"}))
}
