package e2e

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// parquetFiles returns the Parquet files below a directory that engines read.
func parquetFiles(t *testing.T, dir string) (files []string) {
	t.Helper()
	must(t, filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(name, ".parquet") {
			files = append(files, name)
		}
		return err
	}))
	return files
}

// collect adds traces to a dataset. Some of them are cut.
func collect(t *testing.T, set string, traces []string, flags ...string) {
	t.Helper()
	args := append([]string{"to", "parquet", "-q", "--dataset", set}, flags...)
	if r := run(t, command, append(args, traces...)...); r.code != complete && r.code != incomplete {
		t.Fatalf("exit code %d\n%s", r.code, r.stderr)
	}
}

// Independent readers find the same numbers in the files of a dataset: those that traces share, those of one trace, to which columns
// were appended, and those without rows.
func TestReadersOfDatasets(t *testing.T) {
	dir := t.TempDir()
	shared := filepath.Join(dir, "shared")
	collect(t, shared, tracesForTables(t))
	alone := filepath.Join(dir, "alone")
	succeed(t, "to", "parquet", "-q", "--dataset", alone, "--typed", "all", find(t, "otel-cpu").path)
	compareReaders(t, dir, append(parquetFiles(t, shared), parquetFiles(t, alone)...))
}

// Every table of a dataset, read by its directory, has the rows that the same traces have as tables of their own.
func TestDatasetTables(t *testing.T) {
	traces := tracesForTables(t)
	dir := t.TempDir()
	fleet := filepath.Join(dir, "fleet")
	collect(t, fleet, traces, "--partition", "service,day,hour")
	succeed(t, "dataset", "optimize", "-q", fleet)
	program, err := duckdb()
	must(t, err)
	query := func(q, in string) string {
		r := run(t, program, "-csv", "-nullvalue", "", "-c", fmt.Sprintf(q, in))
		if r.code != 0 {
			t.Fatalf("%s: %s", fmt.Sprintf(q, in), r.stderr)
		}
		return string(r.stdout)
	}
	const types = "hive_types = {'service': VARCHAR, 'hour': INTEGER}"
	tables := []string{"trace_info", "events", "samples", "stacks", "frames", "intervals", "spans", "threads", "event_types", "counters", "logs", "losses",
		"event_clr_GCAllocationTick", "event_clr_ExceptionThrown", "event_clr_GCEnd", "event_clr_TypeLoadStop", "event_rundown_MethodDCEndVerbose"}
	sums := func(from func(table string) string) string {
		var parts []string
		for _, table := range tables {
			a, b := "NULL", "NULL"
			switch {
			case table == "trace_info":
				a, b = "sum(event_count)", "sum(start_ns)"
			case table == "samples":
				a, b = "sum(value)", "sum(ts_ns)"
			case table == "events", strings.HasPrefix(table, "event_clr"), strings.HasPrefix(table, "event_rundown"):
				a, b = "sum(ts_ns)", "count(stack_id)"
			}
			parts = append(parts, fmt.Sprintf("SELECT '%s' AS name, count(*) AS n, %s AS a, %s AS b FROM %s", table, a, b, from(table)))
		}
		return strings.Join(parts, " UNION ALL ") + " ORDER BY name"
	}
	view := func(table string) string { return table }
	fromDirectories := query(sums(func(table string) string { return "read_parquet('%[1]s/" + table + "/**/*.parquet', " + types + ")" }), fleet)
	if fromTraces := queried(t, sums(view), traces...); fromTraces != fromDirectories || strings.Count(fromTraces, "\n") != len(tables)+1 {
		t.Errorf("the dataset has\n%s\nthe traces have\n%s", fromDirectories, fromTraces)
	}
	if fromDataset := queried(t, sums(view), fleet); fromDataset != fromDirectories {
		t.Errorf("the directories have\n%s\nntconv sql finds\n%s", fromDirectories, fromDataset)
	}
	// A partition is that of its directory, and that of the column in the file.
	const byKeys = "SELECT service, day, hour, count(*) AS n FROM read_parquet('%s', " + types + ") GROUP BY ALL ORDER BY ALL"
	byPath, byColumn := query(byKeys, fleet+"/events/**/*.parquet"), query(strings.Replace(byKeys, types, "hive_partitioning = false", 1), fleet+"/events/**/*.parquet")
	if byPath != byColumn || strings.Count(byPath, "\n") < 5 {
		t.Errorf("by path\n%s\nby column\n%s", byPath, byColumn)
	}
}

// A service is what it is called, also if engines have a meaning for such a name, by the directories and by the column.
func TestDatasetNames(t *testing.T) {
	program, err := duckdb()
	must(t, err)
	names := []string{"42", "NULL", "a b/c=d%41", "null", "shop"}
	fleet := filepath.Join(t.TempDir(), "fleet")
	for i, trace := range tracesForTables(t)[:len(names)] {
		collect(t, fleet, []string{trace}, "--typed", "none", "--service", names[i])
	}
	want := "service\n" + strings.Join(names, "\n") + "\n"
	for _, hive := range []string{"true, hive_types = {'service': VARCHAR}", "false"} {
		query := fmt.Sprintf("SELECT DISTINCT service FROM read_parquet('%s/events/*/*/*.parquet', hive_partitioning = %s) WHERE service IS NOT NULL ORDER BY ALL", fleet, hive)
		if r := run(t, program, "-csv", "-c", query); strings.ReplaceAll(string(r.stdout), `"`, "") != want {
			t.Errorf("hive_partitioning = %s:\n%s%s", hive, r.stdout, r.stderr)
		}
	}
}

// queried returns the result of a query over inputs, of which some may be cut.
func queried(t *testing.T, query string, inputs ...string) string {
	t.Helper()
	r := sqlResult(t, append([]string{"-q", query}, inputs...)...)
	if r.code != complete && r.code != incomplete {
		t.Fatalf("%s: exit code %d\n%s", query, r.code, r.stderr)
	}
	return string(r.stdout)
}

// A query sees whole commits while other commands add traces, join files and remove traces: all of its tables have the same traces.
// A query may fail instead, if a file that it reads is removed.
func TestDatasetSnapshots(t *testing.T) {
	traces := tracesForTables(t)
	fleet := filepath.Join(t.TempDir(), "fleet")
	collect(t, fleet, traces[:2])
	stop := make(chan struct{})
	changes := make(chan int)
	go func() {
		n := 0
		defer func() { changes <- n }()
		for ; ; n++ {
			select {
			case <-stop:
				return
			default:
			}
			switch trace := traces[n%len(traces)]; n % 4 {
			case 0, 1:
				run(t, command, "to", "parquet", "-q", "--dataset", fleet, trace)
			case 2:
				run(t, command, "dataset", "optimize", "-q", fleet)
			case 3:
				run(t, command, "dataset", "rm", fleet, "--where", "service=shopotel")
			}
		}
	}()
	failed, different := 0, map[string]bool{}
	for range 25 {
		r := sqlResult(t, "-q", `SELECT (SELECT count(*) FROM events), (SELECT sum(event_count)::BIGINT FROM trace_info),
			(SELECT count(*) FROM samples), (SELECT sum(sample_count)::BIGINT FROM trace_info)`, fleet)
		if r.code != complete {
			if !strings.Contains(string(r.stderr), "run the query again") {
				t.Errorf("exit code %d: %s", r.code, r.stderr)
			}
			failed++
			continue
		}
		_, row, _ := strings.Cut(string(r.stdout), "\n")
		n := strings.Split(strings.TrimSpace(row), ",")
		if len(n) != 4 || n[0] != n[1] || n[2] != n[3] || n[0] == "0" {
			t.Errorf("events, those of trace_info, samples, those of trace_info: %s", row)
		}
		different[row] = true
	}
	close(stop)
	t.Logf("%d changes, %d different results, %d failed queries", <-changes, len(different), failed)
	if len(different) < 2 || failed > 20 {
		t.Errorf("%d different results, %d failed queries", len(different), failed)
	}
	if r := run(t, command, "dataset", "verify", "-q", fleet); r.code != complete {
		t.Errorf("verify: %s%s", r.stdout, r.stderr)
	}
}
