package tables

import (
	"fmt"
	"slices"
	"strings"
)

// A Source is the directory of one trace, or a dataset.
type Source struct {
	// Dir is the directory. Views contain it unchanged, so a relative path is relative to the working directory of
	// DuckDB.
	Dir string
	// Trace is the value of the column trace. It is ignored for a dataset.
	Trace string
	// Keys are the partition keys of a dataset, outermost first, ending with trace. Nil means that Dir contains one
	// trace.
	Keys []string
	// Tables are the names of the tables of the source. A view omits a source without the table, because DuckDB rejects
	// missing files.
	Tables []string
}

// Setup is SQL to run at the start of a session. It shows times in UTC, so that results do not depend on the machine.
const Setup = "SET TimeZone = 'UTC';\n"

// needs lists the tables that macros reads.
var needs = []string{"stacks", "frames", "samples"}

// Views returns statements that create a view for each table that at least one source has. The views and macros of
// macros follow if their tables exist.
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

// union returns the tables of all sources: fixed tables in the order of the documentation, then typed tables by name.
func union(sources []Source) (names []string) {
	var all []string
	for i := range sources {
		all = append(all, sources[i].Tables...)
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
