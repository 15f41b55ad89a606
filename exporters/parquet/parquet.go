// Package parquet writes traces as tables in Parquet files.
package parquet

import (
	"io"
	"reflect"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/parquetfile"
	"github.com/ntconv/ntconv/internal/tables"
	"github.com/ntconv/ntconv/schema"
)

// files creates the files of the tables.
type files struct {
	create   func(table string) (io.WriteCloser, error)
	metadata map[string]string
	ordered  bool
}

// options returns how the file of a table is written.
func (f *files) options(t tables.Table) *parquetfile.Options {
	o := &parquetfile.Options{Bloom: parquetfile.BloomColumns(t.Row), Metadata: map[string]string{}}
	for key, value := range f.metadata {
		o.Metadata[key] = value
	}
	o.Metadata[tables.TableKey] = t.Name
	if f.ordered || t.Sort != "ts_ns" {
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
	// write sees every selected event, after watch. It borrows both.
	write(e *ntconv.Event, it *item) error
	// close writes the rest and completes the files.
	close() error
}

var _ = reflect.TypeFor[item]
