package typedtable

import (
	"cmp"
	"slices"
	"strconv"
	"sync"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/events/clr"
	"github.com/ntconv/ntconv/internal/tables"
	"github.com/ntconv/ntconv/internal/tables/parquetwriter"
	"github.com/ntconv/ntconv/schema"
)

// Elements of lists of events with typed tables that are not names of events: all events with fields, and no event.
const (
	All  = "all"
	None = "none"
)

// A Table is the typed table of an event of the runtime. Tables are shared and must not be modified.
type Table struct {
	Name            string // of the table
	Provider, Event string
	Schemas         []*schema.Schema // all known versions of the event that have fields, in the order of their versions
	Columns         []parquetwriter.ColumnSpec
}

// An eventName is the name of an event and of its provider.
type eventName struct{ provider, event string }

// providers are those whose events have a table in every dataset. The other providers of the runtime are for its own developers.
var providers = [...]string{clr.Runtime, clr.Rundown}

var runtimeTables = sync.OnceValues(func() ([]*Table, map[eventName]*Table) {
	byName := make(map[eventName]*Table)
	var list []*Table
	var schemas schema.Table
	for _, provider := range providers {
		for _, l := range clr.Layouts(provider) {
			s := schemas.Of(&ntconv.Event{Type: &ntconv.Type{Provider: provider, ID: l.ID, Version: l.Version}})
			if len(s.Fields) == 0 {
				continue
			}
			key := eventName{provider, cmp.Or(s.Name, strconv.FormatUint(uint64(l.ID), 10))}
			if byName[key] == nil {
				byName[key] = &Table{Provider: provider, Event: key.event}
				list = append(list, byName[key])
			}
			byName[key].Schemas = append(byName[key].Schemas, s)
		}
	}
	var names tables.Names
	for _, t := range list {
		slices.SortStableFunc(t.Schemas, func(a, b *schema.Schema) int { return cmp.Compare(a.Version, b.Version) })
		t.Name = names.Add(tables.TypedName(t.Provider, t.Event))
		t.Columns = New(t.Schemas, MaxFields).Columns
	}
	slices.SortFunc(list, func(a, b *Table) int { return cmp.Compare(a.Name, b.Name) })
	return list, byName
})

// Runtime returns the tables of all events of the runtime that have fields, sorted by name.
func Runtime() []*Table {
	list, _ := runtimeTables()
	return list
}

// Of returns the table of an event of the runtime, and nil for other events.
func Of(provider, event string) *Table {
	_, byName := runtimeTables()
	return byName[eventName{provider, event}]
}
