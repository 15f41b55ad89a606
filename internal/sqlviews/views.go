// Package sqlviews writes SQL that makes the tables of traces views of DuckDB: one view per table over all traces, with
// a column trace.
//
// The files are read where they are; a view takes no space. IDs as stack_id count from 1 in every trace, so joins
// compare the column trace, too: JOIN stacks USING (trace, stack_id).
package sqlviews

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ntconv/ntconv/internal/tables"
)

// A Source is a place with tables: the directory of one trace, or a dataset.
type Source struct {
	// Dir is the directory. Views contain it as it is, so a relative one is relative to where DuckDB runs.
	Dir string
	// Trace is the value of the column trace. It is ignored for a dataset.
	Trace string
	// Keys are the partition keys of a dataset in the order of its folders, ending with trace. Nil means that Dir holds
	// one trace.
	Keys []string
	// Tables are the names of the tables that the source has: those without files would be errors of DuckDB.
	Tables []string
}

// Setup is SQL for a session whose results do not depend on the machine: times are shown in UTC.
const Setup = "SET TimeZone = 'UTC';\n"

// needs are the tables that macros reads.
var needs = []string{"stacks", "frames", "samples"}

// Views returns the statements that create a view for every table that a source has, and the views and macros that
// build on them.
func Views(sources []Source) string {
	var b strings.Builder
	names := union(sources)
	for _, name := range names {
		fmt.Fprintf(&b, "CREATE OR REPLACE VIEW %s AS\n  ", identifier(name))
		first := true
		for i := range sources {
			if !slices.Contains(sources[i].Tables, name) {
				continue
			}
			if !first {
				b.WriteString("\n  UNION ALL BY NAME ")
			}
			first = false
			b.WriteString(sources[i].query(name))
		}
		b.WriteString(";\n")
	}
	if !slices.ContainsFunc(needs, func(name string) bool { return !slices.Contains(names, name) }) {
		b.WriteString(macros)
	}
	return b.String()
}

// union returns the tables of all sources: fixed tables in the order of the documentation, then typed ones by name.
func union(sources []Source) (names []string) {
	var all []string
	for i := range sources {
		all = append(all, sources[i].Tables...)
	}
	slices.Sort(all)
	all = slices.Compact(all)
	for _, t := range tables.All() {
		if i, ok := slices.BinarySearch(all, t.Name); ok {
			names = append(names, t.Name)
			all = slices.Delete(all, i, i+1)
		}
	}
	return append(names, all...)
}

// query returns the SELECT that reads a table of the source.
func (s *Source) query(table string) string {
	path := strings.TrimRight(pattern(s.Dir), "/") + "/"
	if s.Keys == nil {
		return fmt.Sprintf("SELECT %s AS trace, * FROM read_parquet(%s, hive_partitioning = false)",
			text(s.Trace), text(path+table+".parquet"))
	}
	var types []string
	for _, key := range s.Keys {
		path += pattern(key) + "=*/"
		types = append(types, text(key)+": "+hiveType(key))
	}
	return fmt.Sprintf(
		"SELECT trace, * EXCLUDE (trace) FROM read_parquet(%s, union_by_name = true, hive_partitioning = true, hive_types = {%s})",
		text(path+table+".parquet"), strings.Join(types, ", "),
	)
}

// hiveType returns the type of a partition key. DuckDB would guess it from the first values: a service may be called
// 42.
func hiveType(key string) string {
	switch key {
	case "day":
		return "DATE"
	case "year", "hour":
		return "INTEGER"
	}
	return "VARCHAR"
}

// text returns a string literal.
func text(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

// identifier returns a quoted name if it is not a plain one.
func identifier(name string) string {
	for i, c := range []byte(name) {
		if !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '_' || i > 0 && '0' <= c && c <= '9') {
			return `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
		}
	}
	return name
}

// pattern returns a path that stands for itself where DuckDB expects a glob, which has no escape character but sets of
// characters.
func pattern(path string) string {
	return strings.NewReplacer("*", "[*]", "?", "[?]", "[", "[[]").Replace(path)
}
