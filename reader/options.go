package reader

import (
	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/iox"
	"github.com/ntconv/ntconv/internal/wire"
)

// Order is the order in which a Reader delivers events.
type Order uint8

const (
	// ByTime delivers events by time, ties in file order. It holds the rows and blocks of one window: what lies between
	// two sequence points, bounded by Limits.WindowEvents and Limits.WindowBytes. It costs about half as much again as
	// FileOrder.
	ByTime Order = iota
	// FileOrder delivers events as they stand in the input. Every prefix of an input gives a prefix of the events.
	FileOrder
)

// Options configure a Reader. The zero value is ready to use.
type Options struct {
	Order  Order
	Strict bool           // accept and refuse as Microsoft's reader does
	Report *ntconv.Report // counts what is lost, skipped or odd; may be nil
	Limits Limits
	// Decompression has the limits for input that is compressed with gzip or zstd.
	Decompression ntconv.DecompressionLimits
	// AllowPrerelease reads files of pre-release runtimes, whose event headers have no processor number. Without it
	// they are refused.
	AllowPrerelease bool
	// LabelNumbers says how the numbers of integer labels are encoded.
	LabelNumbers LabelNumbers
}

// LabelNumbers is an encoding of the numbers in integer labels.
type LabelNumbers uint8

const (
	// LabelsAuto takes unsigned numbers where the trace describes Universal.System events and does not say
	// ntconv.labels=zigzag: the recorder of such traces writes them so. Otherwise the specification's zigzag.
	LabelsAuto LabelNumbers = iota
	// LabelsZigzag takes signed numbers, as the specification has them: 0, -1, 1, -2 are stored as 0, 1, 2, 3.
	LabelsZigzag
	// LabelsUnsigned takes the stored numbers as they are.
	LabelsUnsigned
)

// Limits bound what an input can make a Reader hold. A zero member means its default. If an input exceeds a limit, New
// or Next returns an error with an *ntconv.LimitError in its chain, whose Limit is the constant named after the member:
// LimitTypes for Types. Three members are not the cause of errors: the reader truncates stacks to StackDepth and
// delivers a window above WindowEvents or WindowBytes in parts. It reports both.
type Limits struct {
	BlockBytes   int // one block: 64 MiB (version 6 cannot exceed 16 MiB)
	Types        int // metadata rows in use: 1,000,000
	Fields       int // fields of one metadata row, nested ones included: 4,096
	FieldDepth   int // nesting of a field's type: 32
	Name         int // length of a provider, event or field name: 65,536 (UTF-16 units; bytes in version 6, whose rows are no longer)
	Threads      int // threads in use: 1,000,000
	LabelLists   int // label lists of one window: 1,000,000
	StackDepth   int // addresses kept of one stack; the outermost are cut: 10,000
	TableBytes   int // about what types and threads in use and a window's stacks and label lists take: 1 GiB
	WindowEvents int // time order: events held: 8,000,000
	WindowBytes  int // time order: bytes held, of blocks and of 64 for each event: 512 MiB
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
	LimitRatio  = iox.LimitRatio  // DecompressionLimits.Ratio: "decompression ratio"
	LimitOutput = iox.LimitOutput // DecompressionLimits.Bytes, in bytes: "decompressed data"
	LimitWindow = iox.LimitWindow // DecompressionLimits.Window, in bytes: "zstd window"
)

func (l Limits) withDefaults() Limits {
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
	def(&l.StackDepth, 10_000)
	def(&l.TableBytes, 1<<30)
	def(&l.WindowEvents, 8_000_000)
	def(&l.WindowBytes, 512<<20)
	return l
}
