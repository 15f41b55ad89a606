package folded

// Names of the limits in errors, one per member of Limits that can cause one.
const (
	LimitLine      = "line"                    // Limits.Line, in bytes
	LimitNames     = "distinct frames"         // Limits.Names
	LimitNameBytes = "text of distinct frames" // Limits.NameBytes, in bytes
)

// Limits bound the memory that a text can make a source hold. Zero selects the default. Exceeding a limit ends the
// source with an error that has an *ntconv.LimitError in its chain, except that deeper stacks lose their outermost
// frames (CodeStackCut).
type Limits struct {
	Line      int // bytes of a line: 16 MiB
	Stack     int // frames of a stack: 10,000. TraceEvent reads 8,190 frames of a stack in a nettrace file
	Names     int // distinct frames: 4,000,000
	NameBytes int // bytes of the text of all distinct frames: 1 GiB
}

// Defaults returns the limits with the default where a member is zero.
func (l Limits) Defaults() Limits {
	set := func(v *int, n int) {
		if *v <= 0 {
			*v = n
		}
	}
	set(&l.Line, 16<<20)
	set(&l.Stack, 10_000)
	set(&l.Names, 4_000_000)
	set(&l.NameBytes, 1<<30)
	return l
}
