package chromeevent

import (
	"cmp"
	"iter"
	"slices"

	"github.com/ntconv/ntconv"
)

// A Role is what an event does to slices and flows.
type Role uint8

const (
	RoleNone      Role = iota // an instant, a counter, a sample, metadata, or unknown
	RoleComplete              // a slice of its thread with its duration
	RoleBegin                 // begins a slice
	RoleStep                  // happens in an open slice that an ID names
	RoleEnd                   // ends a slice
	RoleFlowBegin             // an arrow leaves the slice that encloses the event, or begins with it
	RoleFlowStep              // an arrow comes in, and another one of the same flow leaves
	RoleFlowEnd               // an arrow comes in
)

// RoleOf returns the role of the events of a phase. Events of other roles can be ends of flows, too: see Pairer.Flow.
func RoleOf(phase string) Role {
	switch phase {
	case PhaseComplete:
		return RoleComplete
	case PhaseBegin, PhaseAsyncBegin, PhaseOldAsyncBegin, PhaseObjectNew:
		return RoleBegin
	case PhaseAsyncInstant, PhaseOldAsyncInto, PhaseOldAsyncPast, PhaseObjectState:
		return RoleStep
	case PhaseEnd, PhaseAsyncEnd, PhaseOldAsyncEnd, PhaseObjectDelete:
		return RoleEnd
	case PhaseFlowBegin:
		return RoleFlowBegin
	case PhaseFlowStep:
		return RoleFlowStep
	case PhaseFlowEnd:
		return RoleFlowEnd
	}
	return RoleNone
}

// ArrowName is the name and the category of the slices without duration that the Chrome exporter writes for ends of
// arrows, see Event.IsArrow.
const ArrowName = "flow"

// IsArrow reports whether an event begins a slice without duration that is only an end of an arrow, which leads from or
// to the slice around it.
func (e *Event) IsArrow() bool {
	return e.Phase == PhaseBegin && e.Name == ArrowName && e.Category == ArrowName && e.BindID.Kind != NoID &&
		(e.FlowIn || e.FlowOut) &&
		len(e.Args) == 0
}

// A Pairer finds which events begin and end a slice. Events must come in time order. T is what the caller keeps of an
// open slice.
//
// An E ends the innermost open slice of its thread; if it has a name, the innermost one with that name. An e ends the
// innermost slice with its category, ID and scope, in the same way; an F and a D also need the same name. An ID of the
// whole file (id, id2.global) prefers slices of the process of the event to those of other processes, because many
// programs number their IDs from 1 in each process.
//
// Its memory is that of the open slices; an end looks at the 1024 innermost ones with its key. It is not safe for
// concurrent use.
type Pairer[T any] struct {
	stacks map[pairKey][]open[T]
	next   uint64
	count  int
	flows  map[flowKey]uint64
	last   uint64 // number of the latest flow
}

// A pairKey is what events of a slice have in common.
type pairKey struct {
	thread   *ntconv.Thread  // B and E
	process  *ntconv.Process // local IDs and objects
	form     byte            // phases with keys of their own
	category string
	name     string
	scope    string
	id       string
}

type open[T any] struct {
	name    string
	process *ntconv.Process
	number  uint64 // in the order of begins
	value   T
}

// keyOf returns what a slice of an event is found by. The ID is left out.
func keyOf(e *Event, t *ntconv.Thread) (k pairKey) {
	switch e.Phase {
	case PhaseBegin, PhaseEnd:
		return pairKey{thread: t}
	case PhaseAsyncBegin, PhaseAsyncInstant, PhaseAsyncEnd:
		k = pairKey{form: 'b', category: e.Category, scope: e.IDScope}
	case PhaseObjectNew, PhaseObjectState, PhaseObjectDelete:
		k = pairKey{form: 'N', name: e.Name, scope: e.IDScope, process: processOf(t)}
	default:
		k = pairKey{form: 'S', category: e.Category, name: e.Name, scope: e.IDScope}
	}
	if e.ID.Kind == LocalID {
		k.process = processOf(t)
	}
	return k
}

func processOf(t *ntconv.Thread) *ntconv.Process {
	if t == nil {
		return nil
	}
	return t.Process
}

// stack returns the open slices that an event can belong to.
func (p *Pairer[T]) stack(e *Event, t *ntconv.Thread) (pairKey, []open[T]) {
	k := keyOf(e, t)
	k.id = string(e.ID.Text)
	return k, p.stacks[k]
}

// Begin opens the slice of an event of RoleBegin on thread t.
func (p *Pairer[T]) Begin(e *Event, t *ntconv.Thread, value T) {
	k, stack := p.stack(e, t)
	if p.stacks == nil {
		p.stacks = map[pairKey][]open[T]{}
	}
	p.next++
	p.count++
	p.stacks[k] = append(stack, open[T]{name: e.Name, process: processOf(t), number: p.next, value: value})
}

// Step returns the slice in which an event of RoleStep on thread t happens. ok is false if none is open.
func (p *Pairer[T]) Step(e *Event, t *ntconv.Thread) (value T, ok bool) {
	_, stack := p.stack(e, t)
	i := p.find(stack, e, t, false)
	if i < 0 {
		return value, false
	}
	return stack[i].value, true
}

// End closes the slice that an event of RoleEnd on thread t ends, and returns it. ok is false if none is open.
func (p *Pairer[T]) End(e *Event, t *ntconv.Thread) (value T, ok bool) {
	k, stack := p.stack(e, t)
	i := p.find(stack, e, t, e.Has&HasName != 0 && e.Name != "")
	if i < 0 {
		return value, false
	}
	value = stack[i].value
	copy(stack[i:], stack[i+1:])
	stack[len(stack)-1] = open[T]{}
	if stack = stack[:len(stack)-1]; len(stack) == 0 && k.thread == nil {
		delete(p.stacks, k)
	} else {
		p.stacks[k] = stack
	}
	p.count--
	return value, true
}

// maxOpenWalk bounds how far an end looks for its begin among the slices that are open with its key: a file of nothing
// but begins, and ends with other names, would take time with its square.
const maxOpenWalk = 1 << 10

// find returns the position of the innermost slice that an event belongs to, -1 if there is none among the innermost
// ones.
func (p *Pairer[T]) find(stack []open[T], e *Event, t *ntconv.Thread, named bool) int {
	other := -1 // in another process
	for i := len(stack) - 1; i >= max(len(stack)-maxOpenWalk, 0); i-- {
		if s := &stack[i]; !named || s.name == e.Name {
			if s.process == processOf(t) {
				return i
			}
			other = max(other, i)
		}
	}
	return other
}

// Open returns the number of open slices.
func (p *Pairer[T]) Open() int { return p.count }

// Unfinished closes the slices that are open and returns them in the order of their beginnings.
func (p *Pairer[T]) Unfinished() iter.Seq[T] {
	var all []open[T]
	for _, stack := range p.stacks {
		all = append(all, stack...)
	}
	p.stacks, p.count = nil, 0
	slices.SortFunc(all, func(a, b open[T]) int { return cmp.Compare(a.number, b.number) })
	return func(yield func(T) bool) {
		for i := range all {
			if !yield(all[i].value) {
				return
			}
		}
	}
}

// A flowKey is what the events of a flow have in common.
type flowKey struct {
	process            *ntconv.Process // local IDs
	bound              bool            // bind_id
	category, name, id string
}

// maxFlows bounds the flows that a Pairer knows. An older one, of which no event may follow, is then a flow without its
// beginning.
const maxFlows = 1 << 20

// Flow returns the number of the flow that an event on thread t is part of, from 1, and 0 if it is part of none. in
// means that an arrow ends at the event, out that one begins there. These are events of the phases s, t and f, and
// events with bind_id.
func (p *Pairer[T]) Flow(e *Event, t *ntconv.Thread) (number uint64, in, out bool) {
	k := flowKey{}
	switch RoleOf(e.Phase) {
	case RoleFlowBegin:
		out = true
	case RoleFlowStep:
		in, out = true, true
	case RoleFlowEnd:
		in = true
	default:
		if in, out = e.FlowIn, e.FlowOut; e.BindID.Kind == NoID || !in && !out {
			return 0, false, false
		}
		k = flowKey{bound: true, id: string(e.BindID.Text)}
	}
	if !k.bound {
		k = flowKey{category: e.Category, name: e.Name, id: string(e.ID.Text)}
		if e.ID.Kind == LocalID {
			k.process = processOf(t)
		}
	}
	number = p.flows[k]
	begins := out && !in && !k.bound // an s begins another flow with the ID of an earlier one
	if number == 0 || begins {
		if !out {
			return 0, false, false // an arrow from nowhere
		}
		if p.flows == nil || len(p.flows) >= maxFlows {
			p.flows = map[flowKey]uint64{}
		}
		p.last++
		p.flows[k] = p.last
		return p.last, false, true
	}
	if in && !out && !k.bound {
		delete(p.flows, k)
	}
	return number, in, out
}
