package parquet

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/tables"
	"github.com/ntconv/ntconv/internal/tables/parquetwriter"
	"github.com/ntconv/ntconv/internal/tables/typedtable"
	"github.com/ntconv/ntconv/internal/testing/corpus"
	"github.com/ntconv/ntconv/reader"
	"github.com/ntconv/ntconv/schema"
)

// eachEvent calls f with the events of a trace in time order.
func eachEvent(t testing.TB, trace corpus.File, f func(*ntconv.Info, *ntconv.Event)) {
	t.Helper()
	src, err := reader.New(bytes.NewReader(trace.Data), &reader.Options{Order: reader.ByTime})
	if err != nil {
		t.Fatal(err)
	}
	for {
		e, err := src.Next()
		if errors.Is(err, io.EOF) || errors.Is(err, ntconv.ErrTruncated) || errors.Is(err, ntconv.ErrUnsupported) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		if e.Kind == ntconv.KindEvent {
			f(src.Info(), e)
		}
	}
}

// cellText returns what a column should hold, without the code under test. ok is false for what is stored as JSON.
func cellText(v ntconv.Value) (text string, ok bool) {
	switch v.Kind() {
	case ntconv.ValueNull, ntconv.ValueError:
		return "null", true
	case ntconv.ValueInt, ntconv.ValueUint:
		return fmt.Sprint(v.Int()), true
	case ntconv.ValueTime:
		return fmt.Sprint(v.Time().UnixMicro()), true
	case ntconv.ValueBytes:
		return string(v.Bytes()), true
	case ntconv.ValueList, ntconv.ValueObject:
		return "", false
	}
	return v.String(), true
}

// Each event of a real trace is a row, and its columns are the fields that schema.Values returns.
func TestTypedTraces(t *testing.T) {
	if testing.Short() {
		t.Skip("short mode: other tests run these goroutines with less data")
	}
	traces := corpus.Traces(t)
	if _, err := corpus.Find("data"); err == nil {
		traces = append(traces, corpus.SharedTraces(t)...)
	}
	for _, trace := range traces {
		t.Run(trace.Name, func(t *testing.T) {
			var x *typedExport
			eachEvent(t, trace, func(info *ntconv.Info, e *ntconv.Event) {
				if x == nil {
					x = newTypedExport(t, info, "all")
				}
				x.write(t, e)
			})
			if x == nil {
				return // the trace has no events that can be read
			}
			x.close(t)
			compareTyped(t, x, trace)
		})
	}
}

// compareTyped reads a trace again and compares its events with the rows.
func compareTyped(t *testing.T, x *typedExport, trace corpus.File) {
	read := make(map[string]*tableText)
	for _, name := range x.dir.names {
		read[name] = x.table(t, name)
	}
	var (
		schemas schema.Table
		next    = make(map[string]int)
		rows    int
		names   int
	)
	eachEvent(t, trace, func(_ *ntconv.Info, e *ntconv.Event) {
		s := schemas.Of(e)
		if len(s.Fields) == 0 {
			return
		}
		event := s.Name
		if event == "" {
			event = fmt.Sprint(s.ID)
		}
		name := tables.TypedName(s.Provider, event)
		table := read[name]
		if table == nil || next[name] == len(table.rows) {
			t.Fatalf("no row %d in %s", next[name], name)
		}
		row := table.rows[next[name]]
		next[name]++
		rows++
		if row["version"] != fmt.Sprint(e.Version()) || row["cpu"] != fmt.Sprint(e.CPU) {
			t.Fatalf("%s: version %s, CPU %s; want %d, %d", name, row["version"], row["cpu"], e.Version(), e.CPU)
		}
		names += compareFields(t, name, row, s, e)
	})
	for name, table := range read {
		if next[name] != len(table.rows) {
			t.Errorf("%s has %d rows, want %d", name, len(table.rows), next[name])
		}
		if len(table.rows) == 0 {
			t.Errorf("%s is empty", name)
		}
	}
	t.Logf("%d tables, %d rows, %d names of values", len(read), rows, names)
}

// compareFields compares the fields of an event with a row, and returns how many values have names.
func compareFields(t *testing.T, table string, row rowText, s *schema.Schema, e *ntconv.Event) (names int) {
	i := 0
	seen := make(map[string]bool)
	for f, v := range s.Values(e) {
		if i++; i > len(s.Fields) || seen[f.Name] || f.Type.Code == ntconv.TypePad64 {
			continue
		}
		seen[f.Name] = true
		column := cmp.Or(f.Name, "unnamed")
		if slices.ContainsFunc(typedtable.New(nil, 0).Columns, func(c parquetwriter.ColumnSpec) bool { return strings.EqualFold(c.Name, column) }) {
			column += "_2"
		}
		got, ok := row[column]
		if versioned, found := row[fmt.Sprintf("%s_v%d", f.Name, e.Version())]; found && got == "null" {
			got = versioned
		}
		if !ok {
			t.Fatalf("%s has no column %s", table, column)
		}
		if want, ok := cellText(v); ok && got != want {
			t.Fatalf("%s: %s = %q, want %q", table, f.Name, got, want)
		}
		if s.HasValueNames(f.Name) && (v.Kind() == ntconv.ValueInt || v.Kind() == ntconv.ValueUint) {
			want := s.ValueName(f.Name, v.Uint())
			if want == "" {
				want = "null"
			}
			if row[f.Name+"_name"] != want {
				t.Fatalf("%s: name of %s %d = %q, want %q", table, f.Name, v.Uint(), row[f.Name+"_name"], want)
			}
			names++
		}
	}
	return names
}
