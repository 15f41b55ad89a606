//go:build unix

package command

import (
	"os"
	"os/exec"
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
	r := runSQL(t, "--format", "json", "SELECT 1 FROM events", dir)
	if r.code != exitOK || r.stderr != "" {
		t.Fatalf("exit code %d, messages %q", r.code, r.stderr)
	}
	lines := slices.Collect(strings.Lines(r.stdout))
	for _, want := range []string{"arg -json\n", "arg -bail\n", "arg :memory:\n", "init SET TimeZone = 'UTC';\n", "init CREATE OR REPLACE VIEW events AS\n", "in SELECT 1 FROM events\n", "in ;\n"} {
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

// The companion is found next to the command, and a duckdb on the PATH goes first.
func TestSQLCompanion(t *testing.T) {
	dir := t.TempDir()
	own, err := os.Executable()
	must(t, err)
	data, err := os.ReadFile(own)
	must(t, err)
	copied := filepath.Join(dir, "ntconv")
	must(t, os.WriteFile(copied, data, 0o755))
	for _, name := range []string{companion, "path/duckdb"} {
		must(t, os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o755))
		must(t, os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\necho "+filepath.Base(name)+" answers\n"), 0o755))
	}
	for path, want := range map[string]string{"none": companion, "path": "duckdb"} {
		cmd := exec.Command(copied, "sql", "SELECT 1", tableDir(t, "app.parquet", "events"))
		cmd.Env = append(os.Environ(), asCommand+"=1", "TMPDIR="+dir, "PATH="+filepath.Join(dir, path))
		out, err := cmd.CombinedOutput()
		if err != nil || string(out) != want+" answers\n" {
			t.Errorf("PATH %s: %v: %s", path, err, out)
		}
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
	if r.code != exitOK || r.stderr != "" || !strings.Contains(r.stdout, "/events/*/*/*.parquet'") {
		t.Errorf("exit code %d, messages %q, output\n%.300s", r.code, r.stderr, r.stdout)
	}
	// A trace that is there twice would be joined with its copy.
	inside := tracesOf(t, filepath.Dir(root), root)[0]
	for _, twice := range [][]string{{root, root}, {inside.Path, root}, {root, inside.Path}, {inside.Path, inside.Path}} {
		if r := runSQL(t, append([]string{"--views"}, twice...)...); r.code != exitUsage || !strings.Contains(r.stderr, "in more than one of the inputs") {
			t.Errorf("%q: exit code %d, messages %q", twice, r.code, r.stderr)
		}
	}
	if r := runSQL(t, "--views", inside.Path); r.code != exitOK || !strings.Contains(r.stdout, " WHERE trace = '"+inside.UID+"'") {
		t.Errorf("a trace of a dataset: exit code %d, messages %q, output\n%.300s", r.code, r.stderr, r.stdout)
	}
	// The tables of a dataset without traces stay.
	succeed(t, t.TempDir(), "dataset", "rm", root, inside.UID)
	if r := runSQL(t, "--views", root); r.code != exitOK || !strings.Contains(r.stdout, "/events/*/*/*.parquet'") {
		t.Errorf("exit code %d, messages %q", r.code, r.stderr)
	}
	fakeDuckDB(t, "exit 0")
	if r := runSQL(t, "FROM events", root); r.code != exitOK || r.stderr != "" || !strings.Contains(r.stdout, "VIEW events AS") || !strings.Contains(r.stdout, "['"+root+"/events/day=__HIVE") {
		t.Errorf("exit code %d, messages %q, output\n%.600s", r.code, r.stderr, r.stdout)
	}
	// A directory of the dataset is not the dataset.
	for _, part := range []string{"events", "_commits"} {
		r := runSQL(t, "FROM events", filepath.Join(root, part))
		if r.code != exitUsage || !strings.Contains(r.stderr, part+": this is not a whole dataset; name the dataset, and the table in the query: ntconv sql 'SHOW TABLES' "+root) {
			t.Errorf("exit code %d, messages %q", r.code, r.stderr)
		}
	}
}

// Traces that two datasets have are noted, because a query finds them in both.
func TestSQLShared(t *testing.T) {
	fakeDuckDB(t, "exit 0")
	dir := t.TempDir()
	for set, names := range map[string][]string{"a": {"jit", "threads", "empty"}, "b": {"empty", "jit", "activities"}, "c": {"activities"}} {
		args := []string{"to", "parquet", "-q", "--typed", "none", "--dataset", filepath.Join(dir, set)}
		for _, name := range names {
			args = append(args, trace(t, name))
		}
		succeed(t, dir, args...)
	}
	r := invoke(t, dir, nil, "sql", "FROM events", "a", "b", "c")
	if want := "ntconv: b: 2 traces are also in a: the query finds their rows in both\nntconv: c: 1 trace is also in b: the query finds their rows in both\n"; r.code != exitOK || r.stderr != want {
		t.Errorf("exit code %d, messages %q, want %q", r.code, r.stderr, want)
	}
	if r := invoke(t, dir, nil, "sql", "FROM events", "a", "c"); r.code != exitOK || r.stderr != "" {
		t.Errorf("nothing shared: exit code %d, messages %q", r.code, r.stderr)
	}
}

// A query binds the tables that it names, in the files that the dataset has, and inputs of one name are told apart.
func TestSQLBinds(t *testing.T) {
	fakeDuckDB(t, "exit 0")
	dir := t.TempDir()
	root := filepath.Join(dir, "fleet")
	succeed(t, dir, "to", "parquet", "-q", "--dataset", root, trace(t, "jit"), trace(t, "threads"))
	views := func(args ...string) []string {
		r := runSQL(t, args...)
		if r.code != exitOK {
			t.Errorf("%q: exit code %d, messages %q", args, r.code, r.stderr)
		}
		var list []string
		for line := range strings.Lines(r.stdout) {
			if rest, ok := strings.CutPrefix(line, "init CREATE OR REPLACE VIEW "); ok {
				list = append(list, strings.TrimSuffix(rest, " AS\n"))
			}
		}
		return list
	}
	if got := views("SELECT 1", root); len(got) > 0 {
		t.Errorf("views of no table: %q", got)
	}
	if got := views("SELECT count(*) FROM events JOIN event_clr_ExceptionThrown USING (trace)", root); !slices.Equal(got, []string{"events", "event_clr_ExceptionThrown"}) {
		t.Errorf("views: %q", got)
	}
	if got := views("SHOW TABLES", root); len(got) < 180 {
		t.Errorf("views of all tables: %q", got)
	}
	must(t, os.MkdirAll(filepath.Join(dir, "before", "x"), 0o777))
	must(t, os.MkdirAll(filepath.Join(dir, "after", "x"), 0o777))
	for i, name := range []string{"before/x/app.nettrace", "after/x/app.nettrace", "before/other.nettrace"} {
		write(t, dir, name, unpacked(t, []string{"jit", "threads", "empty"}[i]))
	}
	r := runSQL(t, "FROM trace_info", filepath.Join(dir, "before"), filepath.Join(dir, "after", "*", "*.nettrace"))
	for _, want := range []string{"'before/x/app' AS trace", "'after/x/app' AS trace", "'other' AS trace"} {
		if !strings.Contains(r.stdout, want) {
			t.Errorf("no %s in\n%s%s", want, r.stdout, r.stderr)
		}
	}
	// An event that no trace has is a table without rows.
	if r := runSQL(t, "FROM event_clr_ExceptionThrown", trace(t, "empty")); !strings.Contains(r.stdout, "NULL::BIGINT AS \"event_id\"") {
		t.Errorf("no table without rows: %s%s", r.stdout, r.stderr)
	}
	// A directory without the table of an event that its trace has is reported.
	tables := filepath.Join(dir, "jit.parquet")
	succeed(t, dir, "to", "parquet", "-q", trace(t, "jit"), "-o", tables+"/")
	for query, says := range map[string]bool{"FROM event_clr_MethodLoadVerbose": true, "FROM event_clr_ExceptionThrown": false, "FROM events": false} {
		if r := runSQL(t, query, tables); strings.Contains(r.stderr, "jit.parquet has no table event_clr_MethodLoadVerbose, although") != says {
			t.Errorf("%s: messages %q", query, r.stderr)
		}
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
