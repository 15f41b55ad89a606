package meters

import (
	"strconv"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/events/clr"
	"github.com/ntconv/ntconv/internal/events/interval"
	"github.com/ntconv/ntconv/internal/events/operation"
	"github.com/ntconv/ntconv/sample"
	"github.com/ntconv/ntconv/schema"
)

// queueSpecs returns the kinds of work that waits in a queue before a thread runs it.
func queueSpecs() []Spec {
	return []Spec{
		{
			Kind:    sample.ThreadPool,
			Columns: []Column{counted("items"), nanos("wait")},
			main:    1,
			Tags:    []string{LabelQueue},
			Subject: noSubject,
			crosses: true,
			Meter:   func(c *Collector) meter { return &workMeter{c, newOpenIntervals[workSource](c)} },
			choose:  chooseWork,
			Sources: []string{"events of the runtime", "I/O events of the runtime", "events of FrameworkEventSource"},
		},
		{
			Kind:    sample.Tasks,
			Columns: []Column{counted("tasks"), nanos("wait"), nanos("run")},
			main:    2,
			Tags:    []string{LabelScheduled, LabelFaulted},
			Subject: noSubject,
			crosses: true,
			Meter:   func(c *Collector) meter { return &taskMeter{c, newOpenIntervals[task](c)} },
		},
	}
}

// appendNumber appends an unsigned number in decimal digits.
func appendNumber(dst []byte, v ntconv.Value) []byte { return strconv.AppendUint(dst, v.Uint(), 10) }

// A workSource is the queue of a work item, and the provider that reports it. The values are indices in Spec.Sources.
type workSource uint8

const (
	workItem workSource = iota
	workIO
	workFramework
)

// chooseWork omits the events of FrameworkEventSource if the runtime reports the same work items.
func chooseWork(samples []uint64) []bool { return []bool{true, true, samples[workItem] == 0} }

// A workMeter pairs the events that put a work item into the queue of the thread pool and take it out. The ID of a work
// item is its address, so an item in the queue has no thread. If an item is in the queue twice, the waits of the two
// may be interchanged; their total is the same.
type workMeter struct {
	c *Collector
	openIntervals[workSource]
}

func (m *workMeter) input(s *schema.Schema) (uint8, []string) {
	for source, of := range [...]*operation.Operation{
		operation.Of(clr.Runtime, "ThreadPoolQueue"), operation.Of(clr.Runtime, "ThreadPoolIOQueue"),
		operation.Of(operation.Framework, "ThreadPoolWork"),
	} {
		if role := roleIn(s, of); role != 0 {
			return role + uint8(source), []string{of.Field}
		}
	}
	return 0, nil
}

func (m *workMeter) see(r *reading) {
	first := roleBegins
	if r.role >= RoleEnds {
		first = RoleEnds
	}
	source := workSource(r.role - first)
	key := intervalKeyOf(r.Event, r.fields[0].Uint()).shared()
	key.high = uint64(source)
	if r.role < RoleEnds {
		m.begin(r, key, source)
		return
	}
	i, nanos := m.complete(r, key)
	if i == nil {
		return
	}
	o := m.c.observation()
	o.Values[0], o.Values[1], o.source = 1, nanos, uint8(source)
	if o.tag(0, "work"); source == workIO {
		o.tag(0, "I/O")
	}
	m.c.emit(i.Data.Place, r.Time)
}

// A taskMeter follows tasks from the event that schedules them to their completion. The stack is that of the code that
// scheduled the task. A task that starts without being scheduled (it was run synchronously, or scheduled before the
// recording) has the stack of its start and did not wait as far as the trace shows; a label distinguishes it.
type taskMeter struct {
	c *Collector
	openIntervals[task]
}

// A task is the state of a task that has not completed.
type task struct {
	start   ntconv.Ticks
	started bool
	inline  bool // it started without being scheduled
}

const (
	taskScheduled uint8 = 1
	taskStarted         = RoleEnds
	taskCompleted       = RoleEnds + 1
)

func (m *taskMeter) input(s *schema.Schema) (uint8, []string) {
	if s.Provider == operation.TPL {
		switch s.ID {
		case 7:
			return taskScheduled, []string{"TaskID"}
		case 8:
			return taskStarted, []string{"TaskID"}
		case 9:
			return taskCompleted, []string{"TaskID", "IsExceptional"}
		}
	}
	return 0, nil
}

func (m *taskMeter) see(r *reading) {
	key := intervalKeyOf(r.Event, r.fields[0].Uint()).shared()
	switch r.role {
	case taskScheduled:
		m.begin(r, key, task{})
	case taskStarted:
		if i := m.Latest(key); i != nil && !i.Data.data.started {
			i.Data.data.start, i.Data.data.started = r.Time, true
			m.c.involve(i.Data.Place)
			return
		}
		m.begin(r, key, task{start: r.Time, started: true, inline: true})
	case taskCompleted:
		m.complete(r, key)
	}
}

func (m *taskMeter) complete(r *reading, key intervalKey) {
	i := m.end(key)
	if i == nil {
		return
	}
	t := i.Data.data
	if !t.started { // it was canceled before it started
		t.start = r.Time
	}
	if _, ok := m.c.elapsed(i.Data.Place, r.Time); !ok {
		return
	}
	if t.start < i.Data.Time || r.Time < t.start {
		m.c.drop(i.Data.Place, cutOrder)
		return
	}
	o := m.c.observation()
	o.Values[0] = 1
	o.Values[1] = interval.Nanos(m.c.clock, i.Data.Time, t.start)
	o.Values[2] = interval.Nanos(m.c.clock, t.start, r.Time)
	if t.inline {
		o.tag(0, "no")
	}
	if r.fields[1].Bool() {
		o.tag(1, "yes")
	}
	m.c.emit(i.Data.Place, r.Time)
}
