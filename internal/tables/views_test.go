package tables

import (
	"strings"
	"testing"
)

// A view reads a table only from the sources that have it, because DuckDB rejects missing files.
func TestViews(t *testing.T) {
	got := Views([]Source{
		{Dir: "a/", Trace: "a", Tables: []string{"event_x_Y", "events", "stacks"}},
		{Dir: "it's", Trace: "it's", Tables: []string{"events"}},
		{Dir: "fleet", Keys: []string{"day", "service", "trace"}, Tables: []string{"events"}},
	})
	want := `CREATE OR REPLACE VIEW events AS
  SELECT 'a' AS trace, * FROM read_parquet('a/events.parquet', hive_partitioning = false)
  UNION ALL BY NAME SELECT 'it''s' AS trace, * FROM read_parquet('it''s/events.parquet', hive_partitioning = false)
  UNION ALL BY NAME SELECT trace, * EXCLUDE (trace) FROM read_parquet('fleet/day=*/service=*/trace=*/events.parquet', union_by_name = true, hive_partitioning = true, hive_types = {'day': DATE, 'service': VARCHAR, 'trace': VARCHAR});
CREATE OR REPLACE VIEW stacks AS
  SELECT 'a' AS trace, * FROM read_parquet('a/stacks.parquet', hive_partitioning = false);
CREATE OR REPLACE VIEW event_x_Y AS
  SELECT 'a' AS trace, * FROM read_parquet('a/event_x_Y.parquet', hive_partitioning = false);
`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// The macros exist only with the tables that they read.
func TestMacros(t *testing.T) {
	for _, c := range []struct {
		tables []string
		want   bool
	}{{needs, true}, {needs[1:], false}} {
		got := Views([]Source{{Dir: "d", Trace: "d", Tables: c.tables}})
		if strings.Contains(got, "MACRO methods") != c.want {
			t.Errorf("tables %q: got\n%s", c.tables, got)
		}
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
