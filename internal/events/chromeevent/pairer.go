package chromeevent

import (
	"cmp"
	"iter"
	"slices"

	"github.com/ntconv/ntconv"
)

// A Role is the effect of an event on slices and flows.
type Role uint8

const (
	RoleNone      Role = iota // an instant, a counter, a sample, metadata, or unknown
	RoleComplete              // a whole slice with its duration
	RoleBegin                 // begins a slice
	RoleStep                  // occurs in an open slice, identified by an ID
	RoleEnd                   // ends a slice
	RoleFlowBegin             // begins an arrow, at the enclosing slice
	RoleFlowStep              // ends an arrow and begins another one of the same flow
	RoleFlowEnd               // ends an arrow
)

// RoleOf returns the role of the events with a phase. Events of any role can also begin or end arrows, see Pairer.Flow.
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

// ArrowName is both the name and the category of the zero-duration slices that the Chrome exporter writes for the ends
// of arrows, see Event.IsArrow.
const ArrowName = "flow"

// IsArrow reports whether an event begins a zero-duration slice that only marks an end of an arrow from or to the
// enclosing slice.
func (e *Event) IsArrow() bool {
	return e.Phase == PhaseBegin && e.Name == ArrowName && e.Category == ArrowName && e.BindID.Kind != NoID &&
		(e.FlowIn || e.FlowOut) &&
		len(e.Args) == 0
}

// SampleMark is both the name and the category of the slices that mark a thread with samples, see Event.IsSampleMark.
const SampleMark = "samples"

// IsSampleMark reports whether an event is a slice of zero duration that the Chrome exporter writes for a thread with
// samples but without slices: DevTools shows the samples only of threads with a slice.
func (e *Event) IsSampleMark() bool {
	return e.Phase == PhaseComplete && e.Name == SampleMark && e.Category == SampleMark && e.Duration == 0 && len(e.Args) == 0
}

// A Pairer matches the events that begin and end slices. Pass it the events in time order. T is the caller's data about
// an open slice. The zero value is ready to use.
//
// An E ends the innermost open slice of its thread, or the innermost one with its name if it has a name. An e does the
// same among the slices with its category, ID and scope. An F and a D must also have the name of their begin. With an
// ID that is unique in the file (id, id2.global), slices of the process of the event take precedence, because many
// programs number their IDs from 1 in each process.
//
// Memory is proportional to the open slices and at most 1,048,576 flows. An end examines at most the 1,024 innermost
// slices with its key. A Pairer is not safe for concurrent use.
type Pairer[T any] struct {
	stacks map[pairKey][]open[T]
	next   uint64
	count  int
	flows  map[flowKey]uint64
	last   uint64 // latest number assigned to a flow
}

// A pairKey is what the begin, steps and end of a slice have in common.
type pairKey struct {
	thread   *ntconv.Thread  // B and E
	process  *ntconv.Process // local IDs and objects
	form     byte            // separates the kinds of phases
	category string
	name     string
	scope    string
	id       string
}

type open[T any] struct {
	name    string
	process *ntconv.Process
	number  uint64 // increases with each begin
	value   T
}

// keyOf returns the key of an event's slice without the ID.
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

// stack returns the key of an event and the open slices with that key, innermost last.
func (p *Pairer[T]) stack(e *Event, t *ntconv.Thread) (pairKey, []open[T]) {
	k := keyOf(e, t)
	k.id = string(e.ID.Text)
	return k, p.stacks[k]
}

// Begin opens the slice of an event of RoleBegin on thread t, which may be nil.
func (p *Pairer[T]) Begin(e *Event, t *ntconv.Thread, value T) {
	k, stack := p.stack(e, t)
	if p.stacks == nil {
		p.stacks = map[pairKey][]open[T]{}
	}
	p.next++
	p.count++
	p.stacks[k] = append(stack, open[T]{name: e.Name, process: processOf(t), number: p.next, value: value})
}

// Step returns the open slice in which an event of RoleStep on thread t occurs. ok is false if there is none.
func (p *Pairer[T]) Step(e *Event, t *ntconv.Thread) (value T, ok bool) {
	_, stack := p.stack(e, t)
	i := p.find(stack, e, t, false)
	if i < 0 {
		return value, false
	}
	return stack[i].value, true
}

// End closes and returns the slice that an event of RoleEnd on thread t ends. ok is false if there is none.
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

// maxOpenWalk bounds how many open slices an end examines. Otherwise a file of many begins, and of ends with other
// names, would take quadratic time.
const maxOpenWalk = 1 << 10

// find returns the index of the innermost slice to which an event belongs, or -1 if none of the innermost maxOpenWalk
// slices does. named requires the name of the event.
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

// Unfinished closes all open slices and returns them in the order of their begins.
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

// maxFlows bounds the flows that a Pairer knows. If there are more, it discards all of them. A later event of a
// discarded flow begins a new flow, or belongs to none if it only ends an arrow.
const maxFlows = 1 << 20

// Flow returns the number of the flow of which an event on thread t is a part, from 1, or 0 if there is none. in means
// that an arrow ends at the event, out that an arrow begins there. Only events with the phases s, t and f, and events
// with bind_id, are parts of flows.
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
	begins := out && !in && !k.bound // an s with the ID of an earlier flow begins a new flow
	if number == 0 || begins {
		if !out {
			return 0, false, false // an arrow without a begin
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
