package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A reading is the result of a Parquet reader for a file.
type reading struct {
	File    string
	Reader  string
	Rows    int64
	Columns map[string]columnSum
	Wrong   []string // false statements in the metadata of the file
	Error   string
}

// A columnSum is the number of NULLs in a column and the sum of its numbers (timestamps in microseconds), or of the
// lengths of its strings, lists and maps. Sum is nil if a reader cannot determine it.
type columnSum struct {
	Nulls int64
	Sum   *string
}

// tableReaders are the readers that the test binary has. arrow-go is one of them with the tag arrow only: it takes as long to
// compile as everything else that these tests import.
var tableReaders = []func(t *testing.T, files []string) []reading{readDuckDB}

// Independent readers find the same numbers in every table: DuckDB, hyparquet, arrow-rs, polars and, with the tag arrow,
// arrow-go. No number comes from the code that wrote the files. Statistics, page indexes, bloom filters and the stated sort
// order are correct.
func TestReadersOfTables(t *testing.T) {
	dir := t.TempDir()
	var files []string
	for _, name := range tracesForTables(t) {
		files = append(files, tablesOf(t, name, filepath.Join(dir, filepath.Base(name)))...)
	}
	if len(files) == 0 {
		t.Fatal("no tables")
	}
	compareReaders(t, dir, files)
}

// compareReaders reads files in dir with all readers.
func compareReaders(t *testing.T, dir string, files []string) {
	t.Helper()
	node := make(chan []reading)
	go func() {
		defer close(node) // also when the test fails
		node <- readNode(t, files)
	}()
	readings := map[string][]reading{}
	readers, rows := map[string]int{}, int64(0)
	add := func(list []reading) {
		for _, r := range list {
			readings[r.File] = append(readings[r.File], r)
			readers[r.Reader]++
		}
	}
	for _, read := range tableReaders {
		add(read(t, files))
	}
	add(<-node)
	agreed := 0
	for _, file := range files {
		if agree(t, strings.TrimPrefix(file, dir+"/"), readings[file]) {
			agreed++
			rows += readings[file][0].Rows
		}
	}
	t.Logf("%d files, of which all readers agree on %d with %d rows; files per reader: %v", len(files), agreed, rows, readers)
}

// tablesOf converts a trace to a directory of all tables, to events with payloads as bytes, and to a single file, and
// returns the files.
func tablesOf(t *testing.T, name, out string) (files []string) {
	t.Helper()
	for _, args := range [][]string{
		{"--typed", "all", "-o", out + ".parquet/"},
		{"--typed", "none", "--raw", "-o", out + ".raw/"},
		{"-o", out + ".single.parquet"},
	} {
		r := run(t, command, append([]string{"to", "parquet", "--allow-prerelease", name}, args...)...)
		// Many have no event or are malformed.
		if vector := filepath.Base(filepath.Dir(name)) == "vectors"; vector && r.code != 0 && r.code != 3 {
			t.Logf("%s: no tables: %s", name, r.stderr)
			return nil
		}
		if r.code != 0 && r.code != 3 {
			t.Errorf("%s %v: exit code %d: %s", name, args, r.code, r.stderr)
			return nil
		}
	}
	files, _ = filepath.Glob(out + ".parquet/*.parquet")
	return append(files, out+".raw/events.parquet", out+".single.parquet")
}

// tracesForTables returns the traces in testdata. With NTCONV_ALL_TABLES it also returns the reference data, which
// takes minutes.
func tracesForTables(t *testing.T) []string {
	t.Helper()
	list, err := filepath.Glob(filepath.Join("..", "testdata", "*.nettrace.zst"))
	must(t, err)
	if os.Getenv("NTCONV_ALL_TABLES") != "" {
		for _, pattern := range []string{"nettrace/*", "netperf/*.zst", "own/*.zst", "otel/*.nettrace.zst", "vectors/*.nettrace"} {
			more, _ := filepath.Glob(shared(t, "data") + "/" + pattern)
			if len(more) == 0 {
				t.Errorf("no trace is %s", pattern)
			}
			for _, name := range more { // the reference data includes recordings of testdata
				if !slices.ContainsFunc(list, func(have string) bool { return filepath.Base(have) == filepath.Base(name) }) {
					list = append(list, name)
				}
			}
		}
	}
	return list
}

// agree compares the results of readers for a file.
func agree(t *testing.T, name string, list []reading) bool {
	t.Helper()
	if len(list) < 2 {
		t.Errorf("%s: %d readers", name, len(list))
		return false
	}
	ok := true
	first := list[0]
	for _, r := range list {
		if r.Error != "" {
			t.Errorf("%s: %s: %s", name, r.Reader, r.Error)
			return false
		}
		for _, what := range r.Wrong {
			t.Errorf("%s: %s", name, what)
			ok = false
		}
	}
	for _, r := range list[1:] {
		if r.Rows != first.Rows {
			t.Errorf("%s: %d rows for %s, %d for %s", name, first.Rows, first.Reader, r.Rows, r.Reader)
			ok = false
		}
		if first.Rows == 0 {
			continue // some readers report no columns without rows
		}
		if a, b := slices.Sorted(maps.Keys(first.Columns)), slices.Sorted(maps.Keys(r.Columns)); !slices.Equal(a, b) {
			t.Errorf("%s: columns %v for %s, %v for %s", name, a, first.Reader, b, r.Reader)
			ok = false
		}
		for column, want := range first.Columns {
			got := r.Columns[column]
			if got.Nulls != want.Nulls || got.Sum != nil && want.Sum != nil && *got.Sum != *want.Sum {
				t.Errorf("%s: column %s: %s for %s, %s for %s", name, column, want, first.Reader, got, r.Reader)
				ok = false
			}
		}
	}
	return ok
}

func (c columnSum) String() string {
	sum := "unknown"
	if c.Sum != nil {
		sum = *c.Sum
	}
	return fmt.Sprintf("%d NULLs, sum %s", c.Nulls, sum)
}

// readNode reads files with readers that run in Node. It may run in a goroutine.
func readNode(t *testing.T, files []string) (list []reading) {
	if _, err := exec.LookPath("node"); err != nil {
		t.Log("without hyparquet, arrow-rs and polars: ", err)
		return nil
	}
	if _, err := os.Stat(filepath.Join("node_modules", "hyparquet")); err != nil {
		t.Log("without hyparquet, arrow-rs and polars, which are not installed (npm --prefix e2e ci): ", err)
		return nil
	}
	if _, err := os.Stat(filepath.Join("node_modules", "nodejs-polars")); err != nil {
		t.Log("without polars, which is not installed (.ci/run installs it): ", err)
	}
	cmd := exec.CommandContext(t.Context(), "node", "--max-old-space-size=8192", "tables.mjs")
	if os.Getenv("NTCONV_ALL_TABLES") != "" {
		cmd.Args = append(cmd.Args, "all")
	}
	return readerLines[reading](t, cmd, strings.Join(files, "\n")+"\n")
}

// readerLines runs a command and returns the objects that it prints, one per line. It may run in a goroutine.
func readerLines[T any](t *testing.T, cmd *exec.Cmd, input string) (list []T) {
	t.Helper()
	cmd.Stdin = strings.NewReader(input)
	var msg bytes.Buffer
	cmd.Stderr = &msg
	out, err := cmd.Output()
	if err != nil {
		t.Errorf("%s: %v\n%s", cmd.Path, err, msg.Bytes())
	}
	for line := range bytes.Lines(out) {
		var one T
		if err := json.Unmarshal(line, &one); err != nil {
			t.Error(err)
			break
		}
		list = append(list, one)
	}
	return list
}

// readDuckDB reads files with DuckDB: one run lists their columns, another one adds them up.
func readDuckDB(t *testing.T, files []string) (list []reading) {
	t.Helper()
	from := func(i int) string {
		return " FROM read_parquet('" + strings.ReplaceAll(files[i], "'", "''") + "', hive_partitioning = false)"
	}
	names, what := make([][]string, len(files)), make([][2][]string, len(files))
	askDuckDB(t, len(files), func(i int) string {
		return fmt.Sprintf("SELECT %d AS file, column_name AS name, column_type AS type FROM (DESCRIBE SELECT *%s)", i, from(i))
	}, func(a duckAnswer) {
		quoted := `"` + strings.ReplaceAll(a.Name, `"`, `""`) + `"`
		names[a.File] = append(names[a.File], a.Name)
		what[a.File][0] = append(what[a.File][0], "count(*) - count("+quoted+")")
		what[a.File][1] = append(what[a.File][1], "coalesce(sum("+weight(a.Type, quoted)+"), 0)::VARCHAR")
	})
	for _, file := range files {
		list = append(list, reading{File: file, Reader: "DuckDB", Error: "no answer"})
	}
	askDuckDB(t, len(files), func(i int) string {
		return fmt.Sprintf("SELECT %d AS file, count(*) AS rows, [%s]::BIGINT[] AS nulls, [%s]::VARCHAR[] AS sums%s",
			i, strings.Join(what[i][0], ", "), strings.Join(what[i][1], ", "), from(i))
	}, func(a duckAnswer) {
		r := &list[a.File]
		r.Error, r.Rows, r.Columns = "", a.Rows, map[string]columnSum{}
		for i, name := range names[a.File] {
			r.Columns[name] = columnSum{a.Nulls[i], &a.Sums[i]}
		}
	})
	return list
}

// A duckAnswer is a row of DuckDB on a file, which has a number.
type duckAnswer struct {
	File       int
	Name, Type string // of a column
	Rows       int64
	Nulls      []int64
	Sums       []string
}

// askDuckDB runs a query on each of n files, until one fails.
func askDuckDB(t *testing.T, n int, query func(file int) string, answer func(duckAnswer)) {
	t.Helper()
	program, err := duckdb()
	must(t, err)
	var script strings.Builder
	for i := range n {
		script.WriteString(query(i) + ";\n")
	}
	for _, a := range readerLines[duckAnswer](t, exec.CommandContext(t.Context(), program, "-bail", "-jsonlines"), script.String()) {
		answer(a)
	}
}

// weight returns the contribution of a value to the sum of its column, as SQL.
func weight(typ, column string) string {
	switch {
	case strings.HasSuffix(typ, "[]"):
		return "len(" + column + ")"
	case strings.HasPrefix(typ, "MAP"):
		return "cardinality(" + column + ")"
	case typ == "DATE": // days
		return "(" + column + " - DATE '1970-01-01')::HUGEINT"
	case strings.HasPrefix(typ, "TIMESTAMP"):
		return "epoch_us(" + column + ")"
	case typ == "VARCHAR":
		return "strlen(" + column + ")" // in bytes
	case typ == "BLOB":
		return "octet_length(" + column + ")"
	case typ == "DOUBLE": // only integers that JavaScript represents exactly
		return "CASE WHEN " + column + " = floor(" + column + ") AND abs(" + column + ") <= 9007199254740991 THEN " + column + "::HUGEINT END"
	}
	return column + "::HUGEINT"
}
