//go:build unix

package main

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// fakeDuckDB puts a program on the PATH that prints its arguments and what it reads, and then runs a shell command. e2e
// has tests with DuckDB itself.
func fakeDuckDB(t *testing.T, then string) {
	t.Helper()
	dir := t.TempDir()
	script := "#!/bin/sh\nwhile [ $# -gt 0 ]; do echo \"arg $1\"; if [ \"$1\" = -init ]; then sed 's/^/init /' \"$2\"; fi; shift; done\nsed 's/^/in /'\n" + then + "\n"
	must(t, os.WriteFile(filepath.Join(dir, "duckdb"), []byte(script), 0o755))
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
}

// runSQL runs ntconv sql, which must leave no temporary files.
func runSQL(t *testing.T, args ...string) result {
	t.Helper()
	temp := t.TempDir()
	r := invoke(t, temp, nil, append([]string{"sql"}, args...)...)
	if left := files(t, temp); len(left) > 0 {
		t.Errorf("sql %q left temporary files: %q", args, left)
	}
	return r
}

// tableDir makes a directory that looks like the tables of a trace.
func tableDir(t *testing.T, name string, tables ...string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), name)
	must(t, os.MkdirAll(dir, 0o777))
	for _, table := range tables {
		must(t, os.WriteFile(filepath.Join(dir, table+".parquet"), nil, 0o666))
	}
	return dir
}

// The query reaches DuckDB through standard input, the views through a file, and the form as an option.
func TestSQL(t *testing.T) {
	fakeDuckDB(t, "exit 0")
	dir := tableDir(t, "app.parquet", "events", "trace_info")
	r := runSQL(t, "--format", "json", "SELECT 1", dir)
	if r.code != exitOK || r.stderr != "" {
		t.Fatalf("exit code %d, messages %q", r.code, r.stderr)
	}
	lines := slices.Collect(strings.Lines(r.stdout))
	for _, want := range []string{"arg -json\n", "arg -bail\n", "arg :memory:\n", "init SET TimeZone = 'UTC';\n", "init CREATE OR REPLACE VIEW events AS\n", "in SELECT 1\n", "in ;\n"} {
		if !slices.Contains(lines, want) {
			t.Errorf("DuckDB did not get %q:\n%s", want, r.stdout)
		}
	}
}

// A query that fails is an error with DuckDB's own message and without its note on -init.
func TestSQLFails(t *testing.T) {
	fakeDuckDB(t, "echo '-- Loading resources from x' >&2; echo 'Binder Error: no such thing' >&2; exit 1")
	dir := tableDir(t, "app.parquet", "events")
	r := runSQL(t, "SELECT 1", dir)
	if r.code != exitUsage || !strings.HasPrefix(r.stderr, "Binder Error: no such thing\n") || strings.Contains(r.stderr, "Loading") || !strings.Contains(r.stderr, "SHOW TABLES") {
		t.Errorf("exit code %d, messages %q", r.code, r.stderr)
	}
}

// Without DuckDB nothing is converted, and the error says where to get it.
func TestSQLWithoutDuckDB(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	r := runSQL(t, "SELECT 1", "no-such-trace")
	if r.code != exitUsage || r.stdout != "" || !strings.Contains(r.stderr, duckdbPlace) || !strings.Contains(r.stderr, "--duckdb") {
		t.Errorf("exit code %d, output %q, messages %q", r.code, r.stdout, r.stderr)
	}
}

func TestSQLUsage(t *testing.T) {
	fakeDuckDB(t, "exit 0")
	dir := tableDir(t, "app.parquet", "events")
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{}, exitUsage, "missing query"},
		{[]string{dir}, exitUsage, "missing query before"},
		{[]string{"SELECT 1"}, exitUsage, "missing trace"},
		{[]string{" ", dir}, exitUsage, "the query is empty"},
		{[]string{"-f", "-", "-"}, exitUsage, "standard input cannot be both"},
		{[]string{"-f", "no-such-file", dir}, exitInput, "no-such-file"},
		{[]string{"--views", "-f", "x", dir}, exitUsage, "--views takes no query"},
		{[]string{"--views", trace(t, "empty")}, exitUsage, "ntconv to parquet"},
		{[]string{"--format", "xml", "SELECT 1", dir}, exitUsage, "markdown"},
		{[]string{"--pid", "1", "SELECT 1", dir}, exitUsage, "WHERE"},
		{[]string{"SELECT 1", "no-such-trace"}, exitInput, "no-such-trace"},
	} {
		r := runSQL(t, c.args...)
		if r.code != c.code || !strings.Contains(r.stderr, c.want) {
			t.Errorf("sql %q: exit code %d, want %d; messages %q, want %q", c.args, r.code, c.code, r.stderr, c.want)
		}
	}
}

// --views prints views over a dataset by the keys of its directories.
func TestSQLViews(t *testing.T) {
	root := filepath.Join(t.TempDir(), "fleet")
	succeed(t, t.TempDir(), "to", "parquet", "-q", "--dataset", root, "--partition", "day,service", trace(t, "empty"))
	r := runSQL(t, "--views", root)
	if r.code != exitOK || r.stderr != "" || !strings.Contains(r.stdout, "/day=*/service=*/trace=*/events.parquet'") {
		t.Errorf("exit code %d, messages %q, output\n%s", r.code, r.stderr, r.stdout)
	}
	// A trace that is there twice would be joined with its copy.
	inside, err := filepath.Glob(filepath.Join(root, "*", "*", "trace=*"))
	if err != nil || len(inside) != 1 {
		t.Fatal(inside, err)
	}
	for _, twice := range [][]string{{root, root}, {inside[0], root}} {
		if r := runSQL(t, append([]string{"--views"}, twice...)...); r.code != exitUsage || !strings.Contains(r.stderr, "in more than one of the inputs") {
			t.Errorf("%q: exit code %d, messages %q", twice, r.code, r.stderr)
		}
	}
	if r := runSQL(t, "--views", root, inside[0]); r.code != exitOK || !strings.Contains(r.stdout, "_2' AS trace") {
		t.Errorf("exit code %d, messages %q, output\n%s", r.code, r.stderr, r.stdout)
	}
	traces, err := filepath.Glob(filepath.Join(root, "day=*"))
	if err != nil || len(traces) != 1 {
		t.Fatal(traces, err)
	}
	must(t, os.RemoveAll(traces[0]))
	if r := runSQL(t, "--views", root); r.code != exitInput || !strings.Contains(r.stderr, "no traces") {
		t.Errorf("exit code %d, messages %q", r.code, r.stderr)
	}
}

// A signal ends DuckDB, too, and removes the temporary files that it reads.
func TestSQLInterrupted(t *testing.T) {
	started := filepath.Join(t.TempDir(), "started")
	fakeDuckDB(t, "echo $$ > "+started+".tmp; mv "+started+".tmp "+started+"; exec sleep 600")
	temp := t.TempDir()
	cmd := command(t, temp, "sql", "SELECT 1", tableDir(t, "app.parquet", "events"))
	must(t, cmd.Start())
	var pid int
	waitFor(t, "the start of the program", func() bool {
		b, err := os.ReadFile(started)
		if err != nil {
			return false
		}
		pid, err = strconv.Atoi(strings.TrimSpace(string(b)))
		must(t, err)
		return true
	})
	must(t, cmd.Process.Signal(syscall.SIGTERM))
	if code := exitCode(t, cmd.Wait()); code != exitSignal+int(syscall.SIGTERM) {
		t.Errorf("exit code %d", code)
	}
	if left := files(t, temp); len(left) > 0 {
		t.Errorf("left temporary files: %q", left)
	}
	waitFor(t, "the end of DuckDB", func() bool { return syscall.Kill(pid, 0) != nil })
}

// A signal during the conversion removes what was converted.
func TestSQLInterruptedConversion(t *testing.T) {
	fakeDuckDB(t, "exit 0")
	temp := t.TempDir()
	cmd := command(t, temp, "sql", "SELECT 1", "-")
	in, err := cmd.StdinPipe()
	must(t, err)
	defer in.Close()
	must(t, cmd.Start())
	data := unpacked(t, "cpu-env")
	if _, err := in.Write(data[:len(data)/2]); err != nil {
		t.Fatal(err)
	}
	waitFor(t, "tables that are being written", func() bool {
		found, _ := filepath.Glob(filepath.Join(temp, "ntconv-*", ".ntconv-*"))
		return len(found) > 0
	})
	must(t, cmd.Process.Signal(syscall.SIGTERM))
	if code := exitCode(t, cmd.Wait()); code != exitSignal+int(syscall.SIGTERM) {
		t.Errorf("exit code %d", code)
	}
	if left := files(t, temp); len(left) > 0 {
		t.Errorf("left temporary files: %q", left)
	}
}

// A query for a table that the input does not have mentions the flag that makes tables of event types.
func TestMissingTypedTable(t *testing.T) {
	for message, want := range map[string]bool{
		"Catalog Error: Table with name GCStart does not exist!": true, "Binder Error: no such column": false,
	} {
		fakeDuckDB(t, "echo '"+message+"' >&2; exit 1")
		r := invoke(t, t.TempDir(), nil, "sql", "SELECT * FROM GCStart", trace(t, "cpu-env"))
		if r.code != exitUsage || strings.Contains(r.stderr, "converted with ntconv to parquet --typed\n") != want {
			t.Errorf("%q: code %d: %s", message, r.code, r.stderr)
		}
	}
}
