package profile

import (
	"fmt"
	"math"
	"strconv"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/clr"
	"github.com/ntconv/ntconv/kind"
	"github.com/ntconv/ntconv/schema"
)

// lockSpecs returns the kinds of waits for locks and wait handles.
func lockSpecs() []spec {
	return []spec{
		{
			kind:     kind.Contention,
			columns:  []column{counted("contentions"), nanos("delay")},
			main:     1,
			period:   ValueType{Type: "contentions", Unit: "count"},
			every:    1,
			interval: noInterval,
			tags:     []string{LabelLock, LabelOwner},
			subject:  noSubject,
			meter:    func(c *collector) meter { return &contentionMeter{c, newOpenIntervals[contention](c)} },
		},
	}
}

// A contentionMeter pairs the start and the stop of a wait for a lock. A thread waits for one lock at a time.
type contentionMeter struct {
	c *collector
	openIntervals[contention]
}

// A contention is what the start of a wait states.
type contention struct{ lock, owner uint64 }

const (
	contentionStart uint8 = 1
	contentionStop        = roleEnds
)

func (m *contentionMeter) input(s *schema.Schema) (uint8, []string) {
	if s.Provider == clr.Runtime {
		switch s.ID {
		case 81:
			return contentionStart, []string{"LockID", "LockOwnerThreadID"}
		case 91:
			return contentionStop, []string{"DurationNs"}
		}
	}
	return 0, nil
}

func (m *contentionMeter) see(r *reading) {
	key := intervalKeyOf(r.Event, 0)
	if r.role == contentionStart {
		m.begin(r, key, contention{r.fields[0].Uint(), r.fields[1].Uint()})
		return
	}
	i := m.end(key)
	if i == nil {
		return
	}
	delay, ok := m.c.elapsed(i.place, r.Time)
	if !ok {
		return
	}
	if d := r.fields[0]; d.Kind() == ntconv.ValueFloat && d.Float() >= 0 && d.Float() < 1<<62 {
		delay = int64(math.Round(d.Float())) // the runtime measured it
	}
	o := m.c.observation()
	o.values[0], o.values[1] = 1, delay
	if i.data.lock != 0 {
		o.tag(0, fmt.Sprintf("0x%x", i.data.lock))
	}
	if i.data.owner != 0 {
		o.tag(1, strconv.FormatUint(i.data.owner, 10))
	}
	m.c.emit(i.place, r.Time)
}
