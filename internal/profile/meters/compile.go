package meters

import (
	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/events/clr"
	"github.com/ntconv/ntconv/internal/events/operation"
	"github.com/ntconv/ntconv/sample"
	"github.com/ntconv/ntconv/schema"
)

// compileSpecs returns the kinds of work that the runtime does before code can run.
func compileSpecs() []Spec {
	return []Spec{
		{
			Kind:    sample.JIT,
			Columns: []Column{counted("methods"), nanos("jit")},
			main:    1,
			Tags:    []string{LabelFunction, LabelTier},
			Subject: 0,
			leaf:    true,
			Bare:    true, // the runtime compiles hot methods again on a thread of its own
			Meter:   newJITMeter,
			choose:  preferFirst,
			Sources: []string{"compilations with begin and end", "loads of compiled methods, without a duration"},
		},
		{
			Kind:    sample.TypeLoad,
			Columns: []Column{counted("loads"), nanos("load")},
			main:    1,
			Tags:    []string{LabelType, LabelLevel},
			Subject: 0,
			leaf:    true,
			Bare:    true, // the runtime loads its own types before managed code runs
			Meter:   newTypeLoadMeter,
		},
	}
}

// preferFirst uses the second of two sources only if the first one has no samples.
func preferFirst(samples []uint64) []bool { return []bool{true, samples[0] == 0} }

// A jitMeter pairs the begin of a compilation with the load of the compiled method. Compilations of a thread nest,
// because compiling a method may run other managed code; the time of the inner ones belongs to them alone. If the
// trace has loads of methods only, they are counted without a duration. T is the display name of the method, because
// the load may not state it.
type jitMeter struct {
	c *Collector
	openIntervals[string]
	names map[string]string // display names by namespace, name and signature
	raw   []byte
}

const (
	jitStart       uint8 = 1
	jitLoad              = RoleEnds
	jitLoadVerbose       = RoleEnds + 1
)

// Positions of the fields that methods have in all three events.
const (
	methodID = iota
	methodNamespace
	methodName
	methodSignature
	methodFlags
)

func newJITMeter(c *Collector) meter {
	return &jitMeter{c: c, openIntervals: newOpenIntervals[string](c), names: map[string]string{}}
}

func (m *jitMeter) input(s *schema.Schema) (uint8, []string) {
	fields := []string{"MethodID", "MethodNamespace", "MethodName", "MethodSignature", "MethodFlags"}
	if s.Provider == clr.Runtime {
		switch s.ID {
		case 145:
			return jitStart, fields
		case 141:
			return jitLoad, fields
		case 143:
			return jitLoadVerbose, fields
		}
	}
	return 0, nil
}

func (m *jitMeter) see(r *reading) {
	key := intervalKeyOf(r.Event, r.fields[methodID].Uint())
	if r.role == jitStart {
		m.begin(r, key, m.nameOf(r))
		return
	}
	flags := uint32(r.fields[methodFlags].Uint())
	if m.Latest(key) == nil {
		if flags&methodJitted != 0 {
			m.load(r, flags)
		}
		return
	}
	i, nanos := m.complete(r, key)
	if i == nil {
		return
	}
	o := m.c.observation()
	o.Values[0], o.Values[1] = 1, i.Exclusive(nanos)
	o.tag(0, i.Data.data)
	o.tag(1, tierOf(flags))
	m.c.emit(i.Data.Place, r.Time)
}

// load counts a compiled method whose compilation has no begin in the trace.
func (m *jitMeter) load(r *reading, flags uint32) {
	p := m.c.hold(r)
	o := m.c.observation()
	o.Values[0], o.source = 1, 1
	if r.role == jitLoadVerbose {
		o.tag(0, m.nameOf(r))
	}
	o.tag(1, tierOf(flags))
	m.c.emit(p, r.Time)
}

// nameOf returns the display name of the method that an event describes.
func (m *jitMeter) nameOf(r *reading) string {
	m.raw = m.raw[:0]
	for _, v := range r.fields[methodNamespace : methodSignature+1] {
		m.raw = append(v.AppendString(m.raw), 0) // no name contains a zero, because zeros end the strings
	}
	name, ok := m.names[string(m.raw)]
	if !ok {
		name = m.c.settings.MethodName(
			textOf(r.fields[methodNamespace]), textOf(r.fields[methodName]), textOf(r.fields[methodSignature]))
		m.names[string(m.raw)] = name
	}
	return name
}

// methodJitted is the flag of a method that was compiled when the program ran, and not before.
const methodJitted = 8

// tierNames are the runtime's names of the tiers in bits 7 to 9 of MethodFlags (nettrace-in-practice, 3.3). Older
// runtimes leave them 0.
var tierNames = [8]string{
	"", "MinOptJitted", "Optimized", "QuickJitted", "OptimizedTier1", "OptimizedTier1OSR", "QuickJittedInstrumented",
	"OptimizedTier1Instrumented",
}

// tierOf returns the name of the tier in the flags of a compiled method, or "" if it is unknown.
func tierOf(flags uint32) string { return tierNames[flags>>7&7] }

// A typeLoadMeter pairs the begin and the end of the load of a type. Loads nest, because the base type and the types
// of fields are loaded, too; their time belongs to them alone.
type typeLoadMeter struct {
	c *Collector
	openIntervals[struct{}]
	types typeNames
}

func newTypeLoadMeter(c *Collector) meter {
	return &typeLoadMeter{c, newOpenIntervals[struct{}](c), newTypeNames(c.settings)}
}

func (m *typeLoadMeter) input(s *schema.Schema) (uint8, []string) {
	return roleIn(s, operation.Of(clr.Runtime, "TypeLoad")), []string{"TypeLoadStartID", "TypeName", "LoadLevel"}
}

func (m *typeLoadMeter) see(r *reading) {
	key := intervalKeyOf(r.Event, r.fields[0].Uint())
	if r.role == roleBegins {
		m.begin(r, key, struct{}{})
		return
	}
	i, nanos := m.complete(r, key)
	if i == nil {
		return
	}
	o := m.c.observation()
	o.Values[0], o.Values[1] = 1, i.Exclusive(nanos)
	o.tag(0, m.types.of(r.fields[1]))
	if level := r.fields[2]; level.Kind() == ntconv.ValueUint {
		o.Tags[1] = appendNumber(o.Tags[1], level)
	}
	m.c.emit(i.Data.Place, r.Time)
}
