// Package parquet writes traces as tables in Parquet files: New writes the tables of a trace to one file each,
// NewSingle writes one file with a row per event. docs/parquet.md and docs/parquet-tables.md specify the tables.
package parquet

import (
	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/tables/rows"
	"github.com/ntconv/ntconv/sample"
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

// rows returns the options for the rows, without the typed tables.
func (o *Options) rows() rows.Options {
	return rows.Options{
		Report: o.Report, Raw: o.Raw, Ordered: o.Ordered, Selection: o.Selection,
		Source: o.Source, TraceUID: o.TraceUID, Service: o.Service, Version: o.Version,
		TempDir: o.TempDir, MaxTemp: o.MaxTemp, Active: o.Active,
		Kinds: o.Kinds, KindOptions: o.KindOptions, Window: o.Window, Tables: o.Tables,
	}
}
