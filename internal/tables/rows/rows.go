// Package rows produces the rows of the tables of a trace from its events. A Receiver, which an exporter implements,
// takes the rows: as files, or as anything else.
//
// It writes rows at three times: events, losses, marks and labels as events are read; samples, spans, intervals, logs
// and counters when the end of a row is known; stacks, frames, modules, threads, processes and types in Close, when
// names are known.
package rows

import (
	"errors"
	"slices"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/profile"
	"github.com/ntconv/ntconv/internal/tables"
	"github.com/ntconv/ntconv/sample"
	"github.com/ntconv/ntconv/schema"
)

// A Receiver takes the rows of tables.
type Receiver interface {
	// Open begins a table. t.Sort is "" if the rows may come unsorted. Calls are not concurrent.
	Open(t tables.Table) (Writer, error)
}

// A Writer takes the rows of one table. Its methods are called by one goroutine, but Writers of different tables by
// several. After an error, Close is the only method that is called.
type Writer interface {
	// Write adds rows, a slice of the table's row type. The slice and what its rows refer to are valid until Write
	// returns. bytes is their approximate size in memory.
	Write(rows any, bytes int) error
	// EndGroup ends a group of rows that are sorted.
	EndGroup() error
	// Unsorted states before Finish that the rows are not sorted by the column that Open stated.
	Unsorted()
	// Finish completes the table. It is not called after an error.
	Finish() error
	// Close releases the resources of the Writer. It is always called last.
	Close() error
}

// Options configures a Sink or a Single. The zero value selects the defaults and all tables. Members that
// exporters/parquet or exporters/html has, too, are described there.
type Options struct {
	Report                             *ntconv.Report
	Raw                                bool
	Ordered, Selection                 bool
	Source, TraceUID, Service, Version string
	TempDir                            string
	MaxTemp                            int64
	Active                             func(*ntconv.Event) (traceID [16]byte, spanID [8]byte, ok bool)
	Evidence                           func() string
	Kinds                              []sample.Kind
	KindOptions                        sample.KindOptions
	Window                             func(ntconv.Ticks) bool
	// Tables lists the tables to write, by their names. Nil means all tables.
	Tables []string
	// OnSample, if not nil, receives each sample once, in place of the rows of the table samples, which have one row per
	// sample type. Its subject has the columns of the event, and kind, state and subject. OnSample borrows the sample.
	OnSample func(*profile.Weighed[tables.Sample])
	// Typed writes the typed tables; nil means that there are none.
	Typed TypedPart
}

// An Item holds what all tables need of an event, so that times and IDs are computed once. Sink.Write sets it for each
// event.
type Item struct {
	ID              int64 // event_id
	Micros, Nanos   int64 // ts, ts_ns
	Process, Thread int32 // process_id, thread_id
	PID, TID        int64
	Stack, Labels   int64  // stack_id, label_list_id; 0 means none
	TraceID, SpanID string // from the labels; "" means none
	Provider, Event string // names
	Schema          *schema.Schema
}

// A Part writes one or more tables that are derived from events. Sink calls Watch or Write for each event in the order
// of the trace, then Close or Abort once.
type Part interface {
	// Watch observes an event of the trace before the selection. Sink.Write passes marks to it, too.
	Watch(e *ntconv.Event)
	// Write adds a selected event of KindEvent. It must not keep e or it.
	Write(e *ntconv.Event, it *Item) error
	// Close writes the remaining rows and completes the tables.
	Close() error
	// Abort releases the resources that Close would release, except the tables of newTable, and writes nothing. It is
	// called in place of Close.
	Abort() error
}

// A TypedPart is a Part that writes typed tables.
type TypedPart interface {
	Part
	// Tables returns the names of the typed tables by type. It is called after Close.
	Tables() map[*ntconv.Type]string
}

// output opens the tables.
type output struct {
	receiver Receiver
	ordered  bool           // no event so far was out of time order
	selected []string       // nil means all tables
	ended    []func() error // table.close of each open table
}

// has reports whether a table is to be written.
func (o *output) has(name string) bool { return o.selected == nil || slices.Contains(o.selected, name) }

// spec returns what the receiver gets to know of a table.
func (o *output) spec(t tables.Table) tables.Table {
	if t.Sort == "ts_ns" && !o.ordered && !sortsGroups(t.Name) {
		t.Sort = ""
	}
	return t
}

// abort ends the goroutines of all open tables. It returns their errors.
func (o *output) abort() error {
	var errs []error
	for _, end := range o.ended {
		errs = append(errs, end())
	}
	return errors.Join(errs...)
}
