package tables

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// A Source is the directory of one trace, or a dataset.
type Source struct {
	// Dir is the directory. Views contain it unchanged, so a relative path is relative to the working directory of
	// DuckDB.
	Dir string
	// Trace is the value of the column trace. In a dataset it selects one trace; "" means all.
	Trace string
	// Keys are the partition keys of a dataset, outermost first. Nil means that Dir contains one trace.
	Keys []string
	// Tables are the tables of the source. A view omits a source without the table, because DuckDB rejects missing files.
	Tables []SourceTable
	// UIDs are the traces of a dataset. Views do not depend on them.
	UIDs []string
}

// A SourceTable is a table of a source.
type SourceTable struct {
	Name string
	// Files are the files in a dataset, relative to Source.Dir. Nil means all that are there when DuckDB looks.
	Files []string
	// Differs means that the files do not have the same columns.
	Differs bool
}

// Setup is SQL to run at the start of a session. It shows times in UTC, so that results do not depend on the machine.
const Setup = "SET TimeZone = 'UTC';\n"

// macroTables are the tables that macros reads, and macroNames what it defines.
var (
	macroTables = []string{"stacks", "frames", "samples"}
	macroNames  = []string{"stack_frames", "stack_text", "own_functions", "sample_functions", "methods"}
)

// catalog are words of queries that ask for all tables, or form names of tables.
var catalog = []string{"show", "desc", "describe", "summarize", "pragma", "information_schema", "sqlite_master", "pg_catalog", "query", "query_table", "tables", "schema"}

// word matches what may be the name of a table in a query, quoted or not.
var word = regexp.MustCompile(`[A-Za-z_][A-Za-z0-9_]*`)

// Named returns a function that reports whether a query may read a table: it has its name, or that of a macro that reads it, or asks
// for all tables. So a query over a dataset binds the tables that it reads, and not hundreds.
func Named(query string) func(table string) bool {
	words := make(map[string]bool)
	for _, w := range word.FindAllString(query, -1) {
		words[strings.ToLower(w)] = true
	}
	any := func(list []string) bool { return slices.ContainsFunc(list, func(w string) bool { return words[w] }) }
	if any(catalog) || strings.Contains(strings.ToLower(query), "duckdb_") {
		return func(string) bool { return true }
	}
	if any(macroNames) {
		for _, table := range macroTables {
			words[table] = true
		}
	}
	return func(table string) bool { return words[strings.ToLower(table)] }
}

// Views returns statements that create a view for each table that at least one source has and that is named; nil names all. The
// views and macros of macros follow if their tables exist.
func Views(sources []Source, named func(table string) bool) string {
	var b strings.Builder
	names := slices.DeleteFunc(union(sources), func(name string) bool { return named != nil && !named(name) })
	for _, name := range names {
		fmt.Fprintf(&b, "CREATE OR REPLACE VIEW %s AS\n  ", identifier(name))
		first := true
		for i := range sources {
			at := slices.IndexFunc(sources[i].Tables, func(t SourceTable) bool { return t.Name == name })
			if at < 0 {
				continue
			}
			if !first {
				b.WriteString("\n  UNION ALL BY NAME ")
			}
			first = false
			b.WriteString(sources[i].query(&sources[i].Tables[at]))
		}
		b.WriteString(";\n")
	}
	if !slices.ContainsFunc(macroTables, func(name string) bool { return !slices.Contains(names, name) }) {
		b.WriteString(macros)
	}
	return b.String()
}

// union returns the tables of all sources: fixed tables in the order of the documentation, then typed tables by name.
func union(sources []Source) (names []string) {
	var all []string
	for i := range sources {
		for j := range sources[i].Tables {
			all = append(all, sources[i].Tables[j].Name)
		}
	}
	slices.Sort(all)
	all = slices.Compact(all)
	for _, t := range All() {
		if i, ok := slices.BinarySearch(all, t.Name); ok {
			names = append(names, t.Name)
			all = slices.Delete(all, i, i+1)
		}
	}
	return append(names, all...)
}

// query returns the SELECT that reads a table of the source.
func (s *Source) query(table *SourceTable) string {
	path := strings.TrimRight(pattern(s.Dir), "/") + "/"
	if s.Keys == nil {
		return fmt.Sprintf("SELECT %s AS trace, * FROM read_parquet(%s, hive_partitioning = false)",
			text(s.Trace), text(path+table.Name+".parquet"))
	}
	var types []string
	for _, key := range s.Keys {
		types = append(types, text(key)+": "+hiveType(key))
	}
	files := text(path + table.Name + "/" + strings.Repeat("*/", len(s.Keys)) + "*.parquet")
	if table.Files != nil {
		var list []string
		for _, name := range table.Files {
			list = append(list, text(path+pattern(name)))
		}
		files = "[" + strings.Join(list, ", ") + "]"
	}
	differs, only := "", ""
	if table.Differs {
		differs = "union_by_name = true, "
	}
	if s.Trace != "" {
		only = " WHERE trace = " + text(s.Trace)
	}
	return fmt.Sprintf("SELECT trace, * EXCLUDE (trace) FROM read_parquet(%s, %shive_partitioning = true, hive_types = {%s})%s",
		files, differs, strings.Join(types, ", "), only)
}

// hiveType returns the SQL type of a partition key. Otherwise DuckDB would infer it from the first values, and a
// service may be called 42.
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

// identifier returns the name, quoted unless it is a plain identifier.
func identifier(name string) string {
	for i, c := range []byte(name) {
		if !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '_' || i > 0 && '0' <= c && c <= '9') {
			return `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
		}
	}
	return name
}

// pattern returns a glob that matches only the path. DuckDB globs have no escape character, so special characters are
// put into sets of one character.
func pattern(path string) string {
	return strings.NewReplacer("*", "[*]", "?", "[?]", "[", "[[]").Replace(path)
}
