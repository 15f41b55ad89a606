package diagsource

import (
	"strings"

	"github.com/ntconv/ntconv/schema"
)

// A phase is the role of an event for an Activity.
type phase uint8

const (
	phaseNone phase = iota
	phaseStart
	phaseStop
	phaseNamed // the name in the event of a listener decides, see phaseOf
)

// A kind describes all events of a schema.
type kind struct {
	phase    phase
	listener bool   // reported by a DiagnosticListener, not by an ActivitySource
	paired   bool   // the specification defines which event starts and which one stops, so their names need not match
	usual    bool   // see isUsual
	task     string // equal for the Start and the Stop event
}

// kindOf returns the kind of the events of a schema. It identifies events of the provider by name, because their IDs
// differ between processes.
func kindOf(s *schema.Schema) *kind {
	k := &kind{task: s.Name}
	if s.Provider != Provider {
		return k
	}
	if task, ok := strings.CutSuffix(s.Name, "Start"); ok {
		k.task, k.phase = task, phaseStart
	} else if task, ok := strings.CutSuffix(s.Name, "Stop"); ok {
		k.task, k.phase = task, phaseStop
	}
	switch k.task {
	case "Activity":
	case "Activity1", "Activity2", "RecursiveActivity1":
		k.listener, k.paired = true, true
	case "Event":
		k.listener, k.phase = true, phaseNamed
	default:
		k.phase = phaseNone
	}
	k.usual = isUsual(s.Fields)
	return k
}

// Begins reports whether events of a schema may be the Start of an Activity.
func Begins(s *schema.Schema) bool {
	p := kindOf(s).phase
	return p == phaseStart || p == phaseNamed
}

// phaseOf returns the phase of an event; name is the name in its payload, in UTF-16.
func (k *kind) phaseOf(name []byte) phase {
	if k.phase != phaseNamed {
		return k.phase
	}
	for i, suffix := range [...]string{startSuffix, stopSuffix} {
		if n := len(name) - 2*len(suffix); n > 0 && hasASCIIPrefix(name[n:], suffix) {
			return phaseStart + phase(i)
		}
	}
	return phaseNone
}

const startSuffix, stopSuffix = ".Start", ".Stop"

// activityName returns the name of the Activity for the name in an event. Listeners report the start of Activity X as
// X.Start.
func (k *kind) activityName(event string) string {
	if !k.listener {
		return event
	}
	if name, ok := strings.CutSuffix(event, startSuffix); ok && name != "" {
		return name
	}
	if name, ok := strings.CutSuffix(event, stopSuffix); ok && name != "" {
		return name
	}
	return event
}
