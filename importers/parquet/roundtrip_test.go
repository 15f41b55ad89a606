package parquet_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ntconv/ntconv"
	export "github.com/ntconv/ntconv/exporters/parquet"
	"github.com/ntconv/ntconv/importers/parquet"
	"github.com/ntconv/ntconv/internal/testing/corpus"
	"github.com/ntconv/ntconv/internal/trace/tracecmp"
	"github.com/ntconv/ntconv/ntconvtest"
	"github.com/ntconv/ntconv/reader"
	"github.com/ntconv/ntconv/symbol"
)

// directory is a directory of tables in memory.
type directory map[string][]byte

func (d directory) Names() []string { return slices.Collect(maps.Keys(d)) }

func (d directory) Table(name string) (io.ReaderAt, int64, error) {
	b, ok := d[name]
	if !ok {
		return nil, 0, os.ErrNotExist
	}
	return bytes.NewReader(b), int64(len(b)), nil
}

// members are the tables that a sink writes. It creates them one after the other, but closes them in any order and at the
// same time.
type members map[string]*member

type member struct{ bytes.Buffer }

func (*member) Close() error { return nil }

func (m members) create(name string) (io.WriteCloser, error) {
	m[name] = new(member)
	return m[name], nil
}

// directory returns the tables, which are complete.
func (m members) directory() directory {
	d := directory{}
	for name, file := range m {
		d[name] = file.Bytes()
	}
	return d
}

// writeAll writes the events of a source to a sink and closes it. An error of the source ends the trace.
func writeAll(t testing.TB, sink ntconv.Sink, src ntconv.Source) {
	t.Helper()
	if _, err := ntconv.Copy(sink, src); err != nil {
		var of *ntconv.SourceError
		if !errors.As(err, &of) {
			t.Fatal(err)
		}
	}
	if err := sink.Close(); err != nil {
		t.Fatal(err)
	}
}

// write writes the tables of a source. An error of the source ends the trace.
func write(t testing.TB, src ntconv.Source, o export.Options) directory {
	t.Helper()
	names := symbol.New(nil)
	m := members{}
	o.Ordered, o.TempDir = true, t.TempDir()
	sink, err := export.New(m.create, src.Info(), names, &o)
	if err != nil {
		t.Fatal(err)
	}
	writeAll(t, sink, symbol.Watch(src, names))
	return m.directory()
}

func open(t testing.TB, data []byte) ntconv.Source {
	t.Helper()
	src, err := reader.New(bytes.NewReader(data), &reader.Options{Order: reader.ByTime})
	if err != nil {
		t.Fatal(err)
	}
	return src
}

// restores checks that the tables of a trace restore it.
func restores(t *testing.T, data []byte, o export.Options) {
	t.Helper()
	d := write(t, open(t, data), o)
	for _, byTime := range []bool{false, true} {
		report := &ntconv.Report{}
		back, err := parquet.New(d, &parquet.Options{ByTime: byTime, Report: report})
		if err != nil {
			t.Fatal(err)
		}
		if n, err := tracecmp.Streams(open(t, data), ntconvtest.Poison(back), &tracecmp.Options{Errors: true}); err != nil {
			t.Errorf("by time %v: after %d events: %v", byTime, n, err)
		}
		if entries := report.Entries(); len(entries) > 0 {
			t.Errorf("report: %v", entries)
		}
	}
}

// TestRestores: a trace that was written as tables and read again is the same trace.
func TestRestores(t *testing.T) {
	for _, f := range corpus.Traces(t) {
		for name, o := range map[string]export.Options{"json": {}, "raw": {Raw: true}} {
			t.Run(f.Name+"/"+name, func(t *testing.T) { restores(t, f.Data, o) })
		}
	}
}

// TestRestoresShared is TestRestores for the reference data.
func TestRestoresShared(t *testing.T) {
	root := corpus.Shared(t, "data")
	n := 0
	err := filepath.WalkDir(root, func(path string, e os.DirEntry, err error) error {
		base := strings.TrimSuffix(filepath.Base(path), ".zst")
		if err != nil || e.IsDir() || filepath.Ext(base) != ".nettrace" && filepath.Ext(base) != ".netperf" {
			return err
		}
		if info, err := e.Info(); err != nil || corpus.IsSkipped(path, info.Size()) {
			return err
		}
		data := corpus.Read(t, path)
		if testing.Short() && len(data) > 4<<20 {
			return nil
		}
		if _, err := reader.New(bytes.NewReader(data), nil); err != nil {
			return nil // not a trace
		}
		n++
		t.Run(fmt.Sprint(filepath.Base(filepath.Dir(path)), "/", base), func(t *testing.T) { restores(t, data, export.Options{}) })
		return nil
	})
	if t.Logf("%d traces", n); err != nil || n == 0 {
		t.Errorf("%d traces, %v", n, err)
	}
}

// openOrder returns the events of a trace in time or file order.
func openOrder(t testing.TB, data []byte, byTime bool) ntconv.Source {
	t.Helper()
	order := reader.FileOrder
	if byTime {
		order = reader.ByTime
	}
	src, err := reader.New(bytes.NewReader(data), &reader.Options{Order: order})
	if err != nil {
		t.Fatal(err)
	}
	return src
}

// fileOrder writes the tables of a trace in file order.
func fileOrder(t testing.TB, data []byte) directory {
	t.Helper()
	src, m := openOrder(t, data, false), members{}
	sink, err := export.New(m.create, src.Info(), nil, &export.Options{TempDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	writeAll(t, sink, src)
	return m.directory()
}
