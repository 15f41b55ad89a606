// Package parquet writes traces as tables in Parquet files: New writes the tables of a trace to one file each,
// NewSingle writes one file with a row per event. docs/parquet.md and docs/parquet-tables.md specify the tables.
package parquet

import (
	"errors"
	"io"
	"slices"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/tables"
	"github.com/ntconv/ntconv/internal/tables/parquetwriter"
	"github.com/ntconv/ntconv/sample"
	"github.com/ntconv/ntconv/schema"
)

// Typed selects the typed tables in Options.Tables. A typed table has one column per field of an event.
const Typed = "typed"

// Options configures a Sink or SingleSink. The zero value selects the defaults and all tables.
type Options struct {
	// Report receives the conditions that the conversion counts; nil discards them.
	Report *ntconv.Report
	// Raw writes payloads as bytes instead of JSON. NewSingle does not support it.
	Raw bool
	// Typed lists the events that get a typed table, as "provider/event"; * matches any text. "all" and "none" select
	// all events or none. Nil selects the events with at least TypedRows events.
	Typed []string
	// TypedRows is the minimum number of events for which an event type gets a typed table if Typed is empty; 0 means
	// 1,000.
	TypedRows int64
	// Uniform makes the tables of several traces equal, for a dataset: which events have a typed table does not depend on their
	// number. These are the events of the runtime and those of Typed. The tables of the runtime's events have the columns of all
	// versions of the event that ntconv knows. TypedRows is ignored.
	Uniform bool
	// Ordered states that events arrive in time order. Selection states that a selection may omit events.
	Ordered, Selection bool
	// Source is the name of the trace, TraceUID a hash of its content, Service the name of its service and Version the
	// version of the writing program: columns of the table trace_info.
	Source, TraceUID, Service, Version string
	// TempDir is the directory of temporary files; "" means os.TempDir().
	TempDir string
	// MaxTemp is the maximum size of each temporary file in bytes; 0 means no limit. Exceeding it is an error that
	// wraps ntconv.ErrLimit.
	MaxTemp int64
	// Active, if not nil, returns the IDs of the span that was active when an event was recorded, and false if no span
	// was active; use otlp.ActiveSpans.Find. It must not keep the event. If it is nil, samples get the IDs of their
	// labels, and intervals the IDs of spans that earlier events show.
	Active func(*ntconv.Event) (traceID [16]byte, spanID [8]byte, ok bool)
	// Kinds are the kinds of samples; nil means sample.Wall, sample.CPU and sample.Imported. KindOptions configure those
	// computed from events. Window, if not nil, reports whether a time is selected: an interval, such as a wait, that is
	// not completely in the selected time is in no sample.
	Kinds       []sample.Kind
	KindOptions sample.KindOptions
	Window      func(ntconv.Ticks) bool
	// Tables lists the tables to write, by the names of docs/parquet-tables.md and Typed. Nil means all tables. The
	// sink creates no file for other tables.
	Tables []string
}

// files creates the files of the tables.
type files struct {
	create   func(table string) (io.WriteCloser, error)
	metadata map[string]string
	ordered  bool           // no event so far was out of time order
	selected []string       // nil means all tables
	names    []string       // tables that were created
	ended    []func() error // table.close of each created table
}

// has reports whether a table is to be written.
func (f *files) has(name string) bool { return f.selected == nil || slices.Contains(f.selected, name) }

// open creates the file of a table.
func (f *files) open(name string) (io.WriteCloser, error) {
	w, err := f.create(name)
	if err == nil {
		f.names = append(f.names, name)
	}
	return w, err
}

// abort ends the goroutines of all created tables. It returns their errors.
func (f *files) abort() error {
	var errs []error
	for _, end := range f.ended {
		errs = append(errs, end())
	}
	return errors.Join(errs...)
}

// options returns the options for the file of a table.
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

// An item holds what all tables need of an event, so that times and IDs are computed once. Sink.Write sets it for each
// event.
type item struct {
	id                  int64 // event_id
	micros, nanos       int64 // ts, ts_ns
	process, thread     int32 // process_id, thread_id
	pid, tid            int64
	stack, labels       int64  // stack_id, label_list_id; 0 means none
	traceID, spanID     string // from the labels; "" means none
	provider, eventName string
	schema              *schema.Schema
}

// A derived writes one or more tables that are derived from events. Sink calls watch or write for each event in the
// order of the trace, then close or abort once.
type derived interface {
	// watch observes an event of the trace before the selection. Write passes marks to it, too.
	watch(e *ntconv.Event)
	// write adds a selected event of KindEvent. It must not keep e or it.
	write(e *ntconv.Event, it *item) error
	// close writes the remaining rows and completes the files.
	close() error
	// abort releases the resources that close would release, except the files of newTable, and writes nothing. It is
	// called in place of close.
	abort() error
}
