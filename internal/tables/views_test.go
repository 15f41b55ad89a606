package tables

import (
	"slices"
	"strings"
	"testing"
)

func sourceTables(names ...string) (list []SourceTable) {
	for _, name := range names {
		list = append(list, SourceTable{Name: name})
	}
	return list
}

// A view reads a table only from the sources that have it, because DuckDB rejects missing files.
func TestViews(t *testing.T) {
	keys := []string{"day", "service"}
	got := Views([]Source{
		{Dir: "a/", Trace: "a", Tables: sourceTables("event_x_Y", "events", "stacks")},
		{Dir: "it's", Trace: "it's", Tables: sourceTables("events")},
		{Dir: "fleet", Keys: keys, Tables: sourceTables("events")},
		{Dir: "set", Keys: keys, Tables: []SourceTable{{Name: "events", Files: []string{"events/day=1/b.parquet", "events/day=2/a.parquet"}, Differs: true}}, Trace: "77"},
	}, nil)
	want := `CREATE OR REPLACE VIEW events AS
  SELECT 'a' AS trace, * FROM read_parquet('a/events.parquet', hive_partitioning = false)
  UNION ALL BY NAME SELECT 'it''s' AS trace, * FROM read_parquet('it''s/events.parquet', hive_partitioning = false)
  UNION ALL BY NAME SELECT trace, * EXCLUDE (trace) FROM read_parquet('fleet/events/*/*/*.parquet', hive_partitioning = true, hive_types = {'day': DATE, 'service': VARCHAR})
  UNION ALL BY NAME SELECT trace, * EXCLUDE (trace) FROM read_parquet(['set/events/day=1/b.parquet', 'set/events/day=2/a.parquet'], union_by_name = true, hive_partitioning = true, hive_types = {'day': DATE, 'service': VARCHAR}) WHERE trace = '77';
CREATE OR REPLACE VIEW stacks AS
  SELECT 'a' AS trace, * FROM read_parquet('a/stacks.parquet', hive_partitioning = false);
CREATE OR REPLACE VIEW event_x_Y AS
  SELECT 'a' AS trace, * FROM read_parquet('a/event_x_Y.parquet', hive_partitioning = false);
`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// A query binds what it names, what its macros read, and everything if it asks for the tables.
func TestNamed(t *testing.T) {
	for query, want := range map[string]string{
		"SELECT 1": "", "FROM events": "events", `SELECT * FROM "Events" JOIN event_x_Y USING (trace)`: "events event_x_Y",
		"FROM methods('wall')": "stacks frames samples", "SHOW TABLES": "all", "DESCRIBE samples": "all", "FROM duckdb_tables()": "all",
		"FROM query_table('even' || 'ts')": "all", ".tables": "all", "SELECT eventsx, x_events": "",
	} {
		named, got := Named(query), ""
		all := []string{"events", "stacks", "frames", "samples", "spans", "event_x_Y"}
		for _, table := range all {
			if named(table) {
				got += " " + table
			}
		}
		if want == "all" {
			want = strings.Join(all, " ")
		}
		gotList, wantList := strings.Fields(got), strings.Fields(want)
		slices.Sort(gotList)
		slices.Sort(wantList)
		if !slices.Equal(gotList, wantList) {
			t.Errorf("%s: %v, want %v", query, gotList, wantList)
		}
	}
}

// The macros exist only with the tables that they read.
func TestMacros(t *testing.T) {
	for _, c := range []struct {
		tables []string
		want   bool
	}{{macroTables, true}, {macroTables[1:], false}} {
		got := Views([]Source{{Dir: "d", Trace: "d", Tables: sourceTables(c.tables...)}}, nil)
		if strings.Contains(got, "MACRO methods") != c.want {
			t.Errorf("tables %q: got\n%s", c.tables, got)
		}
	}
	for _, name := range macroNames {
		if !strings.Contains(macros, " "+name+"(") && !strings.Contains(macros, " "+name+" AS") {
			t.Errorf("macros do not define %s", name)
		}
	}
	if n := strings.Count(macros, "CREATE OR REPLACE"); n != len(macroNames) {
		t.Errorf("macros define %d names, want %d", n, len(macroNames))
	}
}

func TestQuoting(t *testing.T) {
	for in, want := range map[string]string{"a b": `"a b"`, `a"b`: `"a""b"`, "x_1": "x_1", "1x": `"1x"`} {
		if got := identifier(in); got != want {
			t.Errorf("identifier(%q) = %s, want %s", in, got, want)
		}
	}
	if got, want := pattern("a*b?[c]"), "a[*]b[?][[]c]"; got != want {
		t.Errorf("pattern: got %s, want %s", got, want)
	}
}
