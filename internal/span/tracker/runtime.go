package tracker

import (
	"math"
	"strconv"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/events/dotnet"
	"github.com/ntconv/ntconv/internal/events/operation"
	"github.com/ntconv/ntconv/internal/span"
)

// wants reports whether the options select an operation. Collections and suspensions are matched together.
func (t *Tracker) wants(of *operation.Operation) bool {
	if of.IsHeap() {
		return t.opts.Sources&(operation.GC|operation.Suspensions) != 0
	}
	return t.selects(of)
}

func (t *Tracker) selects(of *operation.Operation) bool { return of.Source&t.opts.Sources != 0 }

// beginInterval opens the span of an operation that the current event begins.
func (t *Tracker) beginInterval(of *operation.Operation) (none ref) {
	if !t.selects(of) {
		return none
	}
	e, r := t.event, t.role
	active, enclosing := t.activeFor(e), span.Context{}
	if of.Extent == operation.OnThread {
		enclosing = t.enclosing(of, e.Thread, active)
	}
	o := t.open(e, span.FromRuntime, r.scope)
	o.Operation, o.Active, o.Name = of, active, of.Span
	t.isBound = true
	if of.Extent == operation.OnThread {
		t.putOnThread(o)
	}
	parent := active
	switch {
	case of.IsHeap():
		parent = span.Context{}
		if !active.ID.IsZero() {
			o.Links = append(o.Links, span.Link{Context: active})
		}
	case !enclosing.ID.IsZero():
		parent = enclosing
	}
	t.makeIDs(o, e, r.schema.Provider, of.Pair, parent)
	o.Attributes = t.mapped(o.Attributes, e, r, of)
	if of.Fields[0].Form == operation.Method {
		o.Attributes = append(o.Attributes, span.Attribute{Key: operation.AttrFunction, Value: span.String(t.methodOf(e, r))})
	}
	return o.ref()
}

// endInterval adds the attributes of the current event, which ends an interval.
func (t *Tracker) endInterval(o *open) {
	t.isBound = true
	t.scratch = t.mapped(t.scratch[:0], t.event, t.role, o.Operation)
	for _, a := range t.scratch {
		if find(o.Attributes, a.Key) < 0 {
			o.Attributes = append(o.Attributes, a)
		}
	}
	o.End, o.EndThread = t.unix(t.event.Time), t.event.Thread
}

// Active returns the span that was active on the thread of the event that Add got last, or false if there was none.
func (t *Tracker) Active(e *ntconv.Event) (span.Context, bool) {
	if e.Labels != t.label.of {
		t.label = t.read(e.Labels)
	}
	c := t.activeFor(e)
	return c, !c.ID.IsZero()
}

// activeFor returns the span that was active on the thread of an event, or the zero Context.
func (t *Tracker) activeFor(e *ntconv.Event) span.Context {
	if t.opts.Active != nil {
		c, _ := t.opts.Active(e)
		return c
	}
	if o := t.activeOn(e); o != nil && !o.omit && !t.isUnknown(o) {
		return o.Context
	}
	return span.Context{}
}

// enclosing returns the interval of the runtime that encloses a new interval: the latest one on its thread, if it began
// while the same span was active.
func (t *Tracker) enclosing(of *operation.Operation, th *ntconv.Thread, active span.Context) span.Context {
	s := t.stateOf(th)
	if s == nil || of.Encloses == operation.EnclosesHandlers {
		return span.Context{}
	}
	want := operation.EnclosesAll
	if of.Encloses == operation.IsHandler {
		want = operation.EnclosesHandlers
	}
	n := 0
	for o := s.open.last; o != nil && n < maxWalk; o = o.links[chainThread].prev {
		if n++; o.Evidence == span.FromRuntime && o.Operation.Encloses == want {
			if o.Active == active {
				return o.Context
			}
			break
		}
	}
	return span.Context{}
}

// methodOf returns the name of the method that an event describes.
func (t *Tracker) methodOf(e *ntconv.Event, r *role) string {
	var m dotnet.Method
	for f, v := range r.schema.Values(e) {
		switch f.Name {
		case "MethodNamespace":
			m.Namespace = v.String()
		case "MethodName":
			m.Name = v.String()
		case "MethodSignature":
			m.Signature = v.String()
		}
	}
	return m.Pretty()
}

// mapped appends the listed fields of an event as attributes. Values that have a name in the runtime's manifest are
// replaced by the name.
func (t *Tracker) mapped(dst []span.Attribute, e *ntconv.Event, r *role, of *operation.Operation) []span.Attribute {
	for f, v := range r.schema.Values(e) {
		for i := range of.Fields {
			m := &of.Fields[i]
			if m.Name == f.Name && m.Attribute != "" && v.Kind() != ntconv.ValueNull && v.Kind() != ntconv.ValueError {
				dst = append(dst, span.Attribute{Key: m.Attribute, Value: t.mappedValue(m, r, v)})
				break
			}
		}
	}
	return dst
}

func (t *Tracker) mappedValue(m *operation.Field, r *role, v ntconv.Value) span.Value {
	switch {
	case m.Form == operation.Generation:
		return span.String("gen" + strconv.FormatUint(v.Uint(), 10))
	case m.Form == operation.Type && v.Kind() == ntconv.ValueString:
		return span.String(dotnet.TypeName(string(v.AppendString(nil)), false))
	case m.Form == operation.Integer && v.Kind() == ntconv.ValueFloat:
		return integer(v.Float())
	case r.schema.HasValueNames(m.Name):
		name := r.schema.ValueName(m.Name, v.Uint())
		if name == "" { // a value of a newer runtime
			name = strconv.FormatUint(v.Uint(), 10)
		}
		return span.String(name)
	}
	return t.fields.Scalar(v)
}

// integer converts an integer-valued number to an int64. A number beyond the range of int64 stays a float64, because
// the result of converting it depends on the machine.
func integer(f float64) span.Value {
	if math.Abs(f) < 1<<63 {
		return span.Int(int64(f))
	}
	return span.Float(f)
}
