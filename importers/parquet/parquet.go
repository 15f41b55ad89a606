// Package parquet reads Parquet files as a source of events: the tables that exporters/parquet writes, and files of
// other programs.
//
// New recognizes three kinds of input:
//
//	tables of a trace  the tables events and event_types, and others that they refer to. The source delivers the events of the trace that
//	                   the tables were converted from, without loss; internal/streameq states what that means
//	a file of events   the file that ntconv to parquet --single writes, or the table events alone: names, and payloads as JSON
//	foreign tables     any other file, or several files with equal columns: each row is an event, see Mapping
//
// # Tables of a trace
//
// The source holds processes, threads, modules and event types in memory. It reads stacks and labels up to the latest
// one that an event refers to, because the exporter numbers them in order of first use, and batches of events, losses
// and marks. Tables may be edited by other programs: columns may have any order, additional columns and missing tables
// are allowed, and references to missing rows become placeholders, which the report counts as package reader counts
// them.
//
// Stacks contain only the addresses that the trace recorded, and frames where the trace itself recorded frames. If
// events are missing, because the trace is a selection or rows were deleted, the symbols may be among the missing
// events; stacks then also have the frames of the table stacks.
//
// # Files of events
//
// Payloads have the fields that their JSON has. Each distinct list of field names of an event is a type of its own. A
// field is a boolean, an int64, a uint64, a float64 or a string: the first of them that restores all values of the
// field so far. If a later value does not fit, further events have another type. null and missing values are not
// fields; lists, objects, NaN and infinity are strings, as JSON spells them. Integers among floats are rounded to 53
// bits. Events of the .NET runtime have the layouts that the runtime's manifests define.
package parquet

import (
	"fmt"
	"io"
	"slices"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/parquetreader"
)

// Tables gives access to the tables of an input.
type Tables interface {
	// Names returns the names of the tables: those of the files, without directory and extension.
	Names() []string
	// Table returns random access to the file of a table, and its size in bytes. The file must stay open until the last
	// use of the source.
	Table(name string) (io.ReaderAt, int64, error)
}

// File returns Tables of one file. name is that of the file without extension; events of foreign tables are named after
// it.
func File(name string, r io.ReaderAt, size int64) Tables { return &oneFile{name, r, size} }

type oneFile struct {
	name string
	r    io.ReaderAt
	size int64
}

func (f *oneFile) Names() []string { return []string{f.name} }

func (f *oneFile) Table(string) (io.ReaderAt, int64, error) { return f.r, f.size, nil }

// Options configure a source. The zero value selects the defaults.
type Options struct {
	// ByTime delivers the events of tables in file order in time order. Events of all other inputs always come in time
	// order.
	ByTime bool
	// Map assigns roles to columns of foreign tables. Roles without a column are guessed from the names of columns, see
	// Mapping.
	Map Mapping
	// Mapped, if not nil, is called by New for foreign tables with the roles that the columns have.
	Mapped func(Mapping)
	// TempDir is the directory of temporary files, os.TempDir() if it is empty. Only unsorted foreign tables need one.
	TempDir string
	// MaxTemp is the maximum size of each temporary file in bytes; 0 means no limit. Exceeding it is an error that
	// wraps ntconv.ErrLimit.
	MaxTemp int64
	Limits  Limits
	Report  *ntconv.Report // may be nil
}

// New returns a source over tables. It reads the definitions of a trace, and the times of foreign tables. opts may be
// nil. If the source is an io.Closer, closing it releases its temporary file before the end of the input, which
// releases it, too.
//
// Errors name the table, and wrap ntconv.ErrFormat, ErrTruncated, ErrCorrupt, ErrUnsupported or ErrLimit. An error of a
// Mapping is a *MappingError.
func New(in Tables, opts *Options) (ntconv.Source, error) {
	var o Options
	if opts != nil {
		o = *opts
	}
	o.Limits = o.Limits.Defaults()
	f := &files{in: in, names: slices.Sorted(slices.Values(in.Names())), o: &o, open: map[string]*parquetreader.File{}}
	switch kind, err := f.kind(); {
	case err != nil:
		return nil, err
	case kind == traceTables:
		return newTrace(f)
	case kind == eventFile:
		return newSingle(f)
	}
	return newForeign(f)
}

// A kind is what an input holds.
type kind uint8

const (
	foreignTables kind = iota
	traceTables
	eventFile
)

// Names of tables that decide how an input is read.
const (
	tableEvents = "events"
	tableTypes  = "event_types"
	tableInfo   = "trace_info"
)

// kind returns what the input holds. A mapping asks for foreign tables.
func (f *files) kind() (kind, error) {
	switch {
	case len(f.names) == 0:
		return 0, fmt.Errorf("%w: no Parquet file in the directory", ntconv.ErrFormat)
	case f.has(tableEvents) && f.has(tableTypes):
		if len(f.o.Map) > 0 {
			return 0, &MappingError{Text: "the tables of a trace need no mapping of columns"}
		}
		return traceTables, nil
	case f.has(tableInfo) && f.has(tableTypes):
		return 0, &ntconv.AdviceError{
			Err:    fmt.Errorf("tables of a trace: %w: the table %s is missing", ntconv.ErrUnsupported, tableEvents),
			Advice: "write the tables again without a choice of tables, or name a single file",
		}
	case len(f.o.Map) > 0:
		return foreignTables, nil
	}
	file, err := f.file(f.names[0])
	if err != nil {
		return 0, err
	}
	switch {
	case !isEventFile(file):
		return foreignTables, nil
	case len(f.names) > 1: // as foreign tables, their threads would be one and their payloads a field
		return 0, &ntconv.AdviceError{
			Err: fmt.Errorf(
				"%w: a directory of %d files of events, which may be of different traces",
				ntconv.ErrUnsupported,
				len(f.names),
			),
			Advice: "name one of the files, or all of them with a pattern where several inputs are allowed",
		}
	}
	return eventFile, nil
}
