package parquet

import (
	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/parquetreader"
)

// Names of the limits in errors, one per member of Limits that can cause one.
const (
	LimitTables = "definitions in Parquet tables"     // Limits.TableBytes, in bytes
	LimitNames  = "names of events in a Parquet file" // Limits.Names
	LimitOpen   = "rows whose duration has not ended" // Limits.Open
	LimitPage   = parquetreader.LimitPageBytes        // Limits.PageBytes, in bytes
)

// Limits bound the memory that an input can make a source hold. Zero selects the default. Exceeding a limit ends the
// source with an error that has an *ntconv.LimitError in its chain, except that deeper stacks lose their outermost
// frames (CodeStackCut).
type Limits struct {
	TableBytes int64 // definitions: processes, threads, modules, types, stacks, frames and labels: 1 GiB
	Stack      int   // frames of a stack: 10,000
	Names      int   // distinct names of events where there are no definitions: 100,000
	Open       int   // rows of foreign tables whose duration has begun and not ended: 4,000,000
	SortBytes  int64 // rows of an unsorted foreign table that are sorted in memory, before they go to a temporary file: 64 MiB
	PageBytes  int64 // decompressed bytes of a page of a Parquet file: 256 MiB
}

// Defaults returns the limits with the default where a member is zero.
func (l Limits) Defaults() Limits {
	setDefault(&l.TableBytes, 1<<30)
	setDefault(&l.Stack, 10_000)
	setDefault(&l.Names, 100_000)
	setDefault(&l.Open, 4_000_000)
	setDefault(&l.SortBytes, 64<<20)
	setDefault(&l.PageBytes, 256<<20)
	return l
}

func setDefault[T int | int64](v *T, n T) {
	if *v <= 0 {
		*v = n
	}
}

// file returns the limits on one file.
func (l *Limits) file() *parquetreader.Limits { return &parquetreader.Limits{PageBytes: l.PageBytes} }

// A memory counts the bytes of definitions.
type memory struct{ used, limit int64 }

// add counts n more bytes.
func (m *memory) add(n int) error {
	m.used += int64(n)
	if m.used > m.limit {
		return &ntconv.LimitError{Limit: LimitTables, Value: m.limit, Asked: m.used, Unit: "bytes"}
	}
	return nil
}
