package chromeevent

import (
	"strconv"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/data/jsonio"
	"github.com/ntconv/ntconv/internal/events/owner"
)

// Owners maps the members pid and tid to processes and threads. Set their names before the first event of a thread, or
// of its process, is delivered. The zero value is ready to use. Owners creates at most 65,536 processes and about
// 1,048,576 threads; events of further ones get another process or thread. It is not safe for concurrent use.
type Owners struct {
	// Merged counts the calls of Thread for threads beyond these limits.
	Merged int64

	processes map[string]*process
	pids      owner.Numbers
	tids      owner.Numbers
	made      uint64   // the latest synthetic ID; 0 if there is none
	first     *process // gets the events of processes beyond the limit
	count     int      // number of threads
}

type process struct {
	*ntconv.Process
	text    string // member pid as JSON
	spelled bool   // PID has the same text
	threads map[string]*ntconv.Thread
	some    *ntconv.Thread // any thread; gets the events of threads beyond the limit
}

const (
	maxProcesses = 1 << 16
	maxThreads   = 1 << 20
)

// madeID is greater than all IDs that operating systems assign to processes and threads. IDs above it are synthesized
// for members that are not numbers.
const madeID = 1 << 31

// key returns a member without quotes, so that a number and a string of that number are equal.
func key(member []byte) string {
	if len(member) >= 2 && member[0] == '"' {
		text, _ := jsonio.AppendUnquoted(nil, member)
		return string(text)
	}
	return string(member)
}

// number returns the value of text, and false if text is not the canonical decimal form of a number.
func number(text string) (n uint64, ok bool) {
	n, ok = owner.Parse(text)
	return n, ok && (text == "0" || text[0] != '0' && text[0] != '+')
}

// process returns the process of a member pid, which is nil if absent. own is false if there are too many processes and
// this is another one.
func (o *Owners) process(pid []byte) (p *process, own bool) {
	if p := o.processes[string(pid)]; p != nil {
		return p, true
	}
	text := key(pid)
	if text != string(pid) {
		if p := o.processes[text]; p != nil {
			o.processes[string(pid)] = p
			return p, true
		}
	}
	if o.pids.Len() >= maxProcesses {
		return o.first, false
	}
	if o.processes == nil {
		o.processes = map[string]*process{}
	}
	p = &process{threads: map[string]*ntconv.Thread{}, text: string(pid)}
	n, ok := number(text)
	if p.spelled = ok; !ok && len(pid) > 0 {
		n = o.make(&o.pids)
	}
	o.pids.Add(n)
	p.Process = &ntconv.Process{PID: n, PointerSize: 8}
	if o.first == nil {
		o.first = p
	}
	o.processes[text], o.processes[string(pid)] = p, p
	return p, true
}

// make returns an unused synthetic ID. The IDs of processes and threads differ.
func (o *Owners) make(used *owner.Numbers) uint64 {
	o.made = used.New(max(o.made, madeID) + 1)
	return o.made
}

// SetProcessName sets the name of a process, unless it is beyond the limit.
func (o *Owners) SetProcessName(pid []byte, name string) {
	if p, own := o.process(pid); own {
		p.Name = name
	}
}

// SetThreadName sets the name of a thread, unless it is beyond the limit.
func (o *Owners) SetThreadName(pid, tid []byte, name string) {
	if t, own := o.thread(pid, tid); own {
		t.Name = name
	}
}

// Thread returns the thread of an event with these members, which are JSON, or nil if absent. Equal members always
// yield the same thread. Thread copies what it needs.
func (o *Owners) Thread(pid, tid []byte) *ntconv.Thread {
	t, own := o.thread(pid, tid)
	if !own {
		o.Merged++
	}
	return t
}

// thread returns the thread of the members. own is false if there are too many and this is another one.
func (o *Owners) thread(pid, tid []byte) (t *ntconv.Thread, own bool) {
	p, own := o.process(pid)
	if t := p.threads[string(tid)]; t != nil {
		return t, own
	}
	text := key(tid)
	if t = p.threads[text]; t == nil && o.count >= maxThreads && p.some != nil {
		return p.some, false
	}
	if t == nil {
		o.count++
		t = &ntconv.Thread{Process: p.Process, TID: ntconv.TIDUnknown}
		if !p.spelled {
			t.Attrs = append(t.Attrs, ntconv.Attr{Key: AttrPID, Value: p.text})
		}
		n, ok := number(text)
		switch {
		case ok:
			t.TID = n
		case len(tid) > 0:
			t.TID = o.make(&o.tids)
			fallthrough
		default:
			t.Attrs = append(t.Attrs, ntconv.Attr{Key: AttrTID, Value: string(tid)})
		}
		o.tids.Add(t.TID)
		p.threads[text], p.some = t, t
	}
	p.threads[string(tid)] = t
	return t, own
}

// An ownerText is the members pid and tid of a thread as JSON; nil means absent.
type ownerText struct{ pid, tid []byte }

// textOf returns the members pid and tid of a thread.
func textOf(t *ntconv.Thread) (o ownerText) {
	if t == nil {
		return o
	}
	spell := func(attr string, n uint64) []byte {
		text, ok := t.Attrs.Get(attr)
		switch {
		case !ok:
			return strconv.AppendUint(nil, n, 10)
		case isJSON([]byte(text)):
			return []byte(text)
		}
		return nil
	}
	if t.Process != nil {
		o.pid = spell(AttrPID, t.Process.PID)
	}
	o.tid = spell(AttrTID, t.TID)
	return o
}
