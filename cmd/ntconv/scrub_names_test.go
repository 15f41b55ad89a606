package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A rule of a policy that matches nothing is a note, and one that matches is not. An invalid one is an error with the
// line.
func TestScrubPolicyNotes(t *testing.T) {
	dir := t.TempDir()
	policy := filepath.Join(dir, "own")
	scrub := func(text string, flags ...string) result {
		if err := os.WriteFile(policy, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return invoke(t, dir, nil, slices.Concat([]string{"scrub", "-f", "--policy", policy}, flags, []string{trace(t, "sources"), "clean.nettrace"})...)
	}
	const text = "field Shop-Manifest/Strings.first name\nfield Shop-Manifest/Strings.frist name\nkey attribute no.such text\n"
	if r := scrub(text); r.code != exitOK || !strings.Contains(r.stderr, "2 rules of the policy matched nothing: ") ||
		!strings.Contains(r.stderr, "line 2: field") || !strings.Contains(r.stderr, "line 3: key") || strings.Contains(r.stderr, ": line 1") {
		t.Errorf("code %d: %s", r.code, r.stderr)
	}
	if r := scrub(text, "--dry-run"); r.code != exitOK || strings.Count(r.stdout, "A rule of the policy matches nothing: ") != 2 {
		t.Errorf("code %d: %s%s", r.code, r.stdout, r.stderr)
	}
	if r := scrub("\nclass nope keep\n"); r.code != exitUsage || !strings.Contains(r.stderr, policy+": line 2: ") {
		t.Errorf("code %d: %s", r.code, r.stderr)
	}
}

// --examples, like --json, needs --dry-run.
func TestScrubExamplesNeedDryRun(t *testing.T) {
	r := invoke(t, t.TempDir(), nil, "scrub", "--examples", "2", trace(t, "sources"), "clean.nettrace")
	if r.code != exitUsage || !strings.Contains(r.stderr, "--examples needs --dry-run") {
		t.Errorf("code %d: %s", r.code, r.stderr)
	}
}

// The flags that select fields and providers are completed from the trace, and the completions are accepted.
func TestScrubCompletion(t *testing.T) {
	dir := t.TempDir()
	for flag, want := range map[string]string{
		"--field": "Shop-Manifest/Strings.first", "--provider-text": "Shop-Manifest", "--drop-provider": "Shop-Manifest",
	} {
		if got := completions(t, dir, "scrub", trace(t, "sources"), flag, "Shop-Mani"); !slices.Contains(got, want) {
			t.Errorf("%s: %q, want %q", flag, got, want)
		}
		if r := invoke(t, dir, nil, "scrub", "-f", flag, want, trace(t, "sources"), "clean.nettrace"); r.code != exitOK {
			t.Errorf("%s %s: %s", flag, want, r.stderr)
		}
	}
}
