// Package operation lists the operations that events of .NET begin and end, such as garbage collections, waits for locks
// and compilations: which events delimit each, what its fields mean, and what outputs call it.
//
// Packages that match, measure or show operations take these facts from here, so that a new operation is one row of the
// table.
package operation

// An Operation is something that begins with one event and ends with another. Operations are immutable.
type Operation struct {
	Provider string
	Pair     string // the name of the pair of events
	Begin    string // the event that begins the operation
	End      [2]string
	Key      Key
	Field    string // whose value both events share, for ByField and ByThreadField
	Extent   Extent
	// EndsAlone means that events which end the operation also occur without it.
	EndsAlone bool

	// Name is short and stable, such as gc_pause. It is "" if outputs show the operation only as a pair of events.
	Name     string
	Span     string // the name of spans and slices, "" if the operation is none
	Source   Sources
	Encloses Enclosure
	Fields   []Field

	// During is the name of the operation in expressions of --during, "" if it has none. Example is such an expression.
	During, Example string
	Noun, Plural    string // one, and several if that is not Noun with an s
	Record          string // how to record it
	Kind            string // of the profile that measures it, as sample.Parse accepts it, or ""
}

// A Key states what the events of an operation have in common. Both are in the same process.
type Key uint8

const (
	ByThread Key = iota
	ByField
	byActivity // schema.KeyActivity: the operations of event sources are not in the table
	ByProcess
	ByThreadField
)

// An Extent states which threads an operation occupies.
type Extent uint8

const (
	OnThread   Extent = iota // its own, if it ends there, or else its process
	OnProcess                // all of its process
	InQueue                  // none: it begins on one thread and ends on another
	Collection               // as OnProcess: a garbage collection
	Pause                    // as OnProcess: a suspension of the runtime for a garbage collection
	Suspension               // as OnProcess: a suspension of the runtime for another reason
)

// An Enclosure states which operations on the same thread become children of an operation. The end of a wait shows
// nothing about others, and the end of an exception or handler may be missing, because a handler that throws has no end.
type Enclosure uint8

const (
	EnclosesNothing  Enclosure = iota
	EnclosesAll                // all but exceptions and their handlers
	EnclosesHandlers           // the handlers of the exception
	IsHandler                  // encloses nothing; can be enclosed by an exception
)

// A Field is a fact about an operation, in the payload of one of its events.
type Field struct {
	Name      string // of the field
	Attribute string // the key of the attribute of spans, "" if they have none
	Property  string // the property of the operation in expressions, "" if there is none
	Form      Form
}

// A Form states how a field is shown.
type Form uint8

const (
	Number       Form = iota
	Word              // the name of the value, or else its number
	Text              // a string
	Type              // the name of a type, spelled as everywhere but in payloads
	Generation        // of a heap: a number, or the name of the semantic conventions
	Integer           // a floating-point number with an integer value
	Method            // a method, in the fields MethodNamespace and MethodName
	Paused            // the duration of the pauses of a collection, which no field contains
	OfCollection      // a number in the event that begins the collection of a pause
)

// Sources is a bit set that selects operations and other spans.
type Sources uint16

const (
	Labels     Sources = 1 << iota // events with labels TraceId and SpanId
	Activities                     // Activities that a DiagnosticSource recorded
	Pairs                          // Start and Stop of event sources
	Imported                       // spans imported from OTLP
	GC
	JIT
	Contention // waits for locks
	Waits      // waits for wait handles
	Exceptions
	Requests    // work items of the thread pool, and requests of .NET's HTTP servers and clients
	Chrome      // slices of Chrome's trace event format
	Suspensions // of the runtime, for other reasons than a collection

	Default = Labels | Activities | Pairs | Imported | Chrome
	// Runtime is the sources of intervals of the runtime, except for Suspensions: the sample profiler suspends the
	// runtime for every sample.
	Runtime = GC | JIT | Contention | Waits | Exceptions | Requests
)

// A Category is a set of operations that are selected together.
type Category struct {
	Source Sources
	Name   string // in flags such as --spans
	Slices string // the category of slices
}

// Categories returns the categories of operations in the order in which flags list them.
func Categories() []Category {
	return []Category{
		{GC, "gc", "gc"}, {JIT, "jit", "jit"}, {Contention, "contention", "contention"}, {Waits, "waits", "wait"},
		{Exceptions, "exceptions", "exception"}, {Requests, "requests", "request"}, {Suspensions, "suspensions", "suspension"},
	}
}

// Of returns the operation that a pair of events delimits, or nil. A suspension of the runtime is a pause.
func Of(provider, pair string) *Operation {
	for i := range table {
		if o := &table[i]; o.Pair == pair && o.Provider == provider {
			return o
		}
	}
	return nil
}

// Named returns the operation with a Name, which must exist.
func Named(name string) *Operation {
	for i := range table {
		if table[i].Name == name {
			return &table[i]
		}
	}
	panic("no operation " + name)
}

// Attribute returns the key of the attribute of spans for a property of the operation, "" if there is none.
func (o *Operation) Attribute(property string) string {
	for i := range o.Fields {
		if o.Fields[i].Property == property {
			return o.Fields[i].Attribute
		}
	}
	return ""
}

// All returns all operations. The caller must not change the slice.
func All() []Operation { return table[:] }

// Covers reports whether the operation occupies all threads of its process.
func (o *Operation) Covers() bool { return o.Extent != OnThread }

// IsHeap reports whether the operation is a collection or a suspension of the runtime.
func (o *Operation) IsHeap() bool { return o.Extent >= Collection }

// Providers of operations. The first two are those of package clr.
const (
	runtime = "Microsoft-Windows-DotNETRuntime"
	rundown = "Microsoft-Windows-DotNETRuntimeRundown"

	TPL       = "System.Threading.Tasks.TplEventSource"
	PLINQ     = "System.Linq.Parallel.PlinqEventSource"
	Framework = "System.Diagnostics.Eventing.FrameworkEventSource"
)
