package inventory

import (
	"slices"
	"strings"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/clr"
	"github.com/ntconv/ntconv/internal/origin"
	"github.com/ntconv/ntconv/internal/span"
	"github.com/ntconv/ntconv/internal/span/tracker"
)

// An Extractable is a kind of data that a trace contains, with the command that extracts it.
type Extractable struct {
	What    string `json:"what"` // plural noun
	Events  int64  `json:"events"`
	Command string `json:"command"`
}

// An extractable is a kind of data that a trace may contain.
type extractable struct {
	what    string // plural noun
	count   counter
	command string // IN represents the trace
}

// A counter returns the number of items in the events of some types.
type counter func(types map[*ntconv.Type]*typeCount) int64

// each adds up what count returns for each type.
func each(count func(*typeCount) int64) counter {
	return func(types map[*ntconv.Type]*typeCount) (n int64) {
		for _, t := range types {
			n += count(t)
		}
		return n
	}
}

// all counts all events of the types that match.
func all(match func(*typeCount) bool) counter {
	return each(func(t *typeCount) int64 {
		if match(t) {
			return t.Events
		}
		return 0
	})
}

// event matches events of a provider by name.
func event(provider string, names ...string) counter {
	return all(func(t *typeCount) bool { return t.typ.Provider == provider && slices.Contains(names, t.name) })
}

// form is event for events that are alternative forms of the same items. A trace may contain several forms; form counts
// the one with the most events.
func form(provider string, names ...string) counter {
	return func(types map[*ntconv.Type]*typeCount) (n int64) {
		for _, name := range names {
			n = max(n, event(provider, name)(types))
		}
		return n
	}
}

func class(c clr.Class) counter {
	return all(func(t *typeCount) bool { return clr.ClassOf(t.typ) == c })
}

// logging is the provider of log messages, and of the starts and ends of their scopes.
const logging = "Microsoft-Extensions-Logging"

// labeled counts events with the ID of a span, except for spans themselves.
func labeled(t *typeCount) int64 {
	if span.IsEvent(t.typ) {
		return 0
	}
	return t.labeled
}

// ends counts the events of event sources that end an operation.
func ends(t *typeCount) int64 {
	switch {
	case t.typ.Provider == clr.DiagnosticSource || span.IsEvent(t.typ):
		return 0
	case t.ends:
		return t.Events
	}
	return t.stops
}

// spans is the command for spans. It applies only if the trace has a span that has ended.
const spans = "ntconv to otlp IN"

// extractables returns all kinds, in the order of the displayed list.
func extractables() []extractable {
	return []extractable{
		{"samples of threads (wall clock)", class(clr.ClassSample), "ntconv to pprof --kind wall IN"},
		{"samples of CPUs", all(func(t *typeCount) bool {
			return clr.ClassOf(t.typ) == clr.ClassUniversalCPU && origin.ColumnsOf(t.typ) == nil
		}), "ntconv to pprof --kind cpu IN"},
		{
			"samples of profiles",
			all(func(t *typeCount) bool { return origin.ColumnsOf(t.typ) != nil }),
			"ntconv top --kind imported IN",
		},
		{"switches of threads", class(clr.ClassUniversalCSwitch), "ntconv print --event cswitch --symbols IN"},
		{"sampled allocations", event(clr.Runtime, "GCAllocationTick", "AllocationSampled"),
			"ntconv print --event GCAllocationTick,AllocationSampled --symbols IN"},
		{"exceptions", event(clr.Runtime, "ExceptionThrown"), "ntconv print --event ExceptionThrown --symbols IN"},
		{"waits for locks", event(clr.Runtime, "ContentionStart"), "ntconv print --event 'Contention*' --symbols IN"},
		{"garbage collections", event(clr.Runtime, "GCStart"), "ntconv print --event GCStart,GCEnd IN"},
		{"events of heap dumps", all(func(t *typeCount) bool {
			return t.typ.Provider == clr.Runtime &&
				(t.name == "GCBulkNode" || t.name == "GCBulkEdge" || strings.HasPrefix(t.name, "GCBulkRoot"))
		}), "ntconv print --event 'GCBulkNode,GCBulkEdge,GCBulkRoot*' IN"},
		{"ends of spans (DiagnosticSource)", all(func(t *typeCount) bool {
			return t.typ.Provider == clr.DiagnosticSource && strings.Contains(t.name, "Stop")
		}), spans},
		{"spans of OTLP", all(func(t *typeCount) bool { return span.IsEvent(t.typ) }), spans},
		{"slices of Chrome traces", all(func(t *typeCount) bool {
			_, end := tracker.IsSlice(t.typ)
			return end
		}), spans},
		{"events of operations (DiagnosticSource)", event(clr.DiagnosticSource, "Event"), spans},
		{"ends of operations (event sources)", each(ends), spans},
		{"events in spans", each(labeled), spans},
		{"log messages", form(logging, "FormattedMessage", "Message", "MessageJson"),
			"ntconv print --json --provider " + logging + " IN"},
		{
			"values of counters",
			all(func(t *typeCount) bool { return t.name == "EventCounters" }),
			"ntconv print --json --event EventCounters IN",
		},
		{"values of metrics", all(func(t *typeCount) bool {
			return t.typ.Provider == "System.Diagnostics.Metrics" && strings.HasSuffix(t.name, "Published")
		}), "ntconv print --json --provider System.Diagnostics.Metrics IN"},
		{"events of all types, as tables", all(func(*typeCount) bool { return true }), "ntconv to parquet IN"},
	}
}

// Extract returns the kinds of data that the trace contains. Call it after Close. input is how commands refer to the
// trace: flags and a file name, quoted for a shell. The result is not nil.
func (v *Sink) Extract(input string) []Extractable {
	list := []Extractable{}
	for _, x := range extractables() {
		if x.command == spans && !v.spans.found {
			continue
		}
		if n := x.count(v.types); n > 0 {
			command := strings.Replace(x.command, " IN", " "+input, 1)
			list = append(list, Extractable{What: x.what, Events: n, Command: command})
		}
	}
	return list
}
