package e2e

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

var update = flag.Bool("update", false, "write ../docs/differences.md anew; what has no reason still fails")

// A difference is a row of docs/differences.md: so many events of a file differ in a field, for one reason.
type difference struct {
	file, event, field string
	absent             bool
	reason             string
}

// differencesOf compares what ntconv prints of a trace with the reference, and fails for all that no reason explains.
func differencesOf(t *testing.T, tr trace, got []byte) (comparison, map[difference]int) {
	t.Helper()
	rows := map[difference]int{}
	unexplained := 0
	c := compareEvents(t, tr, readLines(t, unzstd(t, tr.events)), readLines(t, got), func(d *observed) {
		id := explain(t, d)
		if id == "" {
			if unexplained++; unexplained <= 5 {
				t.Errorf("%s at %d, thread %d: %s is %v, the reference has %v", d.want.kind(), d.want.Ticks, d.want.TID, d.field, d.b, d.a)
			}
			return
		}
		rows[difference{tr.name, d.want.kind(), d.field, d.absent, id}]++
	})
	if unexplained > 5 {
		t.Errorf("and %d more", unexplained-5)
	}
	if c.missing > 0 || c.extra > 0 && damage[tr.name] == nil {
		t.Errorf("%d events missing, %d that the reference does not have", c.missing, c.extra)
	}
	return c, rows
}

func printFlags(tr trace) []string {
	if isNetperf(tr) {
		return []string{"--crc", "--hex", "--stacks"}
	}
	return []string{"--crc"}
}

// Every event of every trace of testdata has the head, the payload's bytes and the values that Microsoft's reader gives it.
func TestEvents(t *testing.T) {
	documented := readDifferences(t)
	for _, tr := range ownTraces(t) {
		if tr.events == "" {
			continue // cut in its first block: the reference has nothing
		}
		t.Run(tr.name, func(t *testing.T) {
			t.Parallel()
			c, rows := differencesOf(t, tr, printed(t, tr, printFlags(tr)...))
			if c.paired == 0 {
				t.Error("nothing compared")
			}
			checkDocumented(t, tr.name, rows, documented)
		})
	}
}

// The same for all traces, and by the reference's own script.
func TestEventsOfAllTraces(t *testing.T) {
	traces := sharedTraces(t)
	documented := readDifferences(t)
	var mu sync.Mutex
	all := map[difference]int{}
	extra := map[string]int{}
	t.Run("traces", func(t *testing.T) {
		for _, tr := range traces {
			if tr.events == "" {
				continue
			}
			t.Run(tr.name, func(t *testing.T) {
				t.Parallel()
				got := printed(t, tr, printFlags(tr)...)
				c, rows := differencesOf(t, tr, got)
				if !*update {
					checkDocumented(t, tr.name, rows, documented)
				}
				checkScript(t, tr, got, c)
				mu.Lock()
				defer mu.Unlock()
				for d, n := range rows {
					all[d] += n
				}
				if c.extra > 0 {
					extra[tr.name] = c.extra
				}
			})
		}
	})
	if *update && !t.Failed() {
		writeDifferences(t, all)
	}
}

func checkDocumented(t *testing.T, file string, rows, documented map[difference]int) {
	t.Helper()
	for d, n := range rows {
		if documented[d] != n {
			t.Errorf("docs/differences.md has %d of %+v, there are %d (go test -update writes it)", documented[d], d, n)
		}
	}
	for d, n := range documented {
		if d.file == file && rows[d] == 0 {
			t.Errorf("docs/differences.md has %d of %+v, there is none", n, d)
		}
	}
}

var scriptSays = regexp.MustCompile(`^reference (\d+) events, candidate (\d+), paired (\d+), missing (\d+), extra (\d+), values that differ (\d+), fields under no such name (\d+)\n`)

// checkScript runs the reference's script, which must count exactly the differences that have a reason.
func checkScript(t *testing.T, tr trace, got []byte, c comparison) {
	t.Helper()
	for _, tool := range []string{"python3", "zstd"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Log("not compared by compare.py: ", err)
			return
		}
	}
	candidate := filepath.Join(t.TempDir(), "candidate.jsonl")
	if err := os.WriteFile(candidate, got, 0o600); err != nil {
		t.Fatal(err)
	}
	r := run(t, "python3", shared(t, "oracle", "compare.py"), tr.events, candidate)
	m := scriptSays.FindSubmatch(r.stdout)
	if m == nil {
		t.Fatalf("compare.py: exit code %d: %s%s", r.code, r.stdout, r.stderr)
	}
	want := []int{c.paired, c.missing, c.extra, c.differ, c.absent}
	for i, what := range []string{"paired", "missing", "extra", "values that differ", "fields under no such name"} {
		if n, err := strconv.Atoi(string(m[i+3])); err != nil || n != want[i] {
			t.Errorf("compare.py counts %s %s, want %d:\n%s", m[i+3], what, want[i], r.stdout)
		}
	}
}

const (
	differencesPath = "../docs/differences.md"
	tableHead       = "| file | event | field | events | TraceEvent shows | reason |\n|---|---|---|---:|---|---|\n"
)

// readDifferences reads the table of docs/differences.md, which is the list of what may differ.
func readDifferences(t *testing.T) map[difference]int {
	t.Helper()
	text, err := os.ReadFile(differencesPath)
	if err != nil && !*update {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(text), tableHead)
	rows := map[difference]int{}
	for row := range strings.Lines(table) {
		cells := strings.Split(strings.TrimSpace(row), " | ")
		if len(cells) != 6 {
			break
		}
		n, err := strconv.Atoi(cells[3])
		if err != nil {
			t.Fatal(err)
		}
		field := strings.Trim(cells[2], "`")
		rows[difference{strings.TrimPrefix(cells[0], "| "), cells[1], field, cells[4] == "a field more", strings.TrimSuffix(cells[5], " |")}] = n
	}
	if len(rows) == 0 && !*update {
		t.Fatal(differencesPath, " has no table")
	}
	return rows
}

// writeDifferences replaces the table.
func writeDifferences(t *testing.T, rows map[difference]int) {
	t.Helper()
	text, err := os.ReadFile(differencesPath)
	if err != nil {
		t.Fatal(err)
	}
	before, after, ok := strings.Cut(string(text), tableHead)
	if !ok {
		t.Fatal(differencesPath, " has no table")
	}
	if i := strings.Index("\n"+after, "\n\n"); i >= 0 {
		after = after[i:]
	} else {
		after = ""
	}
	var table []string
	for d, n := range rows {
		shows := "another value"
		if d.absent {
			shows = "a field more"
		}
		table = append(table, fmt.Sprintf("| %s | %s | `%s` | %d | %s | %s |\n", d.file, d.event, d.field, n, shows, d.reason))
	}
	slices.Sort(table)
	if err := os.WriteFile(differencesPath, []byte(before+tableHead+strings.Join(table, "")+after), 0o644); err != nil {
		t.Fatal(err)
	}
}
