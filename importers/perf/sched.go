package perf

import (
	"bytes"
	"encoding/binary"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/data/bin"
	"github.com/ntconv/ntconv/internal/events/clr"
	"github.com/ntconv/ntconv/internal/profile/imported"
)

// A taskSwitch is a context switch of a CPU from one thread to another, by the details of sched:sched_switch.
type taskSwitch struct {
	prev, next uint64 // IDs of threads; 0 is the idle thread of a CPU
	state      []byte // of the previous thread: R for a thread that wanted to go on, S and D for one that waits
}

// switchEvent is the event of perf whose details are a taskSwitch.
const switchEvent = "sched:sched_switch"

// parseSwitch parses the details of a context switch in both forms of perf script. The second one is that of
// libtraceevent's plugin:
//
//	prev_comm=a prev_pid=1 prev_prio=120 prev_state=S ==> next_comm=b next_pid=2 next_prio=120
//	a:1 [120] S ==> b:2 [120]
//
// A name may have any text of the form in it, so the last occurrence decides.
func parseSwitch(details []byte) (s taskSwitch, ok bool) {
	arrow := bytes.LastIndex(details, []byte(" ==> "))
	if arrow < 0 {
		return s, false
	}
	left, right := details[:arrow], details[arrow+len(" ==> "):]
	if at := bytes.LastIndex(left, []byte(" prev_state=")); at >= 0 {
		s.state = left[at+len(" prev_state="):]
		if s.prev, ok = numberAfter(left[:at], " prev_pid="); ok {
			s.next, ok = numberAfter(right, " next_pid=")
		}
		return s, ok
	}
	at := bytes.LastIndexByte(left, ' ')
	if at < 0 {
		return s, false
	}
	s.state = left[at+1:]
	if s.prev, ok = numberAfter(beforePriority(left[:at]), ":"); ok {
		s.next, ok = numberAfter(beforePriority(right), ":")
	}
	return s, ok
}

// numberAfter returns the number after the last occurrence of a key, which a space or the end must follow.
func numberAfter(b []byte, key string) (n uint64, ok bool) {
	at := bytes.LastIndex(b, []byte(key))
	if at < 0 {
		return 0, false
	}
	n, rest, ok := cutNumber(b[at+len(key):])
	return n, ok && (len(rest) == 0 || rest[0] == ' ')
}

// beforePriority removes the priority of a thread, such as " [120]".
func beforePriority(b []byte) []byte {
	if at := bytes.LastIndex(b, []byte(" [")); at >= 0 {
		return b[:at]
	}
	return nil
}

// An absence is a thread without a CPU.
type absence struct {
	since  int64
	thread uint32
	stack  imported.Node
	state  string
}

// absenceBytes is the memory of an absence in bytes.
const absenceBytes = 96

// stateName returns a state as a string: letters, which Go does not allocate for one of them, and signs such as R+ and
// D|W. Anything else is not a state.
func stateName(state []byte) string {
	if len(state) > 16 {
		return ""
	}
	for _, c := range state {
		if c <= ' ' || c > '~' {
			return ""
		}
	}
	return string(state)
}

// switched processes the current event if it is a context switch: its thread loses the CPU, and the next one has been
// without a CPU until now. That time becomes a record. Context switches from a thread are events of that thread, so they
// are known in every recording; those to a thread are known only in recordings of all threads (perf record -a), and
// other threads have no times without a CPU.
func (t *text) switched(stack imported.Node) error {
	e := &t.current
	if a, ok := t.absent[e.next]; ok {
		delete(t.absent, e.next)
		if err := t.b.Charge(-absenceBytes); err != nil {
			return err
		}
		if length := e.time - a.since; length < 0 {
			t.report.Note(ntconv.CodeUnpaired, 1, -1, "context switches to a thread precede those from it")
		} else {
			t.scratch = appendAbsence(t.scratch[:0], &a, length, e.cpu)
			if err := t.b.Record(e.time, t.scratch); err != nil {
				return err
			}
		}
	}
	if e.prev == 0 {
		return nil
	}
	known := len(t.absent)
	if _, ok := t.absent[e.prev]; ok {
		t.report.Note(ntconv.CodeUnpaired, 1, -1, "context switches to a thread are missing; perf record -a records them")
	}
	t.absent[e.prev] = absence{e.time, e.thread, stack, e.state}
	return t.b.Charge(int64(len(t.absent)-known) * absenceBytes)
}

func appendAbsence(b []byte, a *absence, length, cpu int64) []byte {
	for _, n := range []uint64{uint64(a.thread), uint64(a.stack), uint64(length), uint64(cpu + 1)} {
		b = binary.AppendUvarint(b, n)
	}
	return append(b, a.state...)
}

// switches makes the events of records: those of machine-wide traces, from which the profile of kind off-cpu and the
// timelines are computed.
type switches struct {
	src     *imported.Source
	event   ntconv.Event
	payload []byte
}

// switchTypeID is unique: the samples have the type 1.
const switchTypeID = 2

func newSwitches() *switches {
	s := new(switches)
	s.event.Type = &ntconv.Type{Provider: clr.UniversalEvents, ID: switchTypeID, Name: "cswitch", Fields: []ntconv.Field{
		{Name: "Value", Type: ntconv.FieldType{Code: ntconv.TypeVarUint}},
		{Name: "State", Type: ntconv.FieldType{Code: ntconv.TypeUTF16String}},
	}}
	return s
}

// next implements imported.Profile.Event.
func (s *switches) next(at ntconv.Ticks, data []byte) (*ntconv.Event, error) {
	if data == nil {
		return nil, nil
	}
	var n [4]uint64
	for i := range n {
		var size int
		n[i], size = binary.Uvarint(data)
		data = data[size:]
	}
	s.payload = append(bin.AppendUTF16(binary.AppendUvarint(s.payload[:0], n[2]), data), 0, 0)
	s.event = ntconv.Event{
		Kind: ntconv.KindEvent, Time: at, CPU: ntconv.CPUUnknown, Offset: -1, Type: s.event.Type,
		Thread: s.src.Thread(uint32(n[0])), Stack: s.src.Stack(imported.Node(n[1])), Payload: s.payload,
	}
	if n[3] > 0 {
		s.event.CPU = int32(n[3] - 1)
	}
	return &s.event, nil
}
