package meters

import (
	"math"
	"strings"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/data/bin"
	"github.com/ntconv/ntconv/internal/events/clr"
	"github.com/ntconv/ntconv/sample"
	"github.com/ntconv/ntconv/schema"
)

// universalSpecs returns the kinds of machine-wide traces, except kind CPU.
func universalSpecs() []Spec {
	return []Spec{
		{
			Kind: sample.OffCPU,
			Columns: []Column{
				counted("switches"),
				{Type: sample.Type{Type: "off_cpu", Unit: "nanoseconds"}, Scale: ScaleTicks},
			},
			main:    1,
			Tags:    []string{LabelState},
			Subject: noSubject,
			Meter: func(c *Collector) meter {
				return &switchMeter{c: c, threads: map[*ntconv.Thread]*switchState{}}
			},
		},
		{
			Kind:    sample.PageFaults,
			Columns: []Column{{Type: sample.Type{Type: "faults", Unit: "count"}}},
			Tags:    []string{LabelFault},
			Subject: noSubject,
			Meter:   func(c *Collector) meter { return &faultMeter{c: c} },
		},
	}
}

// A switchMeter turns each context switch into a sample of the time for which the thread had no CPU. The value of the
// event is that time in ticks. By the specification, and in PerfView, it lies before the event, which is the switch to
// the thread. The recorder one-collect writes the time of the switch from the thread instead, so it lies after the
// event. A file does not state which. The meter counts for both readings how often a thread would have run while it had
// no CPU, and uses the better one from then on. The values do not depend on it, only the times of samples.
type switchMeter struct {
	c       *Collector
	threads map[*ntconv.Thread]*switchState
	before  uint64 // contradictions if the times lie before the events
	after   uint64 // contradictions if they lie after the events
}

// A switchState is what contradicts a reading for one thread.
type switchState struct {
	seen  ntconv.Ticks // the thread had a CPU here
	until ntconv.Ticks // end of the time without a CPU if it lies after the latest switch
}

const (
	switchEvent uint8 = 1
	switchRan         = RoleEnds // a CPU sample
)

func (m *switchMeter) input(s *schema.Schema) (uint8, []string) {
	switch clr.ClassOf(&ntconv.Type{Provider: s.Provider, ID: s.ID, Name: s.Name}) {
	case clr.ClassUniversalCSwitch:
		return switchEvent, []string{"Value", "State"}
	case clr.ClassUniversalCPU:
		return switchRan, nil
	}
	return 0, nil
}

func (m *switchMeter) see(r *reading) {
	t := m.threads[r.Thread]
	if t == nil {
		if r.role == switchRan {
			return
		}
		t = &switchState{seen: math.MinInt64, until: math.MinInt64}
		m.threads[r.Thread] = t
	}
	if r.Time < t.until {
		m.after++
	}
	if r.role == switchRan {
		t.seen, t.until = r.Time, math.MinInt64
		return
	}
	ticks, ok := clr.Value(r.Event)
	if !ok {
		m.c.invalid.Add(r.Offset)
		return
	}
	length := bin.Clamped[ntconv.Ticks](ticks)
	begin, end := bin.SubClamped(r.Time, length), r.Time
	if begin < t.seen {
		m.before++
	}
	t.seen, t.until = r.Time, bin.AddClamped(r.Time, length)
	if m.before > m.after {
		begin, end = r.Time, t.until
	}
	o := m.c.observation()
	o.Values[0], o.Values[1] = 1, int64(length)
	o.Tags[0] = append(o.Tags[0][:0], r.name(1, "State")...)
	p := m.c.holdAt(r, begin) // the stack is that of the switch from the thread
	m.c.emit(p, end)
}

func (m *switchMeter) lost(*ntconv.Thread) {}
func (m *switchMeter) finish()             {}

func (m *switchMeter) removed(list []ntconv.ThreadSeq) {
	for i := range list {
		delete(m.threads, list[i].Thread)
	}
}

// A faultMeter counts page faults. The value of an event is the number of faults.
type faultMeter struct {
	point
	c *Collector
}

// pageFault is the role of all page faults.
const pageFault uint8 = 1

func (m *faultMeter) input(s *schema.Schema) (uint8, []string) {
	if s.Provider == clr.UniversalEvents && IsPageFault(s.Name) {
		return pageFault, nil
	}
	return 0, nil
}

// IsPageFault reports whether events with a name are page faults: one-collect writes soft_page_fault and
// hard_page_fault.
func IsPageFault(name string) bool {
	return strings.Contains(strings.NewReplacer("_", "", "-", "", " ", "").Replace(strings.ToLower(name)), "pagefault")
}

func (m *faultMeter) see(r *reading) {
	n, ok := clr.Value(r.Event)
	if !ok {
		m.c.invalid.Add(r.Offset)
		n = 1
	}
	o := m.c.observation()
	o.Values[0] = bin.Clamped[int64](n)
	o.tag(0, r.schema.Name)
	m.c.emit(m.c.hold(r), r.Time)
}
