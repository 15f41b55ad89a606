package parquet

import (
	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/profile/imported"
	"github.com/ntconv/ntconv/internal/tables/parquetreader"
)

// Names of the limits in errors (ntconv.LimitError.Limit).
const (
	LimitTables = "definitions in Parquet tables"     // Limits.TableBytes, in bytes
	LimitNames  = "names of events in a Parquet file" // Limits.Names
	LimitOpen   = "rows whose duration has not ended" // Limits.Open
	LimitPage   = parquetreader.LimitPageBytes        // Limits.PageBytes, in bytes
)

// Limits bounds the memory that a source uses for one input. Zero selects the default, which each member states.
// Exceeding a limit ends the source with an error that has an *ntconv.LimitError in its chain and wraps
// ntconv.ErrLimit, except that deeper stacks lose their outermost frames (CodeStackCut).
type Limits struct {
	TableBytes int64 // bytes of definitions (processes, threads, modules, types, stacks, frames, labels): 1 GiB
	Stack      int   // frames per stack: ntconv.DefaultStackDepth
	Names      int   // distinct event names in inputs without definitions: 100,000
	Open       int   // rows of foreign tables that have begun and not ended: 4,000,000
	SortBytes  int64 // bytes of rows that are sorted in memory if a foreign table is unsorted; further rows go to a temporary file: 64 MiB
	PageBytes  int64 // bytes of a decompressed page: 256 MiB
}

// Defaults returns the limits with defaults for the members that are zero or negative.
func (l Limits) Defaults() Limits {
	imported.Default(&l.TableBytes, 1<<30)
	imported.Default(&l.Stack, ntconv.DefaultStackDepth)
	imported.Default(&l.Names, 100_000)
	imported.Default(&l.Open, 4_000_000)
	imported.Default(&l.SortBytes, 64<<20)
	imported.Default(&l.PageBytes, 256<<20)
	return l
}

// file returns the limits for one file.
func (l *Limits) file() *parquetreader.Limits { return &parquetreader.Limits{PageBytes: l.PageBytes} }

// A memory counts the bytes of definitions against a limit.
type memory struct{ used, limit int64 }

// add charges n bytes. It returns a *ntconv.LimitError if the limit is exceeded.
func (m *memory) add(n int) error {
	m.used += int64(n)
	if m.used > m.limit {
		return &ntconv.LimitError{Limit: LimitTables, Value: m.limit, Asked: m.used, Unit: "bytes"}
	}
	return nil
}
