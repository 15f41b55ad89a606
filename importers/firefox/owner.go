package firefox

import (
	"cmp"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/events/owner"
)

// ownerFields holds what a thread element states about the thread and its process.
type ownerFields struct{ name, process, processType, pid, tid string }

// owners assigns processes and threads.
type owners struct {
	processes  map[string]*ntconv.Process // by pid as in the file
	pids, tids owner.Numbers
}

// thread returns a new thread. It replaces IDs that are not numbers or are in use.
func (o *owners) thread(t *ownerFields, product string) *ntconv.Thread {
	p := o.processes[t.pid]
	if p == nil {
		if cmp.Or(t.processType, "default") != "default" {
			product = t.processType
		}
		p = owner.Process(number(t.pid, &o.pids), t.process, product, t.processType)
		o.processes[t.pid] = p
	}
	out := &ntconv.Thread{TID: number(t.tid, &o.tids), Name: t.name, Process: p}
	if t.name == "thread "+t.tid { // the name that exporters/firefox writes for a thread without a name
		out.Name = ""
	}
	return out
}

// number returns the ID in text if it is a number that is not in use, and otherwise an unused ID. It marks the ID as
// used.
func number(text string, used *owner.Numbers) uint64 {
	if id, ok := owner.Parse(text); ok && used.Add(id) {
		return id
	}
	return used.New(uint64(used.Len()) + 1)
}
