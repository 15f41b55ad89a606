package parquet

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"

	pq "github.com/parquet-go/parquet-go"

	"github.com/ntconv/ntconv"
)

// A memoryDir holds the files of a sink and counts how many are open.
type memoryDir struct {
	mu         sync.Mutex
	files      map[string]*memoryFile
	names      []string // in the order of their creation
	open, most int
}

type memoryFile struct {
	bytes.Buffer
	dir *memoryDir
}

func (d *memoryDir) create(table string) (io.WriteCloser, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.files == nil {
		d.files = make(map[string]*memoryFile)
	}
	if d.files[table] != nil {
		return nil, fmt.Errorf("%s is created twice", table)
	}
	f := &memoryFile{dir: d}
	d.files[table] = f
	d.names = append(d.names, table)
	d.open++
	d.most = max(d.most, d.open)
	return f, nil
}

func (f *memoryFile) Close() error {
	f.dir.mu.Lock()
	defer f.dir.mu.Unlock()
	f.dir.open--
	return nil
}

// A rowText is a row: values as text by column, "null" for NULL.
type rowText map[string]string

// A tableText is a table as text.
type tableText struct {
	columns []string
	rows    []rowText
	file    *pq.File
}

// readTable reads a file without the package under test.
func readTable(t testing.TB, data []byte) *tableText {
	t.Helper()
	f, err := pq.OpenFile(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	table := &tableText{file: f}
	for _, c := range f.Root().Columns() {
		table.columns = append(table.columns, c.Name())
	}
	buf := make([]pq.Row, 100)
	for _, g := range f.RowGroups() {
		reader := g.Rows()
		for {
			n, err := reader.ReadRows(buf)
			for _, row := range buf[:n] {
				table.rows = append(table.rows, table.text(row))
			}
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if err := reader.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return table
}

func (t *tableText) text(row pq.Row) rowText {
	columns := t.file.Root().Columns()
	cells := make(rowText, len(columns))
	row.Range(func(i int, values []pq.Value) bool {
		c := columns[i]
		text := "null"
		switch {
		case c.Leaf() && !values[0].IsNull():
			text = values[0].String()
		case !c.Leaf() && values[0].DefinitionLevel() > 0:
			var elems []string
			for _, v := range values {
				if v.DefinitionLevel() > 1 {
					elems = append(elems, v.String())
				}
			}
			text = "[" + strings.Join(elems, ";") + "]"
		}
		cells[c.Name()] = strings.Clone(text)
		return true
	})
	return cells
}

// A typedExport is a sink with typed tables only, and what it wrote.
type typedExport struct {
	dir    memoryDir
	report ntconv.Report
	sink   *Sink
	part   *typed
}

// newTypedExport returns an export of events to typed tables.
func newTypedExport(t testing.TB, info *ntconv.Info, names ...string) *typedExport {
	t.Helper()
	x := new(typedExport)
	sink, err := New(x.dir.create, info, nil, &Options{Typed: names, Tables: []string{Typed}, Report: &x.report, Ordered: true, TempDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	x.sink = sink
	x.part = sink.typed
	return x
}

func (x *typedExport) write(t testing.TB, events ...*ntconv.Event) {
	t.Helper()
	for _, e := range events {
		if err := x.sink.Write(e); err != nil {
			t.Fatal(err)
		}
	}
}

func (x *typedExport) close(t testing.TB) {
	t.Helper()
	if err := x.sink.Close(); err != nil {
		t.Fatal(err)
	}
	if x.dir.open != 0 {
		t.Errorf("%d files are open after Close", x.dir.open)
	}
}

// table returns a table as text.
func (x *typedExport) table(t testing.TB, name string) *tableText {
	t.Helper()
	f := x.dir.files[name]
	if f == nil {
		t.Fatalf("no table %s; there are %q", name, x.dir.names)
	}
	return readTable(t, f.Bytes())
}
