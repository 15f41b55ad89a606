package inventory

import (
	"slices"
	"strings"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/data/message"
	"github.com/ntconv/ntconv/internal/events/clr"
	"github.com/ntconv/ntconv/internal/profile/imported"
	"github.com/ntconv/ntconv/internal/profile/meters"
	"github.com/ntconv/ntconv/internal/span/logs"
	"github.com/ntconv/ntconv/internal/span/profiles"
	"github.com/ntconv/ntconv/internal/span/stored"
	"github.com/ntconv/ntconv/internal/span/tracker"
	"github.com/ntconv/ntconv/sample"
)

// An Extractable is a kind of data that a trace contains, with the command that extracts it.
type Extractable struct {
	What    string `json:"what"` // plural noun
	Events  int64  `json:"events"`
	Command string `json:"command"`
	// Printed is the number of events that the command prints, 0 if it is that of the items or the command prints none.
	Printed int64 `json:"printed_events,omitempty"`
	// Kind is the kind of profile of the items, as --kind names it, "" if they are not samples.
	Kind string `json:"-"`
}

// Noun returns What in the singular if there is one item, and how many events the command prints if those are more.
func (x *Extractable) Noun() string {
	noun := x.What
	if k, err := sample.Parse(x.Kind); err == nil && noun == k.Noun(0) {
		noun = k.Noun(x.Events)
	} else if x.Events == 1 {
		first, rest, of := strings.Cut(noun, "s ") // the first noun ends there: "samples of CPUs"
		if !of {
			first = strings.TrimSuffix(noun, "s")
		} else {
			first += " "
		}
		noun = first + rest
	}
	if x.Printed > 0 {
		noun += " (" + message.Count(x.Printed, "event") + ")"
	}
	return noun
}

// An extractable is a kind of data that a trace may contain.
type extractable struct {
	what    string // plural noun
	count   counter
	command string  // IN represents the trace
	printed counter // of the events that the command prints, nil if they are the items
	kind    string  // of samples
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

// cpuSamples counts samples of CPU time that are not those of a converted profile.
func cpuSamples() counter {
	return all(func(t *typeCount) bool {
		return clr.ClassOf(t.typ) == clr.ClassUniversalCPU && imported.ColumnsOf(t.typ) == nil
	})
}

// labeled counts events with the ID of a span, except for spans themselves and other imported items.
func labeled(t *typeCount) int64 {
	if t.typ.Provider == stored.Provider {
		return 0
	}
	return t.labeled
}

// ends counts the events of event sources that end an operation.
func ends(t *typeCount) int64 {
	switch {
	case t.typ.Provider == clr.DiagnosticSource || t.typ.Provider == stored.Provider:
		return 0
	case t.ends:
		return t.Events
	}
	return t.stops
}

// records is the command for log records.
const records = "ntconv to otlp --signals logs IN"

// spans is the command for spans. It applies only if the trace has a span that has ended.
const spans = "ntconv to otlp IN"

// extractables returns all kinds, in the order of the displayed list.
func extractables() []extractable {
	list := []extractable{
		{what: "samples of threads (wall clock)", count: class(clr.ClassSample), command: "ntconv top --kind wall IN",
			kind: "wall"},
		{what: "samples of threads, as a flame graph", count: class(clr.ClassSample),
			command: "ntconv view --kind wall IN", kind: "wall"},
		{what: "samples of CPUs", count: cpuSamples(), command: "ntconv top --kind cpu IN", kind: "cpu"},
		{what: "samples of CPUs, as a flame graph", count: cpuSamples(), command: "ntconv view --kind cpu IN",
			kind: "cpu"},
		{
			what:    "samples of profiles",
			count:   all(func(t *typeCount) bool { return imported.ColumnsOf(t.typ) != nil }),
			command: "ntconv top --kind imported IN", kind: "imported",
		},
	}
	return slices.Concat(list, computed(), otherData())
}

// computed returns the kinds of profiles that are computed from events, in the order in which --kind prefers them.
func computed() (list []extractable) {
	for _, k := range sample.Preferred() {
		switch k {
		case sample.Wall, sample.CPU, sample.Imported, sample.Events:
			continue
		}
		of := meters.SampleTypes(k)
		list = append(list, extractable{
			what: k.Noun(0), count: all(func(t *typeCount) bool { return of(t.typ) }),
			command: "ntconv top --kind " + k.String() + " IN", kind: k.String(),
		})
	}
	return list
}

// otherData returns the data that are not profiles.
func otherData() []extractable {
	return []extractable{
		{what: "events of heap dumps", count: all(func(t *typeCount) bool {
			return t.typ.Provider == clr.Runtime &&
				(t.name == "GCBulkNode" || t.name == "GCBulkEdge" || strings.HasPrefix(t.name, "GCBulkRoot"))
		}), command: "ntconv print --event 'GCBulkNode,GCBulkEdge,GCBulkRoot*' IN"},
		{what: "ends of spans (DiagnosticSource)", count: all(func(t *typeCount) bool {
			return t.typ.Provider == clr.DiagnosticSource && strings.Contains(t.name, "Stop")
		}), command: spans},
		{what: "spans of OTLP", count: all(func(t *typeCount) bool { return stored.Spans.Has(t.typ) }), command: spans},
		{what: "slices of Chrome traces", count: all(func(t *typeCount) bool {
			_, end := tracker.IsSlice(t.typ)
			return end
		}), command: spans},
		{what: "events of operations (DiagnosticSource)", count: event(clr.DiagnosticSource, "Event"), command: spans},
		{what: "ends of operations (event sources)", count: each(ends), command: spans},
		{what: "events in spans", count: each(labeled), command: spans},
		{what: "log messages", count: form(clr.Logging, "FormattedMessage", "Message", "MessageJson"), command: records},
		{what: "log records of OTLP", count: all(func(t *typeCount) bool {
			return logs.Stored.Has(t.typ) && !stored.IsPart(t.typ)
		}), command: records},
		{what: "profiles of OTLP", count: all(func(t *typeCount) bool {
			return profiles.Stored.Has(t.typ) && !stored.IsPart(t.typ)
		}), command: "ntconv to otlp --signals profiles IN"},
		{what: "values of counters", count: all(func(t *typeCount) bool { return t.name == "EventCounters" }),
			command: "ntconv print --json --event EventCounters IN"},
		{what: "values of metrics", count: all(func(t *typeCount) bool {
			return t.typ.Provider == "System.Diagnostics.Metrics" && strings.HasSuffix(t.name, "Published")
		}), command: "ntconv print --json --provider System.Diagnostics.Metrics IN",
			printed: all(func(t *typeCount) bool { return t.typ.Provider == "System.Diagnostics.Metrics" })},
		{what: "events of all types, as tables", count: all(func(*typeCount) bool { return true }),
			command: "ntconv to parquet IN"},
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
		n := x.count(v.types)
		if n == 0 {
			continue
		}
		item := Extractable{What: x.what, Events: n, Command: strings.Replace(x.command, " IN", " "+input, 1), Kind: x.kind}
		if x.printed != nil {
			if printed := x.printed(v.types); printed != n {
				item.Printed = printed
			}
		}
		list = append(list, item)
	}
	return list
}
