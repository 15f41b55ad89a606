package imported

// Placeholders for names and stacks that a sample lacks. Importers of the same formats recognize them, so a
// profile that is written and read again has no frames for them.
const (
	// NoName is the name of a frame without a name, which many programs would not display.
	NoName = "(no name)"
	// NoStackName is the name of the only frame of a sample without a stack.
	NoStackName = "[no stack]"
)
