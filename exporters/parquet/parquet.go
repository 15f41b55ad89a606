// Package parquet writes traces as tables in Parquet files.
package parquet

import (
	"errors"
	"io"
	"slices"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/parquetwriter"
	"github.com/ntconv/ntconv/internal/tables"
	"github.com/ntconv/ntconv/schema"
)

// Typed is the name under which Options.Tables selects the typed tables, which have one column per field of an event.
const Typed = "typed"

// Options changes what is written. The zero value writes all tables.
type Options struct {
	// Report counts what cannot be decoded. It may be nil.
	Report *ntconv.Report
	// Raw writes the payloads of events as bytes instead of JSON.
	Raw bool
	// Typed lists the events with a typed table, as "provider/event".
	Typed []string
	// TypedRows is the number of events from which a type has a typed table if Typed is empty.
	TypedRows int64
	// Ordered means that events come in time order. Selection means that a selection may omit events.
	Ordered, Selection bool
	// Source is the name of the trace, TraceUID a hash of its content, Service the name of its service, and Version the
	// version of the program that writes the tables: columns of the table trace_info.
	Source, TraceUID, Service, Version string
	// TempDir is the directory of temporary files, os.TempDir() if it is empty.
	TempDir string
	// MaxTemp is the maximum size of each temporary file in bytes; 0 means no limit. Exceeding it is an error that
	// wraps ntconv.ErrLimit.
	MaxTemp int64
	// Active returns the IDs of the span that was active when an event was recorded, and false if none was:
	// otlp.ActiveSpans.Find does. Without it samples have the IDs in their labels, and intervals those of spans that
	// earlier events show. Active borrows the event.
	Active func(*ntconv.Event) (traceID [16]byte, spanID [8]byte, ok bool)
	// Tables lists the tables to write, as package tables and Typed name them. Nil means all tables; the sink creates
	// no others.
	Tables []string
}

// files creates the files of the tables.
type files struct {
	create   func(table string) (io.WriteCloser, error)
	metadata map[string]string
	ordered  bool     // events come in time order, as far as is known
	selected []string // nil for all
	names    []string // of the tables that were created
	ended    []func() error
}

// has reports whether a table is written.
func (f *files) has(name string) bool { return f.selected == nil || slices.Contains(f.selected, name) }

// open creates the file of a table.
func (f *files) open(name string) (io.WriteCloser, error) {
	w, err := f.create(name)
	if err == nil {
		f.names = append(f.names, name)
	}
	return w, err
}

// abort ends the tables that were created, for an error before there is a sink to close.
func (f *files) abort() error {
	var errs []error
	for _, end := range f.ended {
		errs = append(errs, end())
	}
	return errors.Join(errs...)
}

// options returns how the file of a table is written.
func (f *files) options(t tables.Table) *parquetwriter.Options {
	o := &parquetwriter.Options{Bloom: parquetwriter.BloomColumns(t.Row), Metadata: map[string]string{}}
	for key, value := range f.metadata {
		o.Metadata[key] = value
	}
	o.Metadata[tables.TableKey] = t.Name
	if f.ordered || t.Sort != "ts_ns" || sortsGroups(t.Name) {
		o.Sort = t.Sort
	}
	return o
}

// An item is what the tables have in common about an event: IDs and times are found once.
type item struct {
	id                  int64 // event_id
	micros, nanos       int64 // ts, ts_ns
	process, thread     int32 // process_id, thread_id
	pid, tid            int64
	stack, labels       int64  // stack_id, label_list_id; 0 for none
	traceID, spanID     string // of the labels, "" for none
	provider, eventName string
	schema              *schema.Schema
}

// A derived is one or more tables that are made of events.
type derived interface {
	// watch sees every event of the trace, before the selection.
	watch(e *ntconv.Event)
	// write sees every selected event of KindEvent, after watch. It borrows both.
	write(e *ntconv.Event, it *item) error
	// close writes the rest and completes the files.
	close() error
	// abort releases what close would, other than the files of newTable, and writes nothing. It is called in place of
	// close.
	abort() error
}
