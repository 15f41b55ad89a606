package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"sync"
	"testing"
)

// A difference is a row of docs/differences.md: a field that differs in events of a file, for one reason.
type difference struct {
	file, event, field string
	absent             bool
	reason             string
}

func differenceRows(count map[difference]int) (rows [][]string) {
	for d, n := range count {
		shows := "another value"
		if d.absent {
			shows = "a field more"
		}
		rows = append(rows, []string{d.file, d.event, "`" + d.field + "`", strconv.Itoa(n), shows, d.reason})
	}
	return rows
}

// differencesOf compares the output of ntconv print with the reference. It fails for differences that no reason
// explains.
func differencesOf(t *testing.T, tr trace, got []byte) (comparison, map[difference]int) {
	t.Helper()
	count := map[difference]int{}
	unexplained := 0
	c := compareEvents(t, tr, readLines(t, unzstd(t, tr.events)), readLines(t, got), func(d *observed) {
		id := explain(t, d)
		if id == "" {
			if unexplained++; unexplained <= 5 {
				t.Errorf("%s at %d, thread %d: %s is %v, want %v as in the reference", d.want.kind(), d.want.Ticks, d.want.TID, d.field, d.b, d.a)
			}
			return
		}
		count[difference{tr.name, d.want.kind(), d.field, d.absent, id}]++
	})
	if unexplained > 5 {
		t.Errorf("and %d more", unexplained-5)
	}
	if c.missing > 0 || c.extra > 0 && !truncated[tr.name] {
		t.Errorf("%d events missing, %d events not in the reference", c.missing, c.extra)
	}
	return c, count
}

// extraRow returns the row for a trace of which ntconv reads more than the reference.
func extraRow(tr trace, c comparison) [][]string {
	if c.extra == 0 {
		return nil
	}
	return [][]string{{tr.name, strconv.Itoa(c.paired), strconv.Itoa(c.paired + c.extra)}}
}

func printFlags(tr trace) []string {
	if isNetperf(tr) {
		return []string{"--crc", "--hex", "--stacks"}
	}
	return []string{"--crc"}
}

// Every event of every trace in testdata has the same header, payload bytes and values as with TraceEvent.
func TestEvents(t *testing.T) {
	for _, tr := range ownTraces(t) {
		t.Run(tr.name, func(t *testing.T) {
			t.Parallel()
			got := printed(t, tr, printFlags(tr)...)
			if tr.events == "" { // truncated in its first block: the reference has no events
				checkTable(t, extraHead, tr.name, extraRow(tr, comparison{extra: len(readLines(t, got))}))
				return
			}
			c, count := differencesOf(t, tr, got)
			if c.paired == 0 {
				t.Error("no events compared")
			}
			checkTable(t, valuesHead, tr.name, differenceRows(count))
			checkTable(t, extraHead, tr.name, extraRow(tr, c))
		})
	}
}

// The same for all traces, and with the reference's own script.
func TestEventsOfAllTraces(t *testing.T) {
	traces, isComplete := comparedTraces(t)
	var mu sync.Mutex
	var values, extra [][]string
	t.Run("traces", func(t *testing.T) {
		for _, tr := range traces {
			if exitCode(tr.name) == unreadable {
				continue
			}
			t.Run(tr.name, func(t *testing.T) {
				t.Parallel()
				got := printed(t, tr, printFlags(tr)...)
				c := comparison{extra: len(readLines(t, got))}
				var count map[difference]int
				if tr.events != "" {
					c, count = differencesOf(t, tr, got)
					checkScript(t, tr, got, c)
				}
				checkTable(t, valuesHead, tr.name, differenceRows(count))
				checkTable(t, extraHead, tr.name, extraRow(tr, c))
				mu.Lock()
				defer mu.Unlock()
				values = append(values, differenceRows(count)...)
				extra = append(extra, extraRow(tr, c)...)
			})
		}
	})
	if *update && !t.Failed() {
		writeTable(t, valuesHead, values)
		writeTable(t, extraHead, extra)
	}
	if isComplete { // and no row is about another trace
		checkTable(t, valuesHead, "", values)
		checkTable(t, extraHead, "", extra)
	}
}

var scriptSays = regexp.MustCompile(`^reference (\d+) events, candidate (\d+), paired (\d+), missing (\d+), extra (\d+), values that differ (\d+), fields under no such name (\d+)\n`)

// checkScript runs the reference's script. It must count exactly the differences that have a reason.
func checkScript(t *testing.T, tr trace, got []byte, c comparison) {
	t.Helper()
	counts := runScript(t, "compare.py", scriptSays, tr.events, got)
	if counts == nil {
		return
	}
	want := []int{c.paired + c.missing, c.paired + c.extra, c.paired, c.missing, c.extra, c.differ, c.absent}
	for i, what := range []string{"reference events", "candidate events", "paired", "missing", "extra", "values that differ", "fields under no such name"} {
		if counts[i] != want[i] {
			t.Errorf("compare.py counts %d %s, want %d", counts[i], what, want[i])
		}
	}
}

// runScript compares a dump with that of the reference, using a script of the reference, and returns the printed
// numbers.
func runScript(t *testing.T, script string, says *regexp.Regexp, reference string, got []byte) []int {
	t.Helper()
	for _, tool := range []string{"python3", "zstd"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Log("not compared by ", script, ": ", err)
			return nil
		}
	}
	candidate := filepath.Join(t.TempDir(), "candidate.jsonl")
	must(t, os.WriteFile(candidate, got, 0o600))
	r := run(t, "python3", shared(t, "oracle", script), reference, candidate)
	m := says.FindSubmatch(r.stdout)
	if m == nil {
		t.Fatalf("%s: exit code %d: %s%s", script, r.code, r.stdout, r.stderr)
	}
	var counts []int
	for _, text := range m[1:] {
		n, err := strconv.Atoi(string(text))
		must(t, err)
		counts = append(counts, n)
	}
	return counts
}
