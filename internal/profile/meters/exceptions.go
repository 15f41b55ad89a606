package meters

import (
	"github.com/ntconv/ntconv/internal/events/clr"
	"github.com/ntconv/ntconv/sample"
	"github.com/ntconv/ntconv/schema"
)

// exceptionSpecs returns the kind of thrown exceptions.
func exceptionSpecs() []Spec {
	return []Spec{{
		Kind:    sample.Exceptions,
		Columns: []Column{counted("exceptions")},
		Tags:    []string{LabelExceptionType, LabelRethrown, LabelHandled},
		Subject: 0,
		leaf:    true,
		Meter: func(c *Collector) meter {
			m := &exceptionMeter{c: c, names: newTypeNames(c.settings), openIntervals: newOpenIntervals[thrown](c)}
			m.limit, m.expired = maxThrown, m.uncaught
			return m
		},
	}}
}

// maxThrown bounds the exceptions that may still be caught. Traces without events of catch blocks have the latest ones
// waiting until the end.
const maxThrown = 1 << 10

// An exceptionMeter turns each exception into a sample. The sample waits until a catch block of its thread begins, so
// that it can state that the exception was handled; it is complete without.
type exceptionMeter struct {
	c     *Collector
	names typeNames
	openIntervals[thrown]
}

// A thrown is what the throw of an exception states.
type thrown struct {
	typ      string
	rethrown bool
}

const (
	exceptionThrown uint8 = 1
	exceptionCatch        = RoleEnds
)

// flagRethrown is the flag ReThrown in ExceptionFlags. .NET 10 raises no event for "throw;", and does not set the flag for
// exceptions that ExceptionDispatchInfo throws, as await does.
const flagRethrown = 4

func (m *exceptionMeter) input(s *schema.Schema) (uint8, []string) {
	if s.Provider == clr.Runtime {
		switch s.ID {
		case 80:
			return exceptionThrown, []string{"ExceptionType", "ExceptionFlags"}
		case 250:
			return exceptionCatch, nil
		}
	}
	return 0, nil
}

func (m *exceptionMeter) see(r *reading) {
	key := intervalKeyOf(r.Event, 0)
	if r.role == exceptionThrown {
		m.begin(r, key, thrown{m.names.of(r.fields[0]), r.fields[1].Uint()&flagRethrown != 0})
		return
	}
	if m.Latest(key) == nil { // "throw;" reaches another catch block
		return
	}
	i := m.end(key)
	m.observe(&i.Data.data).tag(2, "yes")
	m.c.emit(i.Data.Place, i.Data.Time)
}

// uncaught completes the sample of an exception whose catch block is unknown.
func (m *exceptionMeter) uncaught(i *openInterval[thrown]) {
	m.observe(&i.Data.data)
	m.c.emitAlone(i.Data.Place)
}

// observe returns the observation of an exception.
func (m *exceptionMeter) observe(e *thrown) *Observation {
	o := m.c.observation()
	o.Values[0] = 1
	o.tag(0, e.typ)
	if e.rethrown {
		o.tag(1, "yes")
	}
	return o
}
