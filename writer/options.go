package writer

import (
	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/wire"
)

// Options configure a Writer. The zero value is ready to use.
type Options struct {
	// BlockBytes is the size of an event, stack or label list block at which all blocks are written: 1 MiB by default.
	// They grow beyond it by one row at most.
	BlockBytes int
	// BlockEvents is the number of events at which blocks are written: 1,000,000 by default.
	BlockEvents int
	// Ordered says that events come in the order of time, as a reader by time delivers them. They are flagged as
	// sorted, until one comes that is too early. Every time blocks are written a sequence point follows, so that
	// readers and this writer can forget stacks and label lists. Without it only the source's own flags and marks
	// stand, and memory grows with the distinct stacks between two marks. Events of a thread that are not in its own
	// order are numbered in the order in which they come, because their numbers would look like losses.
	Ordered bool
	// Renumber numbers the events of each thread anew, with gaps only where KindLost events tell of losses. Set it
	// where events were left out on the way here, or else readers take them for lost.
	Renumber bool
	// AllowLarge writes payloads and stacks that Microsoft's reader cannot read.
	AllowLarge bool
	// DropUnknown leaves out what the source's reader did not understand: blocks of unknown kind, optional metadata of
	// unknown kind, and fields of unknown type with all fields after them, whose place is not known. Microsoft's reader
	// refuses the latter two.
	DropUnknown bool
	// Report counts what is not written, and types that Microsoft's reader refuses; may be nil.
	Report *ntconv.Report
}

func (o Options) withDefaults() Options {
	if o.BlockBytes <= 0 {
		o.BlockBytes = 1 << 20
	}
	o.BlockBytes = min(o.BlockBytes, wire.MaxBlockSize)
	if o.BlockEvents <= 0 {
		o.BlockEvents = 1_000_000
	}
	return o
}

// Names of the limits in ntconv.LimitError.Limit. The error of LimitPayload or LimitStack does not occur with
// Options.AllowLarge.
const (
	LimitPayload = "payload"                // 65,535 bytes
	LimitStack   = "stack"                  // 65,527 bytes, in addresses: 8,190 of 8 bytes
	LimitType    = wire.LimitMetadata       // 65,535 bytes: "metadata row"
	LimitField   = wire.LimitField          // 65,535 bytes of one field: "field"
	LimitFields  = wire.LimitRowFields      // 65,535 fields of one type or structure: "fields in a list"
	LimitAttrs   = wire.LimitOptional       // 65,535 bytes of the attributes and optional members of a type: "optional metadata"
	LimitThread  = wire.LimitThread         // 65,535 bytes: "thread row"
	LimitBlock   = wire.LimitBlock          // 16,777,215 bytes: "block to write"
	LimitThreads = "threads to write"       // 2^32-1 between two flushes of the threads
	LimitRows    = "distinct rows to write" // 2^32-1 stacks or label lists between two sequence points
)

// Limits of Microsoft's reader: it keeps the sizes of payloads, and of stacks with 8 bytes on top, in 16 bits.
const (
	maxPayload    = 1<<16 - 1
	maxStackBytes = 1<<16 - 1 - 8
)
