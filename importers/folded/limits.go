package folded

import (
	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/files/lines"
	"github.com/ntconv/ntconv/internal/profile/imported"
)

// Names of the limits in errors (ntconv.LimitError.Limit).
const (
	LimitLine      = lines.LimitLine           // Limits.Line, in bytes
	LimitNames     = "distinct frames"         // Limits.Names
	LimitNameBytes = "text of distinct frames" // Limits.NameBytes, in bytes
)

// Limits bounds the memory that a source uses for one text. Zero selects the default, which each member states.
// Exceeding a limit ends the source with an error that has an *ntconv.LimitError in its chain and wraps
// ntconv.ErrLimit, except that deeper stacks lose their outermost frames (CodeStackCut).
type Limits struct {
	Line      int // bytes per line: 16 MiB
	Stack     int // frames per stack: ntconv.DefaultStackDepth
	Names     int // distinct frames: 4,000,000
	NameBytes int // total bytes of all distinct frames: 1 GiB
}

// Defaults returns the limits with defaults for the members that are zero or negative.
func (l Limits) Defaults() Limits {
	imported.Default(&l.Line, lines.DefaultMax)
	imported.Default(&l.Stack, ntconv.DefaultStackDepth)
	imported.Default(&l.Names, 4_000_000)
	imported.Default(&l.NameBytes, 1<<30)
	return l
}
