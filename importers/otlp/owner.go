package otlp

import (
	"cmp"
	"slices"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/events/owner"
	"github.com/ntconv/ntconv/internal/span"
)

// owners assigns processes, threads and capture threads to items, and decides when a sequence point is due.
type owners struct {
	report *ntconv.Report
	// last is the process of lastResource, a cache by pointer: the items of a message share their resource.
	lastResource *span.Resource
	last         *process

	processes map[span.TraceID]*process // by hash of the resource
	list      []*process
	pids      map[string]*owner.Numbers // by host, because PIDs are unique per host
	nextPID   uint64                    // a PID that a resource without one may get on any host, at least 1
	threads   int                       // that items state; items of further threads have no thread

	latest ntconv.Ticks // time of the latest event
	floor  ntconv.Ticks // time of the latest sequence point; later events must not be earlier
	events int          // events since then
	bytes  int          // bytes of their payloads
}

func newOwners(report *ntconv.Report) *owners {
	return &owners{report: report, processes: map[span.TraceID]*process{}, pids: map[string]*owner.Numbers{}, nextPID: 1}
}

// A process is the process of a resource, and its threads.
type process struct {
	*ntconv.Process
	lanes   []*lane // sorted by the time of their last event, latest first
	threads map[int64]*ntconv.Thread
}

// A lane is a capture thread. The events of a capture thread have ascending times.
type lane struct {
	thread *ntconv.Thread
	last   ntconv.Ticks
	seq    uint32 // of the last event
}

// place sets the time, thread and capture thread of the events of an item, and returns their capture thread.
func (o *owners) place(it *item, e *ntconv.Event) *lane {
	if it.resource != o.lastResource || o.last == nil {
		o.lastResource, o.last = it.resource, o.process(it.resource)
	}
	e.Time = max(ntconv.Ticks(it.time), 0)
	p := o.last
	l := p.lane(max(e.Time, o.floor))
	if at := max(l.last, o.floor); e.Time < at {
		o.report.Note(ntconv.CodeOutOfOrder, 1, -1, "items that are much out of order: their events are later, their payloads exact")
		e.Time = at
	}
	l.last = e.Time
	o.latest = max(o.latest, e.Time)
	e.Capture = l.thread
	e.Thread = o.thread(p, it.attributes)
	if e.Thread == nil {
		e.Thread = l.thread
	}
	return l
}

// lane returns the first capture thread whose last event is not later than t. If there is none and no thread can be
// added, it returns the thread with the earliest last event.
func (p *process) lane(t ntconv.Ticks) *lane {
	i, _ := slices.BinarySearchFunc(p.lanes, t, func(l *lane, t ntconv.Ticks) int {
		if l.last > t {
			return -1
		}
		return 1
	})
	switch {
	case i < len(p.lanes): // its new time does not exceed that of the preceding thread, so the lanes stay sorted
		return p.lanes[i]
	case i < maxLanes:
		l := &lane{thread: &ntconv.Thread{TID: ntconv.TIDUnknown, Process: p.Process}}
		p.lanes = append(p.lanes, l)
		return l
	}
	return p.lanes[i-1]
}

// thread returns the thread that the attributes state, or nil.
func (o *owners) thread(p *process, attributes []span.Attribute) *ntconv.Thread {
	id, name := int64(-1), ""
	for i := range attributes {
		switch a := &attributes[i]; {
		case a.Key == "thread.id" && a.Value.Kind() == span.ValueInt:
			id = a.Value.Int()
		case a.Key == "thread.name" && a.Value.Kind() == span.ValueString:
			name = a.Value.Str()
		}
	}
	if id < 0 {
		return nil
	}
	t := p.threads[id]
	if t == nil && o.threads < owner.MaxThreads {
		o.threads++
		t = &ntconv.Thread{TID: uint64(id), Name: name, Process: p.Process}
		if p.threads == nil {
			p.threads = map[int64]*ntconv.Thread{}
		}
		p.threads[id] = t
	}
	return t
}

// process returns the process of a resource. Resources with equal contents share a process.
func (o *owners) process(r *span.Resource) *process {
	key := hashOf(r)
	if p := o.processes[key]; p != nil {
		return p
	}
	if len(o.list) >= owner.MaxProcesses {
		return o.list[len(o.list)-1]
	}
	p := &process{Process: &ntconv.Process{PointerSize: 8}}
	p.Name, p.Host = cmp.Or(text(r, "service.name"), text(r, "process.executable.name")), text(r, "host.name")
	pid := int64(-1)
	for i := range r.Attributes {
		if a := &r.Attributes[i]; a.Key == "process.pid" && a.Value.Kind() == span.ValueInt {
			pid = a.Value.Int()
		}
	}
	if len(o.list) == owner.MaxProcesses-1 {
		p.Name, p.Host, pid = "other resources", "", -1
	}
	p.PID = uint64(pid)
	pids := o.pids[p.Host]
	if pids == nil {
		pids = new(owner.Numbers)
		o.pids[p.Host] = pids
	}
	if pid < 0 || pid > maxPID || !pids.Add(p.PID) {
		p.PID = pids.New(o.nextPID)
		o.nextPID = p.PID
	}
	o.processes[key] = p
	o.list = append(o.list, p)
	return p
}

// maxPID is the largest PID that TraceEvent preserves: it stores 31 bits.
const maxPID = 1<<31 - 1

// text returns the last string attribute with this key, or "".
func text(r *span.Resource, key string) (s string) {
	for i := range r.Attributes {
		if a := &r.Attributes[i]; a.Key == key && a.Value.Kind() == span.ValueString {
			s = a.Value.Str()
		}
	}
	return s
}

// markDue returns a sequence point to insert before it, or nil. One is due when enough events have passed since
// the last. Producers group the items of a message by scope, so items are out of order within a message, but messages are
// usually in order: markDue prefers a position between messages.
func (o *owners) markDue(it *item) *ntconv.Mark {
	due := func(windows int) bool { return o.events >= windows*windowEvents || o.bytes >= windows*windowBytes }
	if !due(1) || it.resource == o.lastResource && !due(2) {
		return nil
	}
	o.events, o.bytes, o.floor = 0, 0, o.latest
	m := &ntconv.Mark{Kind: ntconv.MarkSequencePoint}
	for _, p := range o.list {
		for _, l := range p.lanes {
			m.Threads = append(m.Threads, ntconv.ThreadSeq{Thread: l.thread, Seq: l.seq})
		}
	}
	return m
}

// hashOf returns a hash of the contents of a resource.
func hashOf(r *span.Resource) span.TraceID {
	var h span.Hash
	h.Text(r.SchemaURL)
	h.Number(uint64(r.DroppedAttributes))
	hashAttributes(&h, r.Attributes)
	for _, e := range r.Entities {
		h.Text(e.SchemaURL)
		h.Text(e.Type)
		for _, keys := range [...][]string{e.IDKeys, e.DescriptionKeys} {
			h.Number(uint64(len(keys)))
			for _, k := range keys {
				h.Text(k)
			}
		}
	}
	return h.Trace()
}

func hashAttributes(h *span.Hash, list []span.Attribute) {
	h.Number(uint64(len(list)))
	for i := range list {
		h.Text(list[i].Key)
		hashValue(h, list[i].Value)
	}
}

func hashValue(h *span.Hash, v span.Value) {
	h.Number(uint64(v.Kind()))
	switch v.Kind() {
	case span.ValueArray:
		h.Number(uint64(len(v.Elems())))
		for _, e := range v.Elems() {
			hashValue(h, e)
		}
	case span.ValueMap:
		hashAttributes(h, v.Members())
	default:
		h.Text(v.Str())
		h.Number(uint64(v.Int()))
	}
}
