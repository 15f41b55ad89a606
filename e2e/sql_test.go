package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
)

// duckdb builds the companion of ntconv sql with DuckDB's library, which replaces DuckDB's command line program.
var duckdb = sync.OnceValues(func() (string, error) {
	program := filepath.Join(filepath.Dir(command), "companion", "ntconv-duckdb")
	build := exec.Command("go", "build", "-C", "../duckdb", "-o", program, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=1")
	out, err := build.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("go build ../duckdb: %w\n%s", err, out)
	}
	return program, nil
})

// sql runs ntconv sql and returns its output.
func sql(t *testing.T, args ...string) string {
	t.Helper()
	program, err := duckdb()
	must(t, err)
	r := run(t, command, append([]string{"sql", "-q", "--duckdb", program}, args...)...)
	if r.code != 0 || len(r.stderr) > 0 {
		t.Fatalf("sql %q: exit code %d\n%s", args, r.code, r.stderr)
	}
	return string(r.stdout)
}

// A question is a section of docs/sql.md.
type question struct {
	number, title string
	traces        []string // names in testdata
	query         string
	result        string
}

// questionSection matches a section: heading, sentences, recordings, query and result.
var questionSection = regexp.MustCompile("(?ms)^## (\\d+)\\. ([^\n]*)\n(?:[^`]|`[^`\n]*`)*?^On ([^\n]*):\n\n```sql\n(.*?)^```\n\n```text\n(.*?)^```\n")

var recordingName = regexp.MustCompile("`testdata/([a-z0-9-]+)\\.nettrace\\.zst`")

// questions returns the sections of the page.
func questions(t *testing.T, page string) (list []question) {
	t.Helper()
	for _, m := range questionSection.FindAllStringSubmatch(page, -1) {
		q := question{number: m[1], title: m[2], query: m[4], result: m[5]}
		for _, r := range recordingName.FindAllStringSubmatch(m[3], -1) {
			q.traces = append(q.traces, r[1])
		}
		if len(q.traces) == 0 {
			t.Errorf("question %s names no recording of testdata", q.number)
		}
		list = append(list, q)
	}
	if headings := regexp.MustCompile(`(?m)^## \d+\. `).FindAllString(page, -1); len(headings) != len(list) {
		t.Errorf("docs/sql.md has %d questions, of which %d are complete", len(headings), len(list))
	}
	return list
}

// A tableDirs converts recordings to tables once for all questions.
type tableDirs struct {
	dir  string
	made map[string]string
}

// of returns the directory of the tables of a recording.
func (f *tableDirs) of(t *testing.T, name string) string {
	t.Helper()
	if dir, ok := f.made[name]; ok {
		return dir
	}
	dir := filepath.Join(f.dir, name+".parquet") + "/"
	r := run(t, command, "to", "parquet", "-q", "--typed", "all", "-o", dir, filepath.Join("..", "testdata", name+".nettrace.zst"))
	if r.code != 0 {
		t.Fatalf("to parquet %s: exit code %d\n%s", name, r.code, r.stderr)
	}
	if f.made == nil {
		f.made = make(map[string]string)
	}
	f.made[name] = dir
	return dir
}

// TestSQLDocument: each query of docs/sql.md yields the result that follows it, and agrees with the measurements of the
// recorded program where there are some.
func TestSQLDocument(t *testing.T) {
	const file = "../docs/sql.md"
	b := contentAt(t, file)
	page := string(b)
	list, checked := questions(t, page), 0
	tables := &tableDirs{dir: t.TempDir()}
	for _, q := range list {
		t.Run(q.number, func(t *testing.T) {
			var dirs []string
			for _, name := range q.traces {
				dirs = append(dirs, tables.of(t, name))
			}
			got := sql(t, append([]string{"--format", "table", q.query}, dirs...)...)
			if got != q.result {
				t.Errorf("%s\nyields\n%swant the result in docs/sql.md\n%s", q.query, got, q.result)
				if *update {
					page = strings.Replace(page, q.query+"```\n\n```text\n"+q.result, q.query+"```\n\n```text\n"+got, 1)
				}
			}
			if check, ok := answers[q.title]; ok {
				checked++
				check(t, q, rowsOf(t, sql(t, append([]string{"--format", "json", q.query}, dirs...)...)))
			}
		})
	}
	if checked != len(answers) && !*update {
		t.Errorf("%d questions with an independent answer, want %d", checked, len(answers))
	}
	if *update && page != string(b) {
		must(t, os.WriteFile(file, []byte(page), 0o666))
	}
}

// A row is a row of a result, by column name.
type row map[string]any

func rowsOf(t *testing.T, text string) (rows []row) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader([]byte(text)))
	if err := d.Decode(&rows); err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	return rows
}

// number returns a column that contains a number.
func (r row) number(t *testing.T, column string) float64 {
	t.Helper()
	n, ok := r[column].(float64)
	if !ok {
		t.Fatalf("column %s: %v is not a number", column, r[column])
	}
	return n
}

// text returns a column that contains a string.
func (r row) text(t *testing.T, column string) string {
	t.Helper()
	s, ok := r[column].(string)
	if !ok {
		t.Fatalf("column %s: %v is not a string", column, r[column])
	}
	return s
}
