package chrome

import (
	"hash/fnv"
	"strconv"

	"github.com/ntconv/ntconv/internal/events/chromeevent"
)

// Recorders with coarse clocks write the end of an arrow before its begin if both have the same time. Events are sorted
// by time, and those of the same time keep the file order. So flows finds such begins while the file is read;
// they sort before all other events of their time.
type flows struct {
	open   map[uint64]struct{} // flows that have begun, by flowKey
	before map[uint64]struct{} // ends of arrows without a begin so far, by flowKey and time
}

// maxFlows bounds each map of flows, which is cleared beyond it: then later begins keep their place.
const maxFlows = 1 << 20

// rankFirst is the rank of records that sort before others of the same time.
const rankFirst = -1

// isFlow reports whether a phase, in JSON, is that of a flow event.
func isFlow(phase []byte) bool {
	return len(phase) == len(`"s"`) && (phase[1] == 's' || phase[1] == 't' || phase[1] == 'f')
}

// rank returns the rank of a flow event at a time. The key of a flow is that of chromeevent.Pairer.Flow. Hashes that
// collide only change the order of events with the same time.
func (f *flows) rank(e *chromeevent.Event, at int64) (rank int64) {
	flow := flowKey(e)
	early := flow ^ uint64(at)*0x9e3779b97f4a7c15
	_, isOpen := f.open[flow]
	switch chromeevent.RoleOf(e.Phase) {
	case chromeevent.RoleFlowBegin:
		if _, found := f.before[early]; found {
			delete(f.before, early)
			return rankFirst
		}
		add(&f.open, flow)
	case chromeevent.RoleFlowStep:
		if !isOpen {
			add(&f.before, early)
			add(&f.open, flow)
		}
	case chromeevent.RoleFlowEnd:
		if !isOpen {
			add(&f.before, early)
		}
		delete(f.open, flow)
	}
	return 0
}

func flowKey(e *chromeevent.Event) uint64 {
	h := fnv.New64a()
	for _, part := range [...]string{e.Category, e.Name, string(e.ID.Text)} {
		h.Write(strconv.AppendQuote(nil, part))
	}
	if e.ID.Kind == chromeevent.LocalID {
		h.Write(e.PID)
	}
	return h.Sum64()
}

func add(to *map[uint64]struct{}, key uint64) {
	if *to == nil || len(*to) >= maxFlows {
		*to = map[uint64]struct{}{}
	}
	(*to)[key] = struct{}{}
}
