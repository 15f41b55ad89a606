package reader

import (
	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/files/fileio"
	"github.com/ntconv/ntconv/internal/trace/wire"
)

// Order is the order in which a Reader delivers events.
type Order uint8

const (
	// ByTime delivers events by time, and events of equal time in file order. The Reader holds the rows and blocks of
	// one window: the events between two sequence points, bounded by Limits.WindowEvents and Limits.WindowBytes. ByTime
	// takes about 1.5 times the time of FileOrder.
	ByTime Order = iota
	// FileOrder delivers events in the order of the input. An event that is not sorted and whose type is unknown waits
	// for the metadata row of the type, and all later events with it: until the row appears, or a sorted event of a
	// later time, or the end of the window. Limits.WindowEvents and Limits.WindowBytes bound the events that wait.
	// Every prefix of an input yields a prefix of the events, except that events whose metadata row is missing in the
	// prefix have a placeholder, and that definitions precede events that wait.
	FileOrder
)

// Options configure a Reader. The zero value selects the defaults: time order, lenient, default limits.
type Options struct {
	Order  Order
	Strict bool           // accept and reject the input that Microsoft's TraceEvent library accepts and rejects
	Report *ntconv.Report // counts losses, flaws and skipped parts; nil means no report
	Limits Limits
	// Decompression bounds the decompression of gzip and zstd input.
	Decompression ntconv.DecompressionLimits
	// AllowPrerelease reads files of previews of .NET Core 3.0, whose event headers have no CPU number. Otherwise New
	// or Next returns an error that wraps ErrPrerelease. Detection is heuristic.
	AllowPrerelease bool
	// Live makes Next return io.EOF at the end of the trace without reading what follows: the input stays open, as a file
	// that Follow reads or a connection for several traces.
	Live bool
	// LabelNumbers selects the encoding of the numbers in integer labels.
	LabelNumbers LabelNumbers
}

// LabelNumbers is an encoding of the numbers in integer labels.
type LabelNumbers uint8

const (
	// LabelsAuto decodes numbers as unsigned if the trace defines Universal.System events, because their recorder
	// writes them this way, unless the trace attribute ntconv.labels is "zigzag". All other traces use the zigzag
	// encoding of the specification.
	LabelsAuto LabelNumbers = iota
	// LabelsZigzag decodes signed numbers as the specification requires: 0, -1, 1, -2 are stored as 0, 1, 2, 3.
	LabelsZigzag
	// LabelsUnsigned uses the stored numbers unchanged.
	LabelsUnsigned
)

// Limits bound the memory that a Reader uses for one input. Zero or a negative value selects the default. If an input
// exceeds a limit, New or Next returns an error that wraps ntconv.ErrLimit, with an *ntconv.LimitError whose Limit is
// the constant named after the member: LimitTypes for Types. Three members do not cause errors: the Reader truncates
// stacks to StackDepth (ntconv.CodeStackCut) and delivers a window above WindowEvents or WindowBytes in parts
// (ntconv.CodeWindowCap).
type Limits struct {
	BlockBytes   int // one block: 64 MiB (version 6 cannot exceed 16 MiB)
	Types        int // metadata rows in use: 1,000,000
	Fields       int // fields of one metadata row, nested ones included: 4,096
	FieldDepth   int // nesting of a field's type: 32
	Name         int // a provider, event or field name in UTF-16 units; in version 6, bytes: 65,536
	Threads      int // threads in use: 1,000,000
	LabelLists   int // label lists of one window: 1,000,000
	StackDepth   int // addresses of one stack, from the leaf; outer ones are dropped: ntconv.DefaultStackDepth
	TableBytes   int // estimated bytes of types and threads in use and of the window's stacks and label lists: 1 GiB
	WindowEvents int // events in the window, or in file order events that wait: 8,000,000
	WindowBytes  int // bytes of the blocks of these events, plus 64 bytes per event: 512 MiB
}

// Names of the limits in ntconv.LimitError.Limit, one per member of Limits that can cause an error.
const (
	LimitBlockBytes = "block"          // Limits.BlockBytes, in bytes
	LimitTypes      = "event types"    // Limits.Types
	LimitFields     = wire.LimitFields // Limits.Fields: "fields of an event type"
	LimitFieldDepth = wire.LimitDepth  // Limits.FieldDepth, in levels: "field nesting"
	LimitName       = wire.LimitName   // Limits.Name, in bytes or UTF-16 units: "name length"
	LimitThreads    = "threads"        // Limits.Threads
	LimitLabelLists = "label lists"    // Limits.LabelLists
	LimitTableBytes = "tables"         // Limits.TableBytes, in bytes

	// The limits of compressed input are those of Options.Decompression.
	LimitRatio  = fileio.LimitRatio  // DecompressionLimits.Ratio: "decompression ratio"
	LimitOutput = fileio.LimitOutput // DecompressionLimits.Bytes, in bytes: "decompressed data"
	LimitWindow = fileio.LimitWindow // DecompressionLimits.Window, in bytes: "zstd window"
)

// WithDefaults returns l with the default for each member that is not positive.
func (l Limits) WithDefaults() Limits {
	def := func(v *int, d int) {
		if *v <= 0 {
			*v = d
		}
	}
	def(&l.BlockBytes, 64<<20)
	def(&l.Types, 1_000_000)
	def(&l.Fields, 4096)
	def(&l.FieldDepth, 32)
	def(&l.Name, 1<<16)
	def(&l.Threads, 1_000_000)
	def(&l.LabelLists, 1_000_000)
	def(&l.StackDepth, ntconv.DefaultStackDepth)
	def(&l.TableBytes, 1<<30)
	def(&l.WindowEvents, 8_000_000)
	def(&l.WindowBytes, 512<<20)
	return l
}
