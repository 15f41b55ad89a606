// Package parquet reads Parquet files as a source of events: the tables that exporters/parquet writes, and files of
// other programs.
//
// New recognizes three kinds of input:
//
//   - Tables of a trace: the tables events and event_types, and the tables that they refer to. The source delivers the
//     events of the converted trace without loss; package internal/trace/tracecmp defines equality.
//   - A file of events: a file that ntconv to parquet --single writes, or the table events alone. It has names instead
//     of IDs, and payloads as JSON.
//   - Foreign tables: any other file, or several files with equal columns. Each row is an event; see Mapping.
//
// # Tables of a trace
//
// The source holds processes, threads, modules and event types in memory, and batches of events, losses and marks. It
// reads stacks and labels up to the latest one that an event refers to, because the exporter numbers them in the order
// of first use. Other programs may edit the tables: columns may have any order, and additional columns and missing
// tables are accepted. References to missing rows become placeholders, which the report counts with the codes of
// package reader.
//
// Stacks contain the addresses that the trace recorded, and frames only if the trace itself recorded frames. If events
// are missing, because the trace is a selection or rows were deleted, symbols may be missing with them; then all stacks
// also have the frames of the table stacks.
//
// # Files of events
//
// Payloads have the fields of their JSON. Each distinct list of field names of an event has a type of its own. A field
// is a bool, int64, uint64, float64 or string: the first of these that restores all values of the field so far. If a
// later value does not fit, further events have another type. null and missing values are not fields. Lists, objects,
// NaN and infinity are strings of JSON. Integers among floats are rounded to 53 bits. Events of the .NET runtime have
// the layouts that the runtime's manifests define.
package parquet

import (
	"fmt"
	"io"
	"slices"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/files/spool"
	"github.com/ntconv/ntconv/internal/tables/parquetreader"
)

// Tables gives access to the tables of an input.
type Tables interface {
	// Names returns the names of the tables: those of the files, without directory and extension.
	Names() []string
	// Table returns random access to the file of a table, and its size in bytes. The file must stay open until the last
	// use of the source.
	Table(name string) (io.ReaderAt, int64, error)
}

// File returns Tables with one file. name is its name without extension; events of foreign tables without a name have
// this name.
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
	// ByTime delivers tables that were written in file order in time order. Events of all other inputs always have time
	// order.
	ByTime bool
	// Map assigns roles to columns of foreign tables. Other roles are guessed from the names of columns; see Mapping.
	Map Mapping
	// Mapped, if not nil, is called by New with the roles of the columns if the input consists of foreign tables.
	Mapped func(Mapping)
	// TempDir is the directory of temporary files; "" means os.TempDir(). Only unsorted foreign tables need one.
	TempDir string
	// MaxTemp is the maximum size of each temporary file in bytes; 0 means no limit. Exceeding it is an error that
	// wraps ntconv.ErrLimit.
	MaxTemp int64
	Limits  Limits
	Report  *ntconv.Report // receives the conditions that the import counts; may be nil
}

// New returns a Source over tables. It reads the definitions of a trace, or the times of foreign tables. Nil opts
// select the defaults. The source is not safe for concurrent use. Close it to remove its temporary file.
//
// Errors of New and Next name the table and wrap ntconv.ErrFormat, ntconv.ErrTruncated, ntconv.ErrCorrupt,
// ntconv.ErrUnsupported or ntconv.ErrLimit. New returns a *MappingError if Options.Map does not fit the columns.
func New(in Tables, opts *Options) (ntconv.SourceCloser, error) {
	var o Options
	if opts != nil {
		o = *opts
	}
	o.Limits = o.Limits.Defaults()
	f := &files{in: in, names: slices.Sorted(slices.Values(in.Names())), o: &o, open: map[string]*parquetreader.File{}}
	kind, err := f.kind()
	if err != nil {
		return nil, err
	}
	var src ntconv.Source
	remove := func() error { return nil }
	switch kind {
	case traceTables:
		src, err = newTrace(f)
	case eventFile:
		src, err = newSingle(f)
	default:
		var rows *foreign
		if rows, err = newForeign(f); err == nil {
			src, remove = rows, rows.close
		}
	}
	if err != nil {
		return nil, err
	}
	return spool.NewSource(src, remove), nil
}

// A kind is the kind of an input.
type kind uint8

const (
	foreignTables kind = iota
	traceTables
	eventFile
)

// Names of the tables that determine the kind of an input.
const (
	tableEvents = "events"
	tableTypes  = "event_types"
	tableInfo   = "trace_info"
)

// kind returns the kind of the input. A mapping implies foreign tables.
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
	case len(f.names) > 1: // as foreign tables, all events would have one thread and payloads would be one field
		return 0, &ntconv.AdviceError{
			Err:    fmt.Errorf("%w: a directory of %d files of events, which may be of different traces", ntconv.ErrUnsupported, len(f.names)),
			Advice: "name one of the files, or all of them with a pattern where several inputs are allowed",
		}
	}
	return eventFile, nil
}
