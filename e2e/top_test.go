package e2e

import (
	"strings"
	"testing"
)

// rows returns the function lines of a top report, below the header, without trailing spaces.
func rows(t *testing.T, report []byte) string {
	t.Helper()
	_, table, ok := strings.Cut(string(report), "cum   cum%\n")
	if !ok {
		t.Fatalf("no table in\n%s", report)
	}
	return table
}

// TestTopIsPprof: top prints the same as go tool pprof with the same filters, and for the same difference.
func TestTopIsPprof(t *testing.T) {
	_, path := convert(t, find(t, "waits"), 1)
	_, base := convert(t, find(t, "cpu-env"), 1)
	for _, flags := range []string{
		"", "-tagfocus=state=^Ext", "-tagfocus=state:Ext", "-tagignore=state=Managed", "-tagroot=state,thread_id", "-tagleaf=state",
		"-tagfocus=tid=1:", "-tagroot=tid|-tagfocus=state=Ext|-focus=Thread", "-diff_base=" + base, "-base=" + base,
		"-diff_base=" + base + "|-tagignore=state=Ext",
	} {
		args := strings.FieldsFunc(flags, func(r rune) bool { return r == '|' })
		theirs := append([]string{"tool", "pprof", "-symbolize=none", "-top", "-nodefraction=0", "-nodecount=1000000"}, args...)
		ours := []string{"top", "-n", "0", path}
		for _, a := range args {
			ours = append(ours, "-"+strings.Replace(a, "diff_base", "diff-base", 1))
		}
		want, got := run(t, "go", append(theirs, path)...), run(t, command, ours...)
		if want.code != 0 || got.code != 0 {
			t.Errorf("%s: exit codes %d and %d: %s%s", flags, want.code, got.code, want.stderr, got.stderr)
			continue
		}
		if rows(t, got.stdout) != rows(t, want.stdout) {
			t.Errorf("%s: top shows\n%s\nwant as pprof\n%s", flags, got.stdout, want.stdout)
		}
	}
}
