package schema

import (
	"strconv"
	"strings"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/events/clr"
	"github.com/ntconv/ntconv/internal/events/operation"
)

// A Pair names the events that begin and end an interval. Pairs are immutable. Schemas of one Table share one *Pair per
// pair.
type Pair struct {
	Provider string
	Name     string // name of the interval: GC, Contention, or the task of an event source
	Begin    string // name of the event that begins the interval
	// End contains the names of the events that end the interval. The second one is empty for most pairs.
	End [2]string
	// Key states how an end is matched with its begin. Both are in the same process.
	Key Key
	// Field is the name of the field whose value the begin and the end share, for KeyField and KeyThreadField. If an older
	// version of an event lacks the field, the key is the thread.
	Field string
}

// Key states what an event that ends an interval shares with the event that began it. If several open begins match, the
// latest one is ended, because intervals nest.
type Key uint8

const (
	KeyThread      Key = iota // the thread
	KeyField                  // the value of Pair.Field
	KeyActivity               // the activity ID in the labels, or the thread if the event has none
	KeyProcess                // only the process, which has at most one such interval at a time
	KeyThreadField            // the thread and the value of Pair.Field
)

// String returns the name of the key in lower case, or "unknown".
func (k Key) String() string {
	if names := [...]string{"thread", "field", "activity", "process", "thread and field"}; int(k) < len(names) {
		return names[k]
	}
	return "unknown(" + strconv.Itoa(int(k)) + ")"
}

// EndedBy returns the pairs that an event of this schema begins. It may begin several: suspending the runtime for a
// garbage collection also begins the pause, which lasts until the runtime is restarted. The caller must not change the
// slice.
func (s *Schema) EndedBy() []*Pair { return s.begins }

// Ends returns the pairs that an event of this schema ends. The caller must not change the slice.
func (s *Schema) Ends() []*Pair { return s.ends }

// pairsOf returns the pairs that events of a schema begin and end: those of known operations, or else by the naming
// rule of event sources.
func (t *Table) pairsOf(s *Schema) (begins, ends []*Pair) {
	name := s.Name
	if s.layout != nil {
		name = s.layout.Name() // for runtime events, ignore the name in the metadata
	}
	for i := range operation.All() {
		o := &operation.All()[i]
		if o.Provider != s.Provider || name == "" || o.Begin == "" {
			continue
		}
		p := Pair{Provider: o.Provider, Name: o.Pair, Begin: o.Begin, End: o.End, Key: Key(o.Key), Field: o.Field}
		if o.Begin == name {
			begins = append(begins, t.pair(p))
		}
		if o.End[0] == name || o.End[1] == name {
			ends = append(ends, t.pair(p))
		}
	}
	if begins != nil || ends != nil || clr.IsRuntime(s.Provider) {
		return begins, ends
	}
	switch p, opcode := sourcePair(s); opcode {
	case clr.OpcodeStart:
		begins = []*Pair{t.pair(p)}
	case clr.OpcodeStop:
		ends = []*Pair{t.pair(p)}
	}
	return begins, ends
}

// pair returns the shared pointer for a pair.
func (t *Table) pair(p Pair) *Pair {
	if known := t.pairs[p]; known != nil {
		return known
	}
	if t.pairs == nil {
		t.pairs = make(map[Pair]*Pair)
	}
	t.pairs[p] = &p
	return &p
}

// sourcePair returns the pair of an event source's event, and whether the event begins (OpcodeStart) or ends it
// (OpcodeStop). The opcode decides, or the name if the trace does not state an opcode. .NET gives both events the
// activity ID of the interval.
func sourcePair(s *Schema) (p Pair, opcode uint8) {
	task, phase := cutPhase(s.Name)
	switch opcode = s.Opcode; {
	case opcode > clr.OpcodeStop || opcode == 0 && s.typ.HasOpcode || s.Name == "":
		return p, 0
	case phase == "Start" && opcode != clr.OpcodeStop:
		opcode = clr.OpcodeStart
	case phase == "Stop" && opcode != clr.OpcodeStart:
		opcode = clr.OpcodeStop
	}
	p = Pair{Provider: s.Provider, Name: task, Begin: task + "Start", End: [2]string{task + "Stop"}, Key: KeyActivity}
	if phase != "" {
		return p, opcode
	}
	// Only the opcode distinguishes begin and end: both have the name of the task, or one with another suffix.
	for _, suffix := range [...]string{"Begin", "End"} {
		if rest, ok := strings.CutSuffix(task, suffix); ok && rest != "" {
			p.Name, p.Begin, p.End[0] = rest, rest+"Begin", rest+"End"
			return p, opcode
		}
	}
	p.Name, p.Begin, p.End[0] = task, task, task
	return p, opcode
}

// KeyOf returns the key that an event shares with its counterpart in the pair. field is the value of Pair.Field, or
// ValueNull if the event has no such field or the pair another Key. KeyOf returns false if the key needs a thread and
// the event states none. It borrows the event.
func (p *Pair) KeyOf(e *ntconv.Event, field ntconv.Value) (k PairKey, ok bool) {
	k = PairKey{Pair: p}
	if e.Thread != nil {
		k.Process = e.Thread.Process
	}
	switch {
	case field.Kind() != ntconv.ValueUint && field.Kind() != ntconv.ValueInt:
	case p.Key == KeyField:
		k.Value = field.Uint()
		return k, true
	case p.Key == KeyThreadField:
		k.Value = field.Uint()
	}
	switch p.Key {
	case KeyProcess:
		return k, true
	case KeyActivity:
		if id, ok := e.Labels.ID(ntconv.LabelActivityID); ok {
			k.Activity = id
			return k, true
		}
	}
	k.Thread = e.Thread
	return k, e.Thread != nil
}

// A PairKey is equal for the begin and the end of one interval, see Pair.KeyOf. It is comparable, so that it can be the
// key of a map.
type PairKey struct {
	Pair     *Pair
	Process  *ntconv.Process
	Thread   *ntconv.Thread
	Value    uint64
	Activity ntconv.GUID
}
