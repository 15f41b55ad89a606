package e2e

import (
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

var canRun sync.Map // by path: whether the program that runs TraceEvent starts

// traceevent returns the path of the program that runs TraceEvent, or skips the test if it is absent or does not start.
func traceevent(t *testing.T) string {
	t.Helper()
	path := shared(t, "oracle", "traceevent")
	check, _ := canRun.LoadOrStore(path, sync.OnceValue(func() error { return exec.Command(path, "unpack").Run() }))
	if err := check.(func() error)(); err != nil {
		t.Skip("the reference reader does not run here: ", err)
	}
	return path
}

// TraceEvent reads rewritten traces, and finds the same contents as in the original.
func TestMicrosoftReadsWhatIsWritten(t *testing.T) {
	reader := traceevent(t)
	values := readTable(t, valuesHead)
	for _, tr := range ownTraces(t) {
		if tr.events == "" {
			continue // truncated in its first block, so there is nothing to compare with
		}
		t.Run(tr.name, func(t *testing.T) {
			t.Parallel()
			written := filepath.Join(t.TempDir(), "written.nettrace")
			if r := run(t, command, "to", "nettrace", tr.path, "-o", written); r.code != exitCode(tr.name) {
				t.Fatalf("exit code %d: %s", r.code, r.stderr)
			}
			events := run(t, reader, "events", written)
			if events.code != 0 {
				t.Fatalf("the reference rejects it: %s", events.stderr)
			}
			c := compareEvents(t, tr, readLines(t, unzstd(t, tr.events)), readLines(t, events.stdout), func(d *observed) {
				if !isListed(values, d, "netperf-related", "plain-numbers") {
					t.Errorf("%s at %d: %s is %v, want %v as in the original", d.want.kind(), d.want.Ticks, d.field, d.b, d.a)
				}
			})
			if c.missing > 0 || c.extra > 0 && !truncated[tr.name] {
				t.Errorf("%d events missing, %d additional", c.missing, c.extra)
			}
			sameStacks(t, tr, run(t, reader, "stacks", written))
		})
	}
}

// isListed reports whether docs/differences.md lists the difference as an error of the reference, which may not occur
// with the copy.
func isListed(values [][]string, d *observed, reasons ...string) bool {
	for _, row := range values {
		if row[0] == d.tr.name && row[1] == d.want.kind() && row[2] == "`"+d.field+"`" && strings.Contains(strings.Join(reasons, " "), row[5]) {
			return true
		}
	}
	return false
}

// sameStacks checks that the reference resolves all addresses in the copy as in the original.
func sameStacks(t *testing.T, tr trace, copied result) {
	t.Helper()
	if copied.code != 0 {
		t.Fatalf("the reference finds no stacks: %s", copied.stderr)
	}
	want, got := stackTexts(readStacks(t, tr.stacks)), stackTexts(parseStacks(t, copied.stdout))
	for text, n := range want {
		if got[text] < n {
			t.Errorf("%d of %d stacks: %.300s", got[text], n, text)
		}
	}
}

// stackTexts counts stacks, each as a string with its event and names.
func stackTexts(r *referenceStacks) map[string]int {
	m := map[string]int{}
	for k, ids := range r.events {
		for _, id := range ids {
			var s strings.Builder
			s.WriteString(k.String())
			for _, f := range r.frames[id] {
				s.WriteString("\n" + f[0] + " " + f[1] + "!" + f[2])
			}
			m[s.String()]++
		}
	}
	return m
}
