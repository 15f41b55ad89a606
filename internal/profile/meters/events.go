package meters

import (
	"fmt"
	"math"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/events/clr"
	"github.com/ntconv/ntconv/internal/events/recording"
	"github.com/ntconv/ntconv/sample"
	"github.com/ntconv/ntconv/schema"
)

// eventSpecs returns the kind of all selected events. Their number is a profile of any trace, and the sum of a field
// One of events with numbers.
func eventSpecs() []Spec {
	return []Spec{{
		Kind:    sample.Events,
		Columns: []Column{counted("events")},
		Tags:    []string{LabelEvent},
		Subject: 0,
		leaf:    true, // so that events without a stack also appear in a flame graph
		Bare:    true,
		Meter: func(c *Collector) meter {
			return &eventMeter{c: c, names: map[*schema.Schema]string{}}
		},
	}}
}

// An eventMeter turns each event into a sample.
type eventMeter struct {
	point
	c     *Collector
	names map[*schema.Schema]string
	last  *schema.Schema
	name  string
}

// eventOccurred is the role of all events.
const eventOccurred uint8 = 1

func (m *eventMeter) input(s *schema.Schema) (uint8, []string) {
	o := m.c.settings
	if o.Auto && describes(s) {
		return 0, nil
	}
	if o.weight == "" {
		return eventOccurred, nil
	}
	return eventOccurred, []string{o.weight}
}

func (m *eventMeter) see(r *reading) {
	o := m.c.observation()
	o.Values[0] = 1
	if len(r.fields) > 0 {
		x, ok := numberOf(r.fields[0])
		o.Values[1], o.lacks = steps(x), !ok
	}
	if r.schema != m.last {
		m.last, m.name = r.schema, m.nameOf(r.schema)
	}
	o.tag(0, m.name)
	m.c.emit(m.c.hold(r), r.Time)
}

// nameOf returns the provider and the name of the events of a schema, as --event accepts them.
func (m *eventMeter) nameOf(s *schema.Schema) string {
	name, ok := m.names[s]
	if !ok {
		if name = s.Provider + "/" + s.Name; s.Name == "" {
			name = fmt.Sprintf("%s/%d", s.Provider, s.ID)
		}
		m.names[s] = name
	}
	return name
}

// numberOf returns a value as a number. ok is false for values that are not numbers.
func numberOf(v ntconv.Value) (x float64, ok bool) {
	switch v.Kind() {
	case ntconv.ValueInt:
		return float64(v.Int()), true
	case ntconv.ValueUint:
		return float64(v.Uint()), true
	case ntconv.ValueFloat:
		if x = v.Float(); !math.IsNaN(x) && !math.IsInf(x, 0) {
			return x, true
		}
	}
	return 0, false
}

// describes reports whether events of a schema describe code and processes, instead of occurring in the program. A
// trace with only such events has no profile, unless they are requested.
func describes(s *schema.Schema) bool {
	if s.Provider == clr.Rundown || s.Provider == recording.Provider {
		return true
	}
	switch clr.ClassOf(&ntconv.Type{Provider: s.Provider, ID: s.ID, Name: s.Name}) {
	case clr.ClassMethod, clr.ClassModule, clr.ClassDomainModule, clr.ClassILMap, clr.ClassRuntimeStart,
		clr.ClassProcessInfo, clr.ClassUniversalProcess, clr.ClassUniversalProcessExit, clr.ClassUniversalMapping,
		clr.ClassUniversalSymbol, clr.ClassUniversalMappingMetadata:
		return true
	}
	return false
}
