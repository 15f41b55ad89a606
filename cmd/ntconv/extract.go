package main

import (
	"strings"

	"github.com/ntconv/ntconv/internal/clr"
	"github.com/ntconv/ntconv/internal/origin"
)

// A subject is something that a trace may hold and that people come for.
type subject struct {
	what    string // plural noun
	is      func(*typeCount) bool
	command string // IN is the trace
}

// event is a test for one event of a provider.
func event(provider string, names ...string) func(*typeCount) bool {
	return func(t *typeCount) bool {
		if t.typ.Provider != provider {
			return false
		}
		for _, n := range names {
			if t.name == n {
				return true
			}
		}
		return false
	}
}

func class(c clr.Class) func(*typeCount) bool {
	return func(t *typeCount) bool { return clr.ClassOf(t.typ) == c }
}

// subjects are in the order in which they are listed.
func subjects() []subject {
	return []subject{
		{"samples of threads (wall clock)", class(clr.ClassSample), "ntconv to pprof --kind wall IN"},
		{"samples of processors", func(t *typeCount) bool {
			return clr.ClassOf(t.typ) == clr.ClassUniversalCPU && origin.ColumnsOf(t.typ) == nil
		}, "ntconv to pprof --kind cpu IN"},
		{"samples of profiles", func(t *typeCount) bool { return origin.ColumnsOf(t.typ) != nil }, "ntconv top --kind imported IN"},
		{"switches of threads", class(clr.ClassUniversalCSwitch), "ntconv print --event cswitch --symbols IN"},
		{"sampled allocations", event(clr.Runtime, "GCAllocationTick", "AllocationSampled"),
			"ntconv print --event GCAllocationTick,AllocationSampled --symbols IN"},
		{"exceptions", event(clr.Runtime, "ExceptionThrown"), "ntconv print --event ExceptionThrown --symbols IN"},
		{"waits for locks", event(clr.Runtime, "ContentionStart"), "ntconv print --event 'Contention*' --symbols IN"},
		{"garbage collections", event(clr.Runtime, "GCStart"), "ntconv print --event GCStart,GCEnd IN"},
		{"heap dumps' nodes", event(clr.Runtime, "GCBulkNode"), "ntconv print --event 'GCBulk*' IN"},
		{"ends of spans (DiagnosticSource)", func(t *typeCount) bool {
			return t.typ.Provider == clr.DiagnosticSource && strings.Contains(t.name, "Stop")
		}, "ntconv print --json --provider " + clr.DiagnosticSource + " IN"},
		{"log messages", func(t *typeCount) bool { return t.typ.Provider == "Microsoft-Extensions-Logging" },
			"ntconv print --json --provider Microsoft-Extensions-Logging IN"},
		{"values of counters", func(t *typeCount) bool { return t.name == "EventCounters" }, "ntconv print --json --event EventCounters IN"},
		{"values of metrics", func(t *typeCount) bool {
			return t.typ.Provider == "System.Diagnostics.Metrics" && strings.HasSuffix(t.name, "Published")
		}, "ntconv print --json --provider System.Diagnostics.Metrics IN"},
	}
}

// extract returns the subjects that the trace holds.
func (v *inventory) extract(file string) []extractInfo {
	list := []extractInfo{}
	for _, s := range subjects() {
		n := int64(0)
		for _, t := range v.types {
			if s.is(t) {
				n += t.Events
			}
		}
		if n > 0 {
			list = append(list, extractInfo{What: s.what, Events: n, Command: strings.Replace(s.command, " IN", " "+shellWord(file), 1)})
		}
	}
	return list
}

// shellWord quotes a file name for a shell if it needs that.
func shellWord(name string) string {
	if name == "standard input" {
		return "-"
	}
	if strings.IndexFunc(name, func(r rune) bool { return !strings.ContainsRune("/._-+:,@%", r) && !isAlnum(r) }) < 0 {
		return name
	}
	return "'" + strings.ReplaceAll(name, "'", `'\''`) + "'"
}

func isAlnum(r rune) bool {
	return '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || r >= 0x80
}
