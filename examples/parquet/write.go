package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/exporters/parquet"
	"github.com/ntconv/ntconv/reader"
)

// writeTable writes the events of one type, named provider/event, as a table with one column per field.
func writeTable(w io.Writer, trace io.Reader, event string) error {
	src, err := reader.New(trace, &reader.Options{Order: reader.ByTime})
	if err != nil {
		return err
	}
	file := &tableFile{Writer: w}
	sink, err := parquet.New(file.create, src.Info(), nil, &parquet.Options{
		Tables: []string{parquet.Typed}, Typed: []string{event}, Ordered: true,
	})
	if err != nil {
		return err
	}
	_, err = ntconv.Copy(sink, src)
	err = errors.Join(err, sink.Close()) // Close writes the table; without it temporary files and goroutines remain
	if err == nil && file.table == "" {
		err = fmt.Errorf("no events match %s", event)
	}
	return err
}

// A tableFile is the file of one table. The code that creates it closes the file.
type tableFile struct {
	io.Writer
	table string
}

// create rejects a second table, because a pattern such as */GC* can match events with different fields.
func (f *tableFile) create(table string) (io.WriteCloser, error) {
	if f.table != "" {
		return nil, fmt.Errorf("events of several types match: want one table, got %s and %s", f.table, table)
	}
	f.table = table
	return f, nil
}

func (f *tableFile) Close() error { return nil }
