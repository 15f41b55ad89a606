package meters

import (
	"math"
	"strconv"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/events/operation"
	"github.com/ntconv/ntconv/sample"
	"github.com/ntconv/ntconv/schema"
)

// lockSpecs returns the kinds of waits for locks and wait handles.
func lockSpecs() []Spec {
	return []Spec{
		{
			Kind:    sample.Contention,
			Columns: []Column{counted("contentions"), nanos("delay")},
			main:    1,
			Tags:    []string{LabelLock, LabelOwner},
			Subject: noSubject,
			Meter:   func(c *Collector) meter { return &contentionMeter{c, newOpenIntervals[contention](c)} },
		},
		{
			Kind:    sample.Wait,
			Columns: []Column{counted("waits"), nanos("delay")},
			main:    1,
			Tags:    []string{LabelWaitSource},
			Subject: noSubject,
			Meter:   func(c *Collector) meter { return &waitMeter{c, newOpenIntervals[string](c)} },
		},
	}
}

// A contentionMeter pairs the start and the stop of a wait for a lock. A thread waits for one lock at a time.
type contentionMeter struct {
	c *Collector
	openIntervals[contention]
}

// A contention is what the start of a wait states.
type contention struct{ lock, owner uint64 }

func (m *contentionMeter) input(s *schema.Schema) (uint8, []string) {
	return roleIn(s, operation.Named("contention")), []string{"LockID", "LockOwnerThreadID", "DurationNs"}
}

func (m *contentionMeter) see(r *reading) {
	key := intervalKeyOf(r.Event, 0)
	if r.role == roleBegins {
		m.begin(r, key, contention{r.fields[0].Uint(), r.fields[1].Uint()})
		return
	}
	i, delay := m.complete(r, key)
	if i == nil {
		return
	}
	if d := r.fields[2]; d.Kind() == ntconv.ValueFloat && d.Float() >= 0 && d.Float() < 1<<62 {
		delay = int64(math.Round(d.Float())) // the runtime measured it
	}
	o := m.c.observation()
	o.Values[0], o.Values[1] = 1, delay
	if i.Data.data.lock != 0 {
		o.Tags[0] = strconv.AppendUint(append(o.Tags[0], "0x"...), i.Data.data.lock, 16)
	}
	if i.Data.data.owner != 0 {
		o.Tags[1] = strconv.AppendUint(o.Tags[1], i.Data.data.owner, 10)
	}
	m.c.emit(i.Data.Place, r.Time)
}

// A waitMeter pairs the start and the stop of a wait for a wait handle or a monitor. T is the source of the wait. A
// wait for a lock that another thread holds is such a wait, too, so a trace may also have it as sample.Contention.
type waitMeter struct {
	c *Collector
	openIntervals[string]
}

func (m *waitMeter) input(s *schema.Schema) (uint8, []string) {
	return roleIn(s, operation.Named("wait")), []string{"WaitSource"}
}

func (m *waitMeter) see(r *reading) {
	key := intervalKeyOf(r.Event, 0)
	if r.role == roleBegins {
		m.begin(r, key, r.name(0, "WaitSource"))
		return
	}
	i, delay := m.complete(r, key)
	if i == nil {
		return
	}
	o := m.c.observation()
	o.Values[0], o.Values[1] = 1, delay
	o.tag(0, i.Data.data)
	m.c.emit(i.Data.Place, r.Time)
}
