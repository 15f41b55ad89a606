package imported

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/files/spool"
	"github.com/ntconv/ntconv/sample"
)

// Names of the limits in errors: one per member of Limits that can cause one, and LimitColumns for maxColumns.
const (
	LimitTables  = "tables of a profile"  // Limits.Tables, in bytes
	LimitThreads = "threads of a profile" // Limits.Threads
	LimitColumns = "sample types of a profile"
)

// Limits bound the memory of a Builder and its source. Zero selects the default of a member. Exceeding a limit is an
// *ntconv.LimitError, except that deeper stacks lose their outermost frames (CodeStackCut).
type Limits struct {
	Tables  int64 // frames, the tree of stacks, and what else Charge counts, in bytes: 1 GiB
	Threads int   // 1,000,000
	// Frames of a stack: ntconv.DefaultStackDepth, and less if many are deep (FrameBudget).
	Stack int
}

// Defaults returns l with the default in each member that is zero.
func (l Limits) Defaults() Limits {
	Default(&l.Tables, 1<<30)
	Default(&l.Threads, 1_000_000)
	Default(&l.Stack, ntconv.DefaultStackDepth)
	return l
}

// Default sets a limit that is zero or negative to its default.
func Default[T int | int64](limit *T, n T) {
	if *limit <= 0 {
		*limit = n
	}
}

// Options configure a Builder.
type Options struct {
	Limits  Limits
	TempDir string         // directory of the temporary file; "" means os.TempDir()
	MaxTemp int64          // maximum size of the temporary file in bytes, 0 means no limit
	Report  *ntconv.Report // may be nil
}

// A Builder collects a profile. It is not safe for concurrent use. Call Close unless Source has returned a Source,
// which then owns the temporary file.
type Builder struct {
	o       Options
	used    int64 // bytes that Charge has counted
	tree    tree
	threads []owner
	columns []sample.Type
	weights []Weight // indexed by column
	first   int64    // earliest time; math.MaxInt64 without samples and records
	cpus    int64    // number of CPUs that samples name
	spool   *spool.Spool
	record  []byte
}

// An owner is a thread with the labels of its samples.
type owner struct {
	thread *ntconv.Thread
	labels *ntconv.Labels
}

// New returns an empty Builder.
func New(o Options) *Builder {
	o.Limits = o.Limits.Defaults()
	return &Builder{o: o, first: math.MaxInt64, spool: spool.New(&spool.Options{Dir: o.TempDir, Max: o.MaxTemp}), tree: newTree()}
}

// Charge counts n more bytes of tables; a negative n releases bytes. It returns an *ntconv.LimitError if Limits.Tables
// is exceeded.
func (b *Builder) Charge(n int64) error {
	b.used += n
	if b.used > b.o.Limits.Tables {
		return &ntconv.LimitError{Limit: LimitTables, Value: b.o.Limits.Tables, Asked: b.used, Unit: "bytes"}
	}
	return nil
}

// ownerBytes is the memory of a thread in bytes.
const ownerBytes = 256

// AddThread adds a thread and returns its number, counting from 0. The samples of the thread have the given labels,
// which may be nil.
func (b *Builder) AddThread(t *ntconv.Thread, labels *ntconv.Labels) (uint32, error) {
	n := len(b.threads)
	if most := b.o.Limits.Threads; n >= most {
		return 0, &ntconv.LimitError{Limit: LimitThreads, Value: int64(most), Asked: int64(n) + 1}
	}
	b.threads = append(b.threads, owner{t, labels})
	return uint32(n), b.Charge(ownerBytes)
}

// maxColumns is the maximum number of sample types.
const maxColumns = 100

// Column returns the number of a sample type, counting from 0. It adds the type if it is new.
func (b *Builder) Column(t sample.Type) (int, error) {
	n := len(b.columns)
	if i := slices.Index(b.columns, t); i >= 0 {
		return i, nil
	}
	if n >= maxColumns {
		return 0, &ntconv.LimitError{Limit: LimitColumns, Value: maxColumns, Asked: int64(n) + 1}
	}
	b.columns, b.weights = append(b.columns, t), append(b.weights, NewWeight(n, t.Unit))
	return n, nil
}

// A Value is a value of a sample for one sample type.
type Value struct {
	Column int
	N      int64
}

// Kinds of records in the spool.
const (
	kindSample = iota
	kindOnCPU  // a CPU, then as kindSample
	kindOther
)

// MaxTime is the largest distance of a time from its origin: 100 years in nanoseconds.
const MaxTime = 100 * 365 * 24 * 3600 * 1_000_000_000

// Sample adds a sample of a thread. at is in nanoseconds, relative to an origin that all times of the profile share,
// between -MaxTime and MaxTime. Sample returns errors of the temporary file.
func (b *Builder) Sample(at int64, thread uint32, stack Node, values []Value) error {
	b.record = append(b.record[:0], kindSample)
	return b.sample(at, thread, stack, values)
}

// SampleOn is Sample for a sample that was taken on a CPU. A negative number means that the CPU is unknown.
func (b *Builder) SampleOn(cpu, at int64, thread uint32, stack Node, values []Value) error {
	if cpu < 0 {
		return b.Sample(at, thread, stack, values)
	}
	b.cpus = max(b.cpus, cpu+1)
	b.record = binary.AppendUvarint(append(b.record[:0], kindOnCPU), uint64(cpu))
	return b.sample(at, thread, stack, values)
}

func (b *Builder) sample(at int64, thread uint32, stack Node, values []Value) error {
	b.record = binary.AppendUvarint(b.record, uint64(thread))
	b.record = binary.AppendUvarint(b.record, uint64(stack))
	for _, v := range values {
		b.weights[v.Column].Try(v.N)
		b.record = append(b.record, byte(v.Column))
		b.record = binary.AppendVarint(b.record, v.N)
	}
	return b.add(at)
}

// Record adds a record that Profile.Event converts to events. It copies data.
func (b *Builder) Record(at int64, data []byte) error {
	b.record = append(append(b.record[:0], kindOther), data...)
	return b.add(at)
}

func (b *Builder) add(at int64) error {
	if at < -MaxTime || at > MaxTime {
		return fmt.Errorf("%w: time %d ns is more than 100 years from the start", ntconv.ErrCorrupt, at)
	}
	b.first = min(b.first, at)
	return b.spool.Add(spool.Key{Time: at}, b.record)
}

// Close removes temporary files.
func (b *Builder) Close() error { return b.spool.Close() }

// SetLabels replaces the labels of the samples of a thread.
func (b *Builder) SetLabels(n uint32, labels *ntconv.Labels) { b.threads[n].labels = labels }
