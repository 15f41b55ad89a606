package parquet_test

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	pq "github.com/parquet-go/parquet-go"

	"github.com/ntconv/ntconv/exporters/parquet"
	"github.com/ntconv/ntconv/internal/tables"
	"github.com/ntconv/ntconv/internal/tables/typedtable"
	"github.com/ntconv/ntconv/internal/testing/corpus"
)

// columnsOf returns the names of the columns of a table, and their values as text.
func columnsOf(t *testing.T, f *file) (names []string, values map[string][]string) {
	t.Helper()
	r, err := pq.OpenFile(bytes.NewReader(f.Bytes()), int64(f.Len()))
	if err != nil {
		t.Fatal(err)
	}
	values = make(map[string][]string)
	paths := r.Schema().Columns()
	for _, path := range paths {
		names = append(names, path[0])
	}
	for _, group := range r.RowGroups() {
		rows := group.Rows()
		buf := make([]pq.Row, 64)
		for {
			n, err := rows.ReadRows(buf)
			for _, row := range buf[:n] {
				text := make([]string, len(names))
				for _, v := range row {
					text[v.Column()] += fmt.Sprintf("%v ", v)
				}
				for i, name := range names {
					values[name] = append(values[name], text[i])
				}
			}
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		rows.Close()
	}
	return names, values
}

// With Uniform, the typed tables of the runtime's events have the columns of typedtable in every trace, and the values that they
// have without it; columns of other versions are NULL.
func TestTypedUniform(t *testing.T) {
	compared := 0
	for _, trace := range corpus.Traces(t) {
		all, _, _, _ := exported(t, trace.Data, parquet.Options{Typed: []string{"all"}, Tables: []string{parquet.Typed}})
		uniform, _, _, _ := exported(t, trace.Data, parquet.Options{Uniform: true, Tables: []string{parquet.Typed}})
		for _, known := range typedtable.Runtime() {
			if (all[known.Name] == nil) != (uniform[known.Name] == nil) {
				t.Errorf("%s: %s exists %v, want %v", trace.Name, known.Name, uniform[known.Name] != nil, all[known.Name] != nil)
			}
			if all[known.Name] == nil || uniform[known.Name] == nil {
				continue
			}
			compared++
			var promised []string
			for _, c := range known.Columns {
				promised = append(promised, c.Name)
			}
			names, values := columnsOf(t, uniform[known.Name])
			if len(names) < len(promised) || !slices.Equal(names[:len(promised)], promised) {
				t.Errorf("%s: %s has columns %q, want %q", trace.Name, known.Name, names, promised)
			}
			before, want := columnsOf(t, all[known.Name])
			for _, name := range before {
				if !slices.Equal(values[name], want[name]) {
					t.Errorf("%s: %s.%s differs", trace.Name, known.Name, name)
				}
			}
			for _, name := range names {
				other := func(v string) bool { return strings.TrimSpace(v) != "<null>" }
				if !slices.Contains(before, name) && slices.ContainsFunc(values[name], other) {
					t.Errorf("%s: %s.%s has values", trace.Name, known.Name, name)
				}
			}
		}
		for name := range uniform {
			if strings.HasPrefix(name, tables.TypedPrefix) && !slices.ContainsFunc(typedtable.Runtime(), func(k *typedtable.Table) bool { return k.Name == name }) {
				t.Errorf("%s: table %s of another event", trace.Name, name)
			}
		}
	}
	if compared < 200 {
		t.Errorf("%d tables compared", compared)
	}
}
