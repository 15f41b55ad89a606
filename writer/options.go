package writer

import (
	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/trace/wire"
)

// Options configure a Writer. The zero value selects the defaults.
type Options struct {
	// BlockBytes is the size in bytes of an event, stack or label list block at which all blocks are written. 0 means
	// 1 MiB; the maximum is 16 MiB. A block exceeds it by at most one row.
	BlockBytes int
	// BlockEvents is the number of events at which all blocks are written. 0 means 1,000,000.
	BlockEvents int
	// Ordered states that events arrive in time order, as from a ByTime reader. The writer flags events as sorted until
	// one arrives too early, and writes a sequence point whenever its blocks are full, so that it and readers can
	// discard stacks and label lists. Without Ordered the writer keeps the flags of the source, and memory grows with
	// the distinct stacks between two marks. If the events of a thread are not in the order of their sequence numbers,
	// the writer numbers them in the order of arrival, because the original numbers would look like losses.
	Ordered bool
	// Renumber assigns new sequence numbers per thread, with gaps only for KindLost events. Set it if events were
	// filtered; otherwise readers count them as lost.
	Renumber bool
	// AllowLarge writes payloads and stacks that Microsoft's TraceEvent library cannot read. Without it such an event
	// is an error.
	AllowLarge bool
	// DropUnknown omits parts that the source's reader could not parse: blocks of unknown kind, optional metadata of
	// unknown kind, and fields of unknown type with all fields after them, whose position is unknown. TraceEvent
	// rejects the latter two.
	DropUnknown bool
	// Report counts dropped parts, and types that TraceEvent rejects. nil means no report.
	Report *ntconv.Report
}

// withDefaults returns o with the default for each member that is not set.
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
	LimitAttrs   = wire.LimitOptional       // 65,535 bytes of optional members of a type: "optional metadata"
	LimitThread  = wire.LimitThread         // 65,535 bytes: "thread row"
	LimitBlock   = wire.LimitBlock          // 16,777,215 bytes: "block to write"
	LimitThreads = "threads to write"       // 2^32-1 between two flushes of the threads
	LimitRows    = "distinct rows to write" // 2^32-1 stacks or label lists between two sequence points
)

// Limits of TraceEvent: it stores the size of a payload, and the size of a stack plus 8 bytes, in 16 bits.
const (
	maxPayload    = 1<<16 - 1
	maxStackBytes = 1<<16 - 1 - 8
)
