package pprof

import (
	"github.com/ntconv/ntconv/kind"
)

// A Kind is the kind of samples that a profile contains. Package kind lists all kinds.
type Kind = kind.Kind

// The kinds of profiles whose samples a profiler took.
const (
	// Auto selects the best kind for which the trace has samples, see kind.Preferred, and Wall if it has none.
	Auto = kind.Auto
	// Wall is wall-clock time of managed threads, running or waiting, from .NET's sample profiler.
	Wall = kind.Wall
	// CPU is CPU time from a machine-wide profiler.
	CPU = kind.CPU
	// Imported restores the pprof profile that the trace was converted from: its sample types, labels and comments, and
	// every location, line and mapping.
	Imported = kind.Imported
)

// ParseKind returns the kind with the given name, as kind.Parse does.
func ParseKind(name string) (Kind, error) { return kind.Parse(name) }
