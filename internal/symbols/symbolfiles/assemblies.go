package symbolfiles

import (
	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/symbol"
)

// Assemblies resolve addresses in mapped assemblies of .NET. They are safe for concurrent use.
type Assemblies interface {
	symbol.Native
	// Status returns what was found for a mapping.
	Status(m *ntconv.Mapping) Status
	// PDB returns what was found for the source lines of a mapping or of a module without addresses.
	PDB(m *ntconv.Mapping) Status
	// HasLines reports whether lines are wanted.
	HasLines() bool
	// Refused returns the files that were refused.
	Refused() []Refusal
	// Used returns the number of files that named addresses or lines.
	Used() int
}

// UseAssemblies makes f ask a for addresses in assemblies. Call it before f is used.
func (f *Finder) UseAssemblies(a Assemblies) { f.assemblies = a }
