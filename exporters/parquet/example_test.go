package parquet_test

import (
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"
	"strings"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/exporters/parquet"
	"github.com/ntconv/ntconv/reader"
	"github.com/ntconv/ntconv/symbol"
)

// convert writes all tables of a trace to a directory. The table of symbols learns from the events that pass it on
// their way to the sink.
func convert(dir string, trace io.Reader) (parquet.Summary, error) {
	src, err := reader.New(trace, &reader.Options{Order: reader.ByTime})
	if err != nil {
		return parquet.Summary{}, err
	}
	create := func(table string) (io.WriteCloser, error) { return os.Create(filepath.Join(dir, table+".parquet")) }
	names := symbol.New(nil)
	sink, err := parquet.New(create, src.Info(), names, &parquet.Options{Ordered: true, TypedRows: 50})
	if err != nil {
		return parquet.Summary{}, err
	}
	_, err = ntconv.Copy(sink, symbol.Watch(src, names))
	err = errors.Join(err, sink.Close())
	return sink.Summary(), err
}

// A trace becomes a directory of tables. Options.TypedRows selects the event types that get a table of their own.
func Example() {
	trace, err := os.Open("../../testdata/alloc-verbose.nettrace.zst")
	if err != nil {
		log.Fatal(err)
	}
	defer trace.Close()
	dir, err := os.MkdirTemp("", "tables-*")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	done, err := convert(dir, trace)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(done.Events, "events,", done.TypedTables, "typed tables")
	for _, table := range done.Tables {
		if strings.HasPrefix(table, "event_clr_") {
			fmt.Println(table + ".parquet")
		}
	}
	// Output:
	// 1382 events, 4 typed tables
	// event_clr_FinalizeObject.parquet
	// event_clr_GCAllocationTick.parquet
	// event_clr_SetGCHandle.parquet
}

// NewSingle writes one file of events with all names in it, for a single query over one file.
func ExampleNewSingle() {
	trace, err := os.Open("../../testdata/exceptions.nettrace.zst")
	if err != nil {
		log.Fatal(err)
	}
	defer trace.Close()
	src, err := reader.New(trace, &reader.Options{Order: reader.ByTime})
	if err != nil {
		log.Fatal(err)
	}
	file, err := os.CreateTemp("", "events-*.parquet")
	if err != nil {
		log.Fatal(err)
	}
	defer os.Remove(file.Name())
	sink, err := parquet.NewSingle(file, src.Info(), nil, &parquet.Options{Ordered: true})
	if err != nil {
		log.Fatal(err)
	}
	_, err = ntconv.Copy(sink, src)
	if err := errors.Join(err, sink.Close(), file.Close()); err != nil {
		log.Fatal(err)
	}
	fmt.Println(sink.Summary().Events, "events")
	// Output: 1316 events
}
