package e2e

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// DuckDB computes the same tables from the events in Parquet as print --stats from the trace.
func TestStatisticsOfDuckDB(t *testing.T) {
	tables := &tableDirs{dir: t.TempDir()}
	for _, c := range []struct{ trace, event, table, by, key, of, value string }{
		{"alloc-verbose", "GCAllocationTick", "event_clr_GCAllocationTick", "TypeName", "TypeName", "AllocationAmount64", "AllocationAmount64"},
		{"jit", "MethodLoadVerbose", "event_clr_MethodLoadVerbose", "MethodNamespace", "MethodNamespace", "MethodSize", "MethodSize"},
		{"jit", "", "events", "$event", "event", "$tid", "tid"},
		{"exceptions", "ExceptionThrown", "event_clr_ExceptionThrown", "ExceptionType", "ExceptionType", "ExceptionFlags", "ExceptionFlags"},
	} {
		query := fmt.Sprintf(`SELECT %[1]s AS key, count(*), sum(%[2]s), min(%[2]s), quantile_disc(%[2]s, 0.5), quantile_disc(%[2]s, 0.9),
			quantile_disc(%[2]s, 0.99), max(%[2]s) FROM %[3]s GROUP BY key ORDER BY 3 DESC, 2 DESC, key`, c.key, c.value, c.table)
		want, err := csv.NewReader(strings.NewReader(sql(t, query, tables.of(t, c.trace)))).ReadAll()
		if err != nil || len(want) < 3 {
			t.Fatalf("%s: %d lines, %v", c.event, len(want), err)
		}
		args := []string{"print", "--stats", "--json", "-n", "0", "--by", c.by, "--of", c.of, find(t, c.trace).path}
		if c.event != "" {
			args = append(args, "--event", c.event)
		}
		r := run(t, command, args...)
		var o struct {
			Rows []struct {
				By                           map[string]string
				Values                       json.Number
				Sum, Min, P50, P90, P99, Max json.Number
			}
		}
		decode(t, r.stdout, &o)
		var got [][]string
		for _, x := range o.Rows {
			row := []string{x.By[c.by]}
			for _, n := range []json.Number{x.Values, x.Sum, x.Min, x.P50, x.P90, x.P99, x.Max} {
				row = append(row, n.String())
			}
			got = append(got, row)
		}
		if !slices.EqualFunc(got, want[1:], slices.Equal) {
			t.Errorf("%s by %s:\n%v\nDuckDB:\n%v", c.event, c.by, got, want[1:])
		}
	}
}
