package command

import (
	"encoding/json"
	"strings"
	"testing"
)

// view reports missing data like the other commands, before it serves.
func TestViewSummary(t *testing.T) {
	dir := t.TempDir()
	in := trace(t, "cpu-norundown")
	want := invoke(t, dir, nil, "top", "--kind", "wall", in)
	if want.code != exitOK || !strings.Contains(want.stderr, "of frames are unresolved") {
		t.Fatalf("code %d: %s", want.code, want.stderr)
	}
	if got := viewStderr(t, dir, "--kind", "wall", in); got != want.stderr {
		t.Errorf("%q, want %q", got, want.stderr)
	}
	if got := viewStderr(t, dir, in); !strings.Contains(got, "of frames are unresolved") {
		t.Errorf("all kinds: %q", got)
	}
	if got := viewStderr(t, dir, "-q", in); got != "" {
		t.Errorf("with -q: %s", got)
	}
	var s summaryJSON
	text := viewStderr(t, dir, "--report", "json", in)
	if err := json.Unmarshal([]byte(text), &s); err != nil || strings.Count(text, "\n") != 1 || !strings.Contains(s.Detail, "unresolved") || s.Exit != exitOK {
		t.Errorf("%v: %s", err, text)
	}
	cut := write(t, dir, "cut.nettrace", unpacked(t, "cpu-env")[:200000])
	if got := viewStderr(t, dir, cut); strings.Count(got, "truncated") != 1 || !strings.Contains(got, "wall") {
		t.Errorf("of a trace that is cut: %s", got)
	}
	text = viewStderr(t, dir, "--report", "json", cut)
	if err := json.Unmarshal([]byte(text), &s); err != nil || s.Exit != exitIncomplete || s.Error == "" {
		t.Errorf("%v: %s", err, text)
	}
}

// viewStderr returns what view has written to standard error when it prints its address.
func viewStderr(t *testing.T, dir string, args ...string) string {
	t.Helper()
	s := show(t, dir, args...)
	if !strings.HasPrefix(s.address, "http://127.0.0.1:") {
		t.Errorf("%q", s.address)
	}
	_ = s.cmd.Process.Kill()
	_, text := s.end(t)
	return text
}
