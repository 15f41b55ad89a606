package chrome

import (
	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/profile/imported"
)

// Names of the limits in errors (ntconv.LimitError.Limit).
const (
	LimitValue = "JSON of an event or a member" // Limits.Value, in bytes
	LimitDepth = "nesting of JSON"              // 512 levels
	LimitNames = "distinct frames and nodes"    // Limits.Names
)

// Limits bounds the memory that a source uses for one file. Zero selects the default, which each member states.
// Exceeding a limit ends the source with an error that has an *ntconv.LimitError in its chain and wraps
// ntconv.ErrLimit, except that deeper stacks lose their outermost frames (CodeStackCut).
type Limits struct {
	Value int // bytes of an event, or of another value that is not a list of events: 256 MiB
	// Stack is the maximum number of frames per stack: ntconv.DefaultStackDepth. After the first 262,144 frames of all
	// stacks, the limit is 256 frames per stack while the average depth exceeds 256.
	Stack int
	Names int // nodes of all stack trees: 16,000,000
}

// Defaults returns the limits with defaults for the members that are zero or negative.
func (l Limits) Defaults() Limits {
	imported.Default(&l.Value, 256<<20)
	imported.Default(&l.Stack, ntconv.DefaultStackDepth)
	imported.Default(&l.Names, 16_000_000)
	return l
}
