package e2e

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// sqlResult runs ntconv sql with DuckDB and returns its result. The run must leave no temporary files.
func sqlResult(t *testing.T, args ...string) result {
	t.Helper()
	program, err := duckdb()
	must(t, err)
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	r := run(t, command, append([]string{"sql", "--duckdb", program}, args...)...)
	left, err := os.ReadDir(temp)
	must(t, err)
	if len(left) > 0 {
		t.Errorf("sql %q left temporary files: %v", args, left)
	}
	return r
}

const countEvents = "SELECT provider, event, count(*) AS events, count(payload) AS payloads FROM events GROUP BY ALL ORDER BY ALL"

// A query has the same result for traces, for their tables, and for a dataset of them.
func TestSQLInputs(t *testing.T) {
	traces := []string{find(t, "alloc-verbose").path, find(t, "exceptions").path}
	fresh := sqlResult(t, append([]string{"-q", countEvents}, traces...)...)
	if fresh.code != complete || len(fresh.stderr) > 0 || bytes.Count(fresh.stdout, []byte("\n")) < 20 {
		t.Fatalf("exit code %d, %d bytes\n%s", fresh.code, len(fresh.stdout), fresh.stderr)
	}

	dir := t.TempDir()
	odd := []string{"it's [a] *trace?.parquet", "b.parquet"}
	for i, path := range traces {
		succeed(t, "to", "parquet", "-q", path, "-o", filepath.Join(dir, odd[i])+"/")
		odd[i] = filepath.Join(dir, odd[i])
	}
	if got := sqlResult(t, append([]string{countEvents}, odd...)...); !bytes.Equal(got.stdout, fresh.stdout) {
		t.Errorf("tables: got\n%s%s\nwant\n%s", got.stdout, got.stderr, fresh.stdout)
	}
	if got := sqlResult(t, append([]string{"-q", countEvents, traces[0]}, odd[1:]...)...); !bytes.Equal(got.stdout, fresh.stdout) {
		t.Errorf("a trace and tables: got\n%s%s\nwant\n%s", got.stdout, got.stderr, fresh.stdout)
	}

	fleet := filepath.Join(dir, "fleet")
	succeed(t, append([]string{"to", "parquet", "-q", "--dataset", fleet, "--partition", "day,service"}, traces...)...)
	if got := sqlResult(t, countEvents, fleet); !bytes.Equal(got.stdout, fresh.stdout) {
		t.Errorf("dataset: got\n%s%s\nwant\n%s", got.stdout, got.stderr, fresh.stdout)
	}
	got := sqlResult(t, "SELECT day, service, count(DISTINCT trace) AS traces FROM events GROUP BY ALL", fleet)
	if want := "day,service,traces\n2026-11-21,shop,2\n"; string(got.stdout) != want {
		t.Errorf("partitions: got\n%s%s\nwant\n%s", got.stdout, got.stderr, want)
	}
	checkFleetView(t, fleet)
}

// checkFleetView runs the statement of docs/sql.md that defines a view over a dataset without ntconv.
func checkFleetView(t *testing.T, fleet string) {
	t.Helper()
	page := contentAt(t, "../docs/sql.md")
	view := regexp.MustCompile("(?s)```sql\n(CREATE VIEW spans AS.*?)```").FindSubmatch(page)
	if view == nil {
		t.Fatal("docs/sql.md has no view over a dataset")
	}
	program, err := duckdb()
	must(t, err)
	statement := strings.ReplaceAll(strings.ReplaceAll(string(view[1]), "warehouse", fleet), "spans", "events")
	r := run(t, program, "-csv", "-c", statement+"; SELECT count(DISTINCT trace) AS traces, typeof(any_value(trace)) AS type FROM events")
	if want := "traces,type\n2,VARCHAR\n"; r.code != 0 || string(r.stdout) != want {
		t.Errorf("got\n%s%s\nwant\n%s", r.stdout, r.stderr, want)
	}
}

// The printed views work in a separate DuckDB session.
func TestSQLViews(t *testing.T) {
	tables := &tableDirs{dir: t.TempDir()}
	dir := tables.of(t, "alloc-verbose")
	program, err := duckdb()
	must(t, err)
	r := run(t, command, "sql", "--views", dir)
	if r.code != complete {
		t.Fatalf("exit code %d\n%s", r.code, r.stderr)
	}
	views := filepath.Join(t.TempDir(), "views.sql")
	must(t, os.WriteFile(views, r.stdout, 0o666))
	cmd := exec.Command(program, "-csv", "-nullvalue", "", "-init", views, "-c", countEvents)
	got, err := cmd.Output()
	must(t, err)
	if want := sql(t, countEvents, dir); string(got) != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// A selection applies when a trace is converted. The message about a truncated trace follows the result.
func TestSQLOfParts(t *testing.T) {
	path := find(t, "cpu-default").path
	r := sqlResult(t, "-q", "--tid", "15722", "--format", "json", "SELECT count(*) AS n, count(DISTINCT tid) AS threads FROM samples", path)
	if r.code != complete {
		t.Fatalf("exit code %d\n%s", r.code, r.stderr)
	}
	row := rowsOf(t, string(r.stdout))[0]
	if n := row.number(t, "n"); n < 100 || n > 500 || row.number(t, "threads") != 1 {
		t.Errorf("selection of a thread: %v", row)
	}

	cut := sqlResult(t, "SELECT count(*) > 0 AS ok FROM events", find(t, "stress-cut").path)
	if cut.code != incomplete || string(cut.stdout) != "ok\ntrue\n" || !strings.Contains(string(cut.stderr), "stress-cut") {
		t.Errorf("cut: exit code %d, output %q, messages %q", cut.code, cut.stdout, cut.stderr)
	}
}

// The user gets DuckDB's message with the next step, and standard output is empty.
func TestSQLMistakes(t *testing.T) {
	path := find(t, "empty").path
	for query, want := range map[string]string{"SELEC 1": "Parser Error", "SELECT x FROM nothing": "Catalog Error", "SELECT nothing FROM events": "Binder Error"} {
		r := sqlResult(t, "-q", query, path)
		if r.code != 1 || len(r.stdout) > 0 || !bytes.Contains(r.stderr, []byte(want)) || !bytes.Contains(r.stderr, []byte("SHOW TABLES")) {
			t.Errorf("%s: exit code %d, output %q, messages %q", query, r.code, r.stdout, r.stderr)
		}
	}
}
