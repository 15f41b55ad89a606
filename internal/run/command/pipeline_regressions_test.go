package command

import (
	"encoding/csv"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/ntconv/ntconv/internal/show/profilediff"
	"github.com/parquet-go/parquet-go"
)

// tsvRows returns the rows of a table by the names of its columns.
func tsvRows(t *testing.T, name string) (rows []map[string]string) {
	t.Helper()
	f, err := os.Open(name)
	must(t, err)
	defer f.Close()
	r := csv.NewReader(f)
	r.Comma = '\t'
	list, err := r.ReadAll()
	must(t, err)
	for _, line := range list[1:] {
		row := make(map[string]string)
		for i, name := range list[0] {
			row[name] = line[i]
		}
		rows = append(rows, row)
	}
	return rows
}

// builds copies recordings of two builds into directories that are called as the builds.
func builds(t *testing.T, dir string, recordings map[string]string) {
	t.Helper()
	for name, of := range recordings {
		must(t, os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o700))
		write(t, dir, name, unpacked(t, of))
	}
}

// The table has what ntconv diff says of the same two traces, number by number.
func TestPipelineRegressions(t *testing.T) {
	t.Setenv(testRunner, "0.3")
	dir := t.TempDir()
	builds(t, dir, map[string]string{"v1/a.nettrace": "cpu-default", "v2/b.nettrace": "jit"})
	args := []string{"pipeline", "regressions", "v1", "v2", "--kind", "wall", "--build-from", `^(v\d)/`, "-o"}
	succeed(t, dir, append(args, "changes.tsv")...)
	var want profilediff.Comparison
	r := succeed(t, dir, "diff", "--json", "--kind", "wall", "--per", "time", "v1/a.nettrace", "v2/b.nettrace")
	decode(t, []byte(r.stdout), &want)
	rows := tsvRows(t, filepath.Join(dir, "changes.tsv"))
	if len(rows) != len(want.Functions)+1 || want.Significant == 0 {
		t.Fatalf("%d rows, want %d, of which %d are significant", len(rows), len(want.Functions)+1, want.Significant)
	}
	byName := make(map[string]map[string]string)
	for _, row := range rows {
		byName[row["function"]] = row
	}
	check := func(row map[string]string, prefix string, c *profilediff.Change) {
		t.Helper()
		text := func(x *float64) string {
			if x == nil {
				return ""
			}
			return fmt.Sprint(*x)
		}
		for column, value := range map[string]string{
			"_before": text(&c.Before), "_after": text(&c.After), "_change": text(&c.Change), "_margin": text(c.Margin), "_p": text(c.P),
		} {
			if row[prefix+column] != value {
				t.Errorf("%s: %s%s is %s, want %s", row["function"], prefix, column, row[prefix+column], value)
			}
		}
	}
	check(byName[""], "total", &want.Total)
	for i := range want.Functions {
		f := &want.Functions[i]
		row := byName[f.Name]
		check(row, "self", &f.Self)
		check(row, "total", &f.Total)
		if row["verdict"] != string(f.Verdict) || row["status"] != f.Status || row["build_before"] != "v1" || row["build_after"] != "v2" {
			t.Errorf("%s: %v", f.Name, row)
		}
	}
	succeed(t, dir, append(args, "changes.parquet")...)
	table, err := parquet.ReadFile[struct {
		Function string  `parquet:"function"`
		After    float64 `parquet:"total_after"`
	}](filepath.Join(dir, "changes.parquet"))
	must(t, err)
	if len(table) != len(rows) || fmt.Sprint(table[0].After) != rows[0]["total_after"] {
		t.Errorf("%d rows in the Parquet file", len(table))
	}
}

// The recordings of a build are compared together: values are per second of all, and two recordings of one build do not differ.
func TestPipelineSeveralRecordings(t *testing.T) {
	t.Setenv(testRunner, "0.2")
	dir := t.TempDir()
	builds(t, dir, map[string]string{"v1/a.nettrace": "cpu-default", "v1/b.nettrace": "cpu-env", "v2/c.nettrace": "jit"})
	args := []string{"pipeline", "regressions", "v1", "v2", "--kind", "wall", "-o"}
	succeed(t, dir, append(args, "changes.tsv", "--build-from", `^v\d`)...)
	row := tsvRows(t, filepath.Join(dir, "changes.tsv"))[0]
	if row["scope"] != "total" || row["traces_before"] != "2" || row["traces_after"] != "1" {
		t.Fatalf("%v", row)
	}
	var one profilediff.Comparison
	decode(t, []byte(succeed(t, dir, "diff", "--json", "--kind", "wall", "--per", "time", "v1/a.nettrace", "v1/b.nettrace").stdout), &one)
	seconds := one.Before.Seconds + one.After.Seconds
	value := func(name string) float64 { x, err := strconv.ParseFloat(row[name], 64); must(t, err); return x }
	if got := value("seconds_before"); math.Abs(got-seconds) > 1e-6 {
		t.Errorf("the recordings of a build have %g s, want %g", got, seconds)
	}
	if got, want := value("total_before"), (one.Before.Total+one.After.Total)/seconds; math.Abs(got/want-1) > 1e-6 {
		t.Errorf("values per second are %g, want %g", got, want)
	}
	// Without --build-from the build is that of the trace: all of these have the same one, so that there is nothing to compare.
	for _, c := range []struct {
		says string
		more []string
	}{
		{"builds differ in the signature of their debug symbols, or by --build-from EXPRESSION in the names of inputs", nil},
		{"--build-from finds the same build in the names of all inputs", []string{"--build-from", "^(v)"}},
	} {
		r := invoke(t, dir, nil, append(args, append([]string{"none.tsv"}, c.more...)...)...)
		if r.code != exitEmpty || !strings.Contains(r.stderr, "none.tsv: the inputs have one build of each service (shop), and two are compared; "+c.says) || exists(filepath.Join(dir, "none.tsv")) {
			t.Errorf("code %d: %s", r.code, r.stderr)
		}
	}
}

// A trace whose build is unknown is a dead letter.
func TestPipelineUnknownBuild(t *testing.T) {
	t.Setenv(testRunner, "0")
	dir := t.TempDir()
	builds(t, dir, map[string]string{"v1/a.nettrace": "cpu-default", "other/b.nettrace": "cpu-env"})
	r := invoke(t, dir, nil, "pipeline", "regressions", "v1", "other", "--kind", "wall", "--build-from", `v\d+`, "-o", "changes.tsv")
	if r.code != exitIncomplete || !strings.Contains(r.stderr, "other/b.nettrace: the name does not match --build-from") || !strings.Contains(r.stderr, "changes.tsv: the inputs have one build") {
		t.Errorf("code %d: %s", r.code, r.stderr)
	}
}

// A trace without such data may be the first one that a pipeline converts.
func TestPipelineNothingFirst(t *testing.T) {
	t.Setenv(testRunner, "0")
	dir := t.TempDir()
	builds(t, dir, map[string]string{"v1/a.nettrace": "activities", "v1/b.nettrace": "cpu-default", "v2/c.nettrace": "jit"})
	if r := invoke(t, dir, nil, "pipeline", "regressions", "v1/a.nettrace", "--kind", "wall", "--build-from", `^(v\d)/`, "-o", "none.tsv"); r.code != exitEmpty {
		t.Errorf("code %d, want %d: %s", r.code, exitEmpty, r.stderr)
	}
	succeed(t, dir, "pipeline", "regressions", "v1", "v2", "--kind", "wall", "--build-from", `^(v\d)/`, "-o", "changes.tsv")
	if rows := tsvRows(t, filepath.Join(dir, "changes.tsv")); len(rows) < 2 {
		t.Errorf("%d rows", len(rows))
	}
}
