package tracker

import (
	"math"
	"strconv"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/clr"
	"github.com/ntconv/ntconv/internal/dotnet"
	"github.com/ntconv/ntconv/internal/span"
	"github.com/ntconv/ntconv/schema"
)

// An interval describes an operation of the runtime that takes time and can become a span.
type interval struct {
	source         Sources
	provider, pair string // provider and name of the schema.Pair
	name           string // name of the span
	short          string // result of IntervalKind
	kind           intervalKind
	encloses       enclosure
	fields         []mapping
}

// An intervalKind states how an interval relates to threads and to other intervals.
type intervalKind uint8

const (
	onThread   intervalKind = iota // occupies its thread
	inQueue                        // begins on one thread and ends on another
	collection                     // a garbage collection
	pause                          // a suspension of the runtime for a garbage collection
)

// An enclosure states which intervals on the same thread become children of an interval. The end of a wait shows
// nothing about other intervals, and the end of an exception or handler may be missing, because a handler that throws
// has no end.
type enclosure uint8

const (
	enclosesNothing  enclosure = iota
	enclosesAll                // all but exceptions and their handlers
	enclosesHandlers           // the handlers of the exception
	isHandler                  // encloses nothing; can be enclosed by an exception
)

// A mapping states which attribute a field of a payload becomes.
type mapping struct {
	field, key string
	generation bool // the value is a generation, formatted as in the semantic conventions
	integer    bool // a floating-point number with an integer value
	typeName   bool // the value is a type, spelled as everywhere but in payloads
}

var (
	exceptionFields = [...]mapping{
		{field: "ExceptionType", key: "exception.type", typeName: true},
		{field: "ExceptionMessage", key: "exception.message"},
	}
	collectionFields = [...]mapping{
		{field: "Count", key: "dotnet.gc.number"},
		{field: "Depth", key: "dotnet.gc.heap.generation", generation: true},
		{field: "Reason", key: "dotnet.gc.reason"},
		{field: "Type", key: "dotnet.gc.type"},
	}
	handlerFields = [...]mapping{{field: "MethodName", key: attrFunction}}
	lockFields    = [...]mapping{
		{field: "ContentionFlags", key: "dotnet.lock.kind"},
		{field: "LockID", key: "dotnet.lock.id"},
		{field: "AssociatedObjectID", key: "dotnet.lock.object_id"},
		{field: "LockOwnerThreadID", key: "dotnet.lock.owner_thread_id"},
		{field: "DurationNs", key: "dotnet.lock.wait_ns", integer: true},
	}
	waitFields = [...]mapping{
		{field: "WaitSource", key: "dotnet.wait.source"},
		{field: "AssociatedObjectID", key: "dotnet.wait.object_id"},
	}
	compilationFields = [...]mapping{
		{field: "MethodILSize", key: "dotnet.jit.il_size"},
		{field: "MethodSize", key: "dotnet.jit.code_size"},
	}
	backgroundFields = [...]mapping{
		{field: "PendingMethodCount", key: "dotnet.jit.pending_methods"},
		{field: "JittedMethodCount", key: "dotnet.jit.compiled_methods"},
	}
	workFields = [...]mapping{
		{field: "WorkID", key: "dotnet.thread_pool.work_id"},
		{field: "workID", key: "dotnet.thread_pool.work_id"},
		{field: "NativeOverlapped", key: "dotnet.thread_pool.work_id"},
	}
)

const (
	attrFunction = "code.function.name"
	attrPause    = "dotnet.gc.pause_ns"
	attrReason   = "dotnet.suspension.reason"
)

// intervals lists the intervals that can become spans.
var intervals = [...]interval{
	{GC, clr.Runtime, "GC", "GC", "gc", collection, enclosesNothing, collectionFields[:]},
	{
		GC,
		clr.Runtime,
		"Suspension",
		"GC pause",
		"gc_pause",
		pause,
		enclosesNothing,
		[]mapping{{field: "Reason", key: attrReason}},
	},
	{
		GC,
		clr.Runtime,
		"GCFinalizers",
		"GC finalizers",
		"gc_finalizers",
		onThread,
		enclosesAll,
		[]mapping{{field: "Count", key: "dotnet.gc.finalized_objects"}},
	},
	{JIT, clr.Runtime, "MethodJitting", "JIT", "jit", onThread, enclosesAll, compilationFields[:]},
	{
		JIT,
		clr.Runtime,
		"TieredCompilationBackgroundJit",
		"Background JIT",
		"background_jit",
		onThread,
		enclosesAll,
		backgroundFields[:],
	},
	{Contention, clr.Runtime, "Contention", "Lock contention", "contention", onThread, enclosesNothing, lockFields[:]},
	{Waits, clr.Runtime, "WaitHandleWait", "Wait", "wait", onThread, enclosesNothing, waitFields[:]},
	{Exceptions, clr.Runtime, "Exception", "Exception", "exception", onThread, enclosesHandlers, exceptionFields[:]},
	{
		Exceptions,
		clr.Runtime,
		"ExceptionCatch",
		"Exception catch",
		"exception_catch",
		onThread,
		isHandler,
		handlerFields[:],
	},
	{
		Exceptions,
		clr.Runtime,
		"ExceptionFinally",
		"Exception finally",
		"exception_finally",
		onThread,
		isHandler,
		handlerFields[:],
	},
	{
		Exceptions,
		clr.Runtime,
		"ExceptionFilter",
		"Exception filter",
		"exception_filter",
		onThread,
		isHandler,
		handlerFields[:],
	},
	{
		Requests,
		clr.Runtime,
		"ThreadPoolQueue",
		"Thread pool queue",
		"thread_pool_queue",
		inQueue,
		enclosesNothing,
		workFields[:],
	},
	{
		Requests,
		clr.Runtime,
		"ThreadPoolIOQueue",
		"Thread pool I/O queue",
		"thread_pool_io_queue",
		inQueue,
		enclosesNothing,
		workFields[:],
	},
	{
		Requests,
		frameworkProvider,
		"ThreadPoolWork",
		"Thread pool queue",
		"thread_pool_queue",
		inQueue,
		enclosesNothing,
		workFields[:],
	},
}

// IntervalKind returns a short and stable name for the kind of an interval of the runtime, such as gc_pause. It returns
// "" for other spans.
func IntervalKind(s *span.Span) string {
	if s.Evidence == span.FromRuntime {
		for i := range intervals {
			if intervals[i].name == s.Name {
				return intervals[i].short
			}
		}
	}
	return ""
}

// A bound is the begin or the end of an interval, as the events of one type show it.
type bound struct {
	interval *interval
	pair     *schema.Pair
	key      *schema.Projection // of the field that begin and end share; nil if there is none
}

// bounds returns the bounds for pairs whose intervals the options select.
func (t *Tracker) bounds(s *schema.Schema, pairs []*schema.Pair) (out []bound) {
	for _, p := range pairs {
		for i := range intervals {
			v := &intervals[i]
			if v.source&t.opts.Sources == 0 || v.provider != p.Provider || v.pair != p.Name {
				continue
			}
			b := bound{interval: v, pair: p}
			if p.Key == schema.KeyField {
				b.key, _ = s.Project(p.Field)
			}
			out = append(out, b)
		}
	}
	return out
}

func (b *bound) keyOf(e *ntconv.Event) (schema.PairKey, bool) {
	var field [1]ntconv.Value
	if b.key != nil {
		b.key.Read(e, field[:])
	}
	return b.pair.KeyOf(e, field[0])
}

// addRuntime ends and begins intervals of the runtime.
func (t *Tracker) addRuntime(e *ntconv.Event, r *role) {
	for i := range r.ends {
		b := &r.ends[i]
		key, ok := b.keyOf(e)
		if l := t.pairs[key]; ok && l != nil {
			t.endInterval(l.last, e, r)
		}
	}
	for i := range r.begins {
		b := &r.begins[i]
		if key, ok := b.keyOf(e); ok {
			t.beginInterval(b.interval, key, e, r)
		}
	}
}

func (t *Tracker) beginInterval(v *interval, key schema.PairKey, e *ntconv.Event, r *role) {
	if v.kind == pause && !t.beginPause(key, e, r) {
		return
	}
	active, enclosing := t.activeFor(e), span.Context{}
	if v.kind == onThread {
		enclosing = t.enclosing(v, e.Thread, active)
	}
	o := t.open(e, span.FromRuntime, r.scope)
	o.bound, o.Active, o.Name = v, active, v.name
	t.isBound = true
	t.putPair(o, key)
	if v.kind == onThread {
		t.putOnThread(o)
	}
	parent := active
	switch {
	case v.kind == collection || v.kind == pause:
		parent = span.Context{}
		if !active.ID.IsZero() {
			o.Links = append(o.Links, span.Link{Context: active})
		}
	case !enclosing.ID.IsZero():
		parent = enclosing
	}
	t.makeIDs(o, e, r.schema.Provider, v.pair, parent)
	o.Attributes = t.mapped(o.Attributes, e, r, v.fields)
	switch {
	case v.pair == "MethodJitting":
		o.Attributes = append(o.Attributes, span.Attribute{Key: attrFunction, Value: span.String(t.methodOf(e, r))})
	case v.kind == collection || v.kind == pause:
		t.watchHeap(o)
	}
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
func (t *Tracker) enclosing(v *interval, th *ntconv.Thread, active span.Context) span.Context {
	s := t.stateOf(th)
	if s == nil || v.encloses == enclosesHandlers {
		return span.Context{}
	}
	want := enclosesAll
	if v.encloses == isHandler {
		want = enclosesHandlers
	}
	n := 0
	for o := s.open.last; o != nil && n < maxWalk; o = o.links[chainThread].prev {
		if n++; o.Evidence == span.FromRuntime && o.bound.encloses == want {
			if o.Active == active {
				return o.Context
			}
			break
		}
	}
	return span.Context{}
}

func (t *Tracker) endInterval(o *open, e *ntconv.Event, r *role) {
	t.isBound = true
	t.scratch = t.mapped(t.scratch[:0], e, r, o.bound.fields)
	for _, a := range t.scratch {
		if find(o.Attributes, a.Key) < 0 {
			o.Attributes = append(o.Attributes, a)
		}
	}
	switch o.bound.kind {
	case collection:
		t.endCollection(o, e)
	case pause:
		t.endPause(o, e)
	default:
		t.end(o, e)
	}
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
func (t *Tracker) mapped(dst []span.Attribute, e *ntconv.Event, r *role, fields []mapping) []span.Attribute {
	for f, v := range r.schema.Values(e) {
		for i := range fields {
			if fields[i].field == f.Name && v.Kind() != ntconv.ValueNull && v.Kind() != ntconv.ValueError {
				dst = append(dst, span.Attribute{Key: fields[i].key, Value: t.mappedValue(&fields[i], r, v)})
				break
			}
		}
	}
	return dst
}

func (t *Tracker) mappedValue(m *mapping, r *role, v ntconv.Value) span.Value {
	switch {
	case m.generation:
		return span.String("gen" + strconv.FormatUint(v.Uint(), 10))
	case m.typeName && v.Kind() == ntconv.ValueString:
		return span.String(dotnet.TypeName(string(v.AppendString(nil)), false))
	case m.integer && v.Kind() == ntconv.ValueFloat:
		return integer(v.Float())
	case r.schema.HasValueNames(m.field):
		name := r.schema.ValueName(m.field, v.Uint())
		if name == "" { // a value of a newer runtime
			name = strconv.FormatUint(v.Uint(), 10)
		}
		return span.String(name)
	}
	return t.scalar(v)
}

// integer converts an integer-valued number to an int64. A number beyond the range of int64 stays a float64, because
// the result of converting it depends on the machine.
func integer(f float64) span.Value {
	if math.Abs(f) < 1<<63 {
		return span.Int(int64(f))
	}
	return span.Float(f)
}
