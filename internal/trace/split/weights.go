package split

import (
	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/profile/rounds"
)

// The weight of a sample of kind wall is the time until the next sample of its thread, which may be in another part, or
// until a round of the sample profiler that did not see the thread. An event in the part states such a weight. If the
// part ends before the weight is known, the Scan has collected the event; parts that overlap in time do not end before
// the trace. Parts of processes need no such events, because they contain all samples of a process.

// A weightScan collects the weights of samples that are known only after their part.
type weightScan struct {
	weights *rounds.PartWeights // nil unless parts end before the trace
	part    int                 // of the latest event
	late    map[int][]rounds.PartWeight
}

func newWeightScan(info *ntconv.Info, every *Every) *weightScan {
	s := &weightScan{late: map[int][]rounds.PartWeight{}}
	if !every.Ranked() {
		s.weights = rounds.NewPartWeights(info)
	}
	return s
}

// see processes an item. part is that of the event, or of the event before it.
func (s *weightScan) see(e *ntconv.Event, part int, ids *identities) {
	if s.weights == nil {
		return
	}
	s.part = part
	s.keep(s.weights.Event(e, part), ids)
}

func (s *weightScan) keep(list []rounds.PartWeight, ids *identities) {
	for _, w := range list {
		if w.Part < s.part {
			w.Thread, w.Capture = ids.thread(w.Thread), ids.thread(w.Capture)
			s.late[w.Part] = append(s.late[w.Part], w)
		}
	}
}

// finish processes the end of the trace.
func (s *weightScan) finish(ids *identities) {
	if s.weights != nil {
		s.keep(s.weights.End(), ids)
	}
}

// weigh writes the weights that an item determines to the open parts.
func (s *Splitter) weigh(e *ntconv.Event) error {
	if s.weights == nil || s.current == nil {
		return nil
	}
	return s.writeWeights(s.weights.Event(e, s.current.number), max(s.latest, e.Time))
}

// endWeights writes the weights that the end of the trace determines.
func (s *Splitter) endWeights() error {
	if s.weights == nil {
		return nil
	}
	return s.writeWeights(s.weights.End(), s.latest)
}

func (s *Splitter) writeWeights(list []rounds.PartWeight, at ntconv.Ticks) error {
	for i := range list {
		w := &list[i]
		if w.Part >= len(s.parts) || s.parts[w.Part] == nil {
			continue // addLate has written it
		}
		w.Thread, w.Capture = s.ids.thread(w.Thread), s.ids.thread(w.Capture)
		if err := s.writeWeight(s.parts[w.Part], w, at); err != nil {
			return err
		}
	}
	return nil
}

// lateWeights writes the weights of samples that are known only after a part.
func (s *Splitter) lateWeights(p *part, at ntconv.Ticks) error {
	for i := range s.scan.weights.late[p.number] {
		if err := s.writeWeight(p, &s.scan.weights.late[p.number][i], at); err != nil {
			return err
		}
	}
	delete(s.scan.weights.late, p.number)
	return nil
}

func (s *Splitter) writeWeight(p *part, w *rounds.PartWeight, at ntconv.Ticks) error {
	s.payload = w.AppendPayload(s.payload[:0])
	s.added = ntconv.Event{
		Time: at, CPU: ntconv.CPUUnknown, Offset: -1, Payload: s.payload,
		Type: s.weightType(w.Type), Thread: w.Thread, Capture: w.Capture,
	}
	s.counts.Weights++
	return p.write(&s.added, s.ranked)
}

// weightType returns a type of events that state weights with the attribute that they are added.
func (s *Splitter) weightType(t *ntconv.Type) *ntconv.Type {
	out := s.weightTypes[t.Name]
	if out == nil {
		if s.weightTypes == nil {
			s.weightTypes = map[string]*ntconv.Type{}
		}
		out = typeWith(t, ntconv.Attrs{{Key: attrAdded, Value: "true"}})
		s.weightTypes[t.Name] = out
	}
	return out
}
