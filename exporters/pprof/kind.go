package pprof

import (
	"fmt"

	"github.com/ntconv/ntconv/internal/profile"
)

// A Kind is the kind of samples that a profile contains.
type Kind uint8

// The kinds of profiles.
const (
	// Auto selects the first of Wall, CPU and Imported for which the trace has samples, and Wall if it has none.
	Auto Kind = iota
	// Wall is wall-clock time of managed threads, running or waiting, from .NET's sample profiler.
	Wall
	// CPU is CPU time from a machine-wide profiler.
	CPU
	// Imported restores the pprof profile that the trace was converted from: its sample types, labels and comments, and
	// every location, line and mapping.
	Imported
	numKinds
)

// kinds maps kinds to those of package profile.
var kinds = [numKinds]profile.Kind{Auto: profile.Auto, Wall: profile.Wall, CPU: profile.CPU, Imported: profile.Imported}

// String returns the name of the kind: auto, wall, cpu or imported.
func (k Kind) String() string {
	if k >= numKinds {
		return fmt.Sprintf("Kind(%d)", uint8(k))
	}
	return kinds[k].String()
}

// ParseKind returns the kind with the given name: auto, wall, cpu or imported. For other names it returns Auto and an
// error.
func ParseKind(name string) (Kind, error) {
	k, err := profile.ParseKind(name)
	return kindOf(k), err
}

// internal returns the kind for package profile. A value other than the constants is treated as Auto.
func (k Kind) internal() profile.Kind {
	if k >= numKinds {
		k = Auto
	}
	return kinds[k]
}

// kindOf returns the kind for a kind of package profile.
func kindOf(kind profile.Kind) Kind {
	for k := range numKinds {
		if kinds[k] == kind {
			return k
		}
	}
	return Auto
}
