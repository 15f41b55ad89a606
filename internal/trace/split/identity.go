package split

import (
	"slices"
	"strconv"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/trace/tracecmp"
)

// identities gives the types and threads of a trace their counterparts in the parts. The first of several with equal
// content is its own counterpart; the others get attrSame.
type identities struct {
	types   map[*ntconv.Type]*ntconv.Type
	threads map[*ntconv.Thread]*ntconv.Thread
	same    map[string]int // number of types and threads by content
	known   *originals     // counterparts by content, shared with the other reading of the trace

	lastType            [2]*ntconv.Type
	lastThread, capture [2]*ntconv.Thread
}

// newIdentities returns the identities of a reading. known, which may be nil, is that of an earlier reading, so that both
// readings have the same counterparts.
func newIdentities(known *originals) *identities {
	if known == nil {
		known = newOriginals()
	}
	return &identities{
		types: map[*ntconv.Type]*ntconv.Type{}, threads: map[*ntconv.Thread]*ntconv.Thread{},
		same: map[string]int{}, known: known,
	}
}

// count returns the number of values of equal content so far, including this one.
func (i *identities) count(kind, key string) int {
	i.same[kind+key]++
	return i.same[kind+key]
}

// with returns attrs with the number of a value among its equals.
func with(attrs ntconv.Attrs, n int) ntconv.Attrs {
	return append(slices.Clone(attrs), ntconv.Attr{Key: attrSame, Value: strconv.Itoa(n)})
}

// typeWith returns a copy of t with other attributes. It copies member by member, because a Type has a cache that other
// goroutines may write.
func typeWith(t *ntconv.Type, attrs ntconv.Attrs) *ntconv.Type {
	return &ntconv.Type{
		Provider: t.Provider, GUID: t.GUID, ID: t.ID, Name: t.Name, Version: t.Version, Level: t.Level,
		Opcode: t.Opcode, HasOpcode: t.HasOpcode, Keywords: t.Keywords, Fields: t.Fields, Message: t.Message,
		Description: t.Description, Attrs: attrs, Extra: t.Extra, OptionalExtra: t.OptionalExtra,
	}
}

// typ returns the counterpart of a type.
func (i *identities) typ(t *ntconv.Type) *ntconv.Type {
	if t == i.lastType[0] {
		return i.lastType[1]
	}
	out := i.types[t]
	if out == nil && t != nil {
		out = t
		if n := i.count("type ", tracecmp.TypeKey(t)); n > 1 {
			out = typeWith(t, with(t.Attrs, n))
		}
		out = i.known.sameType(out)
		i.types[t] = out
	}
	i.lastType = [2]*ntconv.Type{t, out}
	return out
}

// thread returns the counterpart of a thread.
func (i *identities) thread(t *ntconv.Thread) *ntconv.Thread {
	switch t {
	case i.lastThread[0]:
		return i.lastThread[1]
	case i.capture[0]:
		return i.capture[1]
	}
	out := i.threads[t]
	if out == nil && t != nil {
		out = t
		if n := i.count("thread ", tracecmp.ThreadKey(t)); n > 1 {
			c := *t
			c.Attrs = with(t.Attrs, n)
			out = &c
		}
		out = i.known.sameThread(out)
		i.threads[t] = out
	}
	i.capture, i.lastThread = i.lastThread, [2]*ntconv.Thread{t, out}
	return out
}

// ended discards the threads that a mark ends: no later item refers to them.
func (i *identities) ended(e *ntconv.Event) {
	if e.Mark == nil || e.Mark.Kind != ntconv.MarkThreadsRemoved {
		return
	}
	for _, t := range e.Mark.Threads {
		delete(i.threads, t.Thread)
	}
	i.lastThread, i.capture = [2]*ntconv.Thread{}, [2]*ntconv.Thread{}
}

// visit determines the counterparts of everything that an item refers to. Both readings visit the items in the same
// order, so they number equals alike.
func (i *identities) visit(e *ntconv.Event) {
	i.typ(e.Type)
	i.thread(e.Thread)
	if e.Capture != e.Thread {
		i.thread(e.Capture)
	}
	if e.Mark != nil {
		for _, t := range e.Mark.Threads {
			i.thread(t.Thread)
		}
	}
}

// mark returns the counterpart of a mark.
func (i *identities) mark(m *ntconv.Mark) *ntconv.Mark {
	out := &ntconv.Mark{Kind: m.Kind, Flags: m.Flags, Threads: make([]ntconv.ThreadSeq, len(m.Threads))}
	for n, t := range m.Threads {
		out.Threads[n] = ntconv.ThreadSeq{Thread: i.thread(t.Thread), Seq: t.Seq}
	}
	return out
}

// originals finds the types and threads of the joined trace for those of its parts: by content, including attrSame.
type originals struct {
	types     map[string]*ntconv.Type
	threads   map[string]*ntconv.Thread
	processes map[string]*ntconv.Process
}

func newOriginals() *originals {
	return &originals{
		types: map[string]*ntconv.Type{}, threads: map[string]*ntconv.Thread{}, processes: map[string]*ntconv.Process{},
	}
}

// without returns attrs without attrSame.
func without(attrs ntconv.Attrs) ntconv.Attrs {
	if n := len(attrs); n > 0 && attrs[n-1].Key == attrSame {
		return attrs[: n-1 : n-1]
	}
	return attrs
}

// sameType returns the type that the first call with this content got.
func (o *originals) sameType(t *ntconv.Type) *ntconv.Type {
	key := tracecmp.TypeKey(t)
	if o.types[key] == nil {
		o.types[key] = t
	}
	return o.types[key]
}

// sameThread is sameType for threads.
func (o *originals) sameThread(t *ntconv.Thread) *ntconv.Thread {
	key := tracecmp.ThreadKey(t)
	if o.threads[key] == nil {
		o.threads[key] = t
	}
	return o.threads[key]
}

func (o *originals) typ(t *ntconv.Type) *ntconv.Type {
	key := tracecmp.TypeKey(t)
	out := o.types[key]
	if out == nil {
		out = t
		if attrs := without(t.Attrs); len(attrs) < len(t.Attrs) {
			out = typeWith(t, attrs)
		}
		o.types[key] = out
	}
	return out
}

func (o *originals) thread(t *ntconv.Thread) *ntconv.Thread {
	key := tracecmp.ThreadKey(t)
	out := o.threads[key]
	if out == nil {
		c := *t
		c.Attrs, c.Process = without(t.Attrs), o.process(t.Process)
		out = &c
		o.threads[key] = out
	}
	return out
}

func (o *originals) process(p *ntconv.Process) *ntconv.Process {
	if p == nil {
		return nil
	}
	key := tracecmp.ProcessKey(p)
	out := o.processes[key]
	if out == nil {
		out = p
		o.processes[key] = out
	}
	return out
}
