package agreement

import "strings"

// An operation is something that begins and ends. Timelines, spans and tables of intervals state each one with its
// name, profiles and reports only number and time.
type operation struct {
	span string // name in timelines; GC pauses and collections may have more words
	// many and time are the names of the facts: the number and the total duration.
	many, time string
	// keys are attributes by which the facts are restricted, too.
	keys map[string]string
}

// Attributes of operations, and labels of samples.
const (
	attrGeneration = "dotnet.gc.heap.generation"
	attrReason     = "dotnet.gc.reason"
	attrWaitSource = "dotnet.wait.source"
	attrMethod     = "code.function.name"
	attrException  = "exception.type"
)

// operations lists the operations of the runtime. All other slices are spans.
var operations = []operation{
	{"GC pause", "gc pauses", "gc pause time", map[string]string{"generation": attrGeneration, "reason": attrReason}},
	{"GC finalizers", "finalizer runs", "finalizer time", nil},
	{"GC", "collections", "collection time", map[string]string{"generation": attrGeneration, "reason": attrReason}},
	{"Lock contention", "contentions", "contention time", nil},
	{"Wait", "waits", "wait time", map[string]string{"source": attrWaitSource}},
	{"JIT", "compilations", "compilation time", map[string]string{"method": attrMethod}},
	{"Background JIT", "background compilations", "background compilation time", nil},
	{"Exception", "handled exceptions", "exception handling time", map[string]string{"type": attrException}},
	{"Exception catch", "catch handlers", "catch handler time", nil},
	{"Exception finally", "finally handlers", "finally handler time", nil},
	{"Exception filter", "exception filters", "exception filter time", nil},
	{"Thread pool queue", "queued work items", "queue time", nil},
	{"Thread pool I/O queue", "queued I/O work items", "I/O queue time", nil},
	suspensionOperation,
}

// suspensionOperation is a suspension of the runtime that is not for a collection. Timelines omit them by default.
var suspensionOperation = operation{
	"Suspension", "suspensions", "suspension time", map[string]string{"reason": "dotnet.suspension.reason"},
}

var spanOperation = operation{many: "spans", time: "span time", keys: map[string]string{"name": nameKey}}

// nameKey is the key of the name of a slice among its attributes.
const nameKey = "\x00name"

// A slice is an operation in a timeline.
type slice struct {
	name string
	ns   int64
	open bool // the trace does not contain its end
	// attributes are those of the span, as strings.
	attributes map[string]string
	isSpan     bool // the format states that this is not an operation of the runtime
}

// operationOf returns the operation of a slice.
func operationOf(s *slice) *operation {
	if s.isSpan {
		return &spanOperation
	}
	for i := range operations {
		if o := &operations[i]; s.name == o.span || strings.HasPrefix(s.name, o.span+" gen ") || o.span == "JIT" && strings.HasPrefix(s.name, "JIT ") {
			return o
		}
	}
	return &spanOperation
}

// queued reports whether a slice is the time in a queue, which timelines do not distinguish from spans by its category.
func queued(name string) bool { return strings.HasPrefix(name, "Thread pool ") }

// slice adds a slice to the facts of its operation.
func (a *Answer) slice(s *slice) {
	o := operationOf(s)
	if a.stated["all "+o.many] {
		a.total("all "+o.many, 1, nil)
		a.total("all "+o.time, s.ns, nil)
	}
	if s.open {
		a.total("open "+o.many, 1, nil)
		if a.stated["open "+o.time] {
			a.total("open "+o.time, s.ns, nil)
		}
		return
	}
	keys := map[string]string{}
	for by, attribute := range o.keys {
		key := s.attributes[attribute]
		if attribute == nameKey {
			key = s.name
		}
		if a.stated[o.many+" by "+by] {
			keys[by] = key
		}
	}
	a.total(o.many, 1, keys)
	a.total(o.time, s.ns, keys)
}

// stateSlices states all facts of operations. A slice may be one whose end the trace does not contain: those are facts
// of their own, and "all" counts both.
func (a *Answer) stateSlices(list []operation) {
	for _, o := range list {
		for _, name := range []string{o.many, o.time} {
			a.stated[name], a.stated["open "+name], a.stated["all "+name] = true, true, true
			for by := range o.keys {
				a.stated[name+" by "+by] = true
			}
		}
	}
}

// stateClosedSlices states all facts of operations in an output that states no duration of those without an end.
func (a *Answer) stateClosedSlices(list []operation) {
	a.stateSlices(list)
	for statement := range a.stated {
		if strings.HasPrefix(statement, "all ") || strings.HasPrefix(statement, "open ") && strings.HasSuffix(statement, " time") {
			delete(a.stated, statement)
		}
	}
}

// timelineOperations returns the operations that timelines show as slices: exceptions are instants there.
func timelineOperations() (list []operation) {
	for _, o := range append([]operation{spanOperation}, operations...) {
		if !strings.Contains(o.many, "handle") && o.many != "exception filters" && o.many != suspensionOperation.many {
			list = append(list, o)
		}
	}
	return list
}
