package e2e

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the tables of ../docs/differences.md; differences without a reason still fail")

const documentPath = "../docs/differences.md"

// Header rows of the tables in docs/differences.md. The tables list all permitted differences: tests read them.
const (
	valuesHead  = "| file | event | field | events | TraceEvent shows | reason |\n|---|---|---|---:|---|---|\n"
	extraHead   = "| file | events of TraceEvent | of ntconv |\n|---|---:|---:|\n"
	modulesHead = "| file | module by TraceEvent | by ntconv | frames | reason |\n|---|---|---|---:|---|\n"
	reasonsHead = "| reason | |\n|---|---|\n"
)

// readTable returns the cells of a table in the document, one slice per row.
func readTable(t *testing.T, head string) [][]string {
	t.Helper()
	text := contentAt(t, documentPath)
	_, table, ok := strings.Cut(string(text), head)
	if !ok {
		t.Fatalf("%s has no table %q", documentPath, head)
	}
	var rows [][]string
	for row := range strings.Lines(table) {
		row = strings.TrimSpace(row)
		if !strings.HasPrefix(row, "|") {
			break
		}
		cells := strings.Split(strings.Trim(row, "|"), "|")
		for i, cell := range cells {
			cells[i] = strings.TrimSpace(cell)
		}
		rows = append(rows, cells)
	}
	return rows
}

// checkTable compares the rows of a table for a file (or all rows, if file is "") with the rows that a test found.
func checkTable(t *testing.T, head, file string, found [][]string) {
	t.Helper()
	if *update {
		return // the table is being rewritten
	}
	want := map[string]bool{}
	for _, row := range readTable(t, head) {
		if file == "" || row[0] == file {
			want[strings.Join(row, " | ")] = true
		}
	}
	for _, row := range found {
		text := strings.Join(row, " | ")
		if !want[text] {
			t.Errorf("%s lacks: %s", documentPath, text)
		}
		delete(want, text)
	}
	for text := range want {
		t.Errorf("%s has a wrong row: %s", documentPath, text)
	}
}

// writeTable replaces the rows of a table.
func writeTable(t *testing.T, head string, rows [][]string) {
	t.Helper()
	text := contentAt(t, documentPath)
	before, after, ok := strings.Cut(string(text), head)
	if !ok {
		t.Fatalf("%s has no table %q", documentPath, head)
	}
	for strings.HasPrefix(after, "|") {
		_, after, _ = strings.Cut(after, "\n")
	}
	var table strings.Builder
	slices.SortFunc(rows, slices.Compare)
	for _, row := range rows {
		fmt.Fprintf(&table, "| %s |\n", strings.Join(row, " | "))
	}
	must(t, os.WriteFile(documentPath, []byte(before+head+table.String()+after), 0o644))
}

// Each reason in a table is defined in reasons, and each of these occurs in a table.
func TestReasonsAreDefined(t *testing.T) {
	var defined [][]string
	for _, r := range reasons {
		defined = append(defined, []string{r.id, r.text})
	}
	for _, r := range moduleReasons {
		defined = append(defined, []string{r.id, r.text})
	}
	if *update {
		writeTable(t, reasonsHead, defined)
	}
	checkTable(t, reasonsHead, "", defined)
	given := map[string]bool{}
	for _, head := range []string{valuesHead, modulesHead} {
		for _, row := range readTable(t, head) {
			given[row[len(row)-1]] = true
		}
	}
	for _, row := range defined {
		if !given[row[0]] {
			t.Errorf("no difference has the reason %s", row[0])
		}
		delete(given, row[0])
	}
	for id := range given {
		t.Errorf("unknown reason: %s", id)
	}
}
