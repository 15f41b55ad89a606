package main

import (
	"os"
	"strings"
	"testing"
)

// TestMergeAndSplitMessages checks notes and errors about inputs and outputs of merge and split.
func TestMergeAndSplitMessages(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "a.nettrace", unpacked(t, "cpu-env"))
	write(t, dir, "b.nettrace", unpacked(t, "cpu-v6"))
	for _, c := range []struct {
		args string
		code int
		says string
	}{
		{"split --every process a.nettrace parts", exitOK, "parts: 1 part"},
		{"split --every 1us a.nettrace tiny", exitOK, "times as many copies as events"},
		{"split --every 100ms a.nettrace some", exitOK, "copied to other parts"},
		{"to nettrace some/a-001.nettrace some/a-002.nettrace -o copies.nettrace", exitOK, "ntconv merge drops them"},
		{"merge a.nettrace a.nettrace once.nettrace", exitOK, "named twice and read once: a.nettrace"},
		{"merge a.nettrace b.nettrace --offset 9=+1s x.nettrace", exitUsage, "no input is called 9; the inputs are 1 a.nettrace, 2 b.nettrace"},
		{"merge a.nettrace b.nettrace --host 9=x x.nettrace", exitUsage, "the inputs are 1 a.nettrace, 2 b.nettrace"},
		{"merge a.nettrace b.nettrace both.pb.gz", exitOK, "profile"},
		{"split a.nettrace", exitUsage, "got 1 argument\n"},
		{"top --debug-dir nowhere a.nettrace", exitUsage, "nowhere"},
		{"to pprof none-*.nettrace -o none/", exitInput, "no file matches the pattern\n"},
	} {
		r := invoke(t, dir, nil, strings.Fields(c.args)...)
		if r.code != c.code || !strings.Contains(r.stderr, c.says) {
			t.Errorf("%s: exit code %d: %s", c.args, r.code, r.stderr)
		}
	}
	if b, err := os.ReadFile(dir + "/both.pb.gz"); err != nil || !strings.HasPrefix(string(b), "\x1f\x8b") {
		t.Errorf("both.pb.gz is not compressed: %v", err)
	}
	r := invoke(t, dir, nil, "split", "--every", "$event ==", "a.nettrace", "x")
	if r.code != exitUsage || strings.Contains(r.stderr, "^;") {
		t.Errorf("exit code %d: %s", r.code, r.stderr)
	}
}
