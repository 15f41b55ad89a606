package chrome

// Names of the limits in errors.
const (
	LimitValue = "JSON of an event or a member" // Limits.Value, in bytes
	LimitDepth = "nesting of JSON"              // 512 levels
	LimitNames = "distinct frames and nodes"    // Limits.Names
)

// Limits bound the memory that a file can make a source hold. Zero selects the default. Exceeding a limit ends the
// source with an error that has an *ntconv.LimitError in its chain, except that deeper stacks lose their outermost
// frames (CodeStackCut).
type Limits struct {
	Value int // bytes of an event, or of another value that is not a list of events: 256 MiB
	// Stack limits the frames of a stack: 10,000. If stacks are deep, those after the first 262,144 frames are limited
	// to 256 frames while the average is above that. TraceEvent reads 8,190 frames of a stack in a nettrace file.
	Stack int
	Names int // nodes of all trees of stacks: 16,000,000
}

// Defaults returns the limits with the default where a member is zero.
func (l Limits) Defaults() Limits {
	set := func(v *int, n int) {
		if *v <= 0 {
			*v = n
		}
	}
	set(&l.Value, 256<<20)
	set(&l.Stack, 10_000)
	set(&l.Names, 16_000_000)
	return l
}
