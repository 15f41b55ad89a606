package typedtable

import (
	"slices"
	"strings"
	"testing"

	"github.com/ntconv/ntconv/internal/events/clr"
	"github.com/ntconv/ntconv/internal/tables/parquetwriter"
	"github.com/ntconv/ntconv/schema"
)

// Every event of the runtime that has fields has one table, whose columns include those of each of its versions.
func TestRuntime(t *testing.T) {
	names := make(map[string]bool)
	versions := 0
	for _, table := range Runtime() {
		if names[table.Name] || !strings.HasPrefix(table.Name, "event_") {
			t.Errorf("%s: the name is used twice or has no prefix", table.Name)
		}
		names[table.Name] = true
		if Of(table.Provider, table.Event) != table {
			t.Errorf("%s is not found by its event", table.Name)
		}
		versions += len(table.Schemas)
		for _, s := range table.Schemas {
			for _, c := range New([]*schema.Schema{s}, MaxFields).Columns {
				if !slices.ContainsFunc(table.Columns, func(other parquetwriter.ColumnSpec) bool { return strings.EqualFold(other.Name, c.Name) }) {
					t.Errorf("%s: no column %s of version %d", table.Name, c.Name, s.Version)
				}
			}
		}
	}
	fields := 0
	for _, provider := range providers {
		for _, l := range clr.Layouts(provider) {
			if len(l.Fields) > 0 {
				fields++
			}
		}
	}
	if fields != versions || len(names) < 100 {
		t.Errorf("%d tables of %d versions, the manifests have %d versions with fields", len(names), versions, fields)
	}
	t.Logf("%d tables", len(names))
}
