package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// printed returns what print shows for a scrubbed trace.
func printed(t *testing.T, name string, flags ...string) string {
	t.Helper()
	dir := t.TempDir()
	if r := invoke(t, dir, nil, append(append([]string{"scrub", "--key", scrubKey}, flags...), trace(t, name), "clean.nettrace")...); r.code != 0 {
		t.Fatal(r.stderr)
	}
	return invoke(t, dir, nil, "print", "-q", "clean.nettrace").stdout
}

// Flags choose what is replaced, and what is not.
func TestScrubFlags(t *testing.T) {
	policy := filepath.Join(t.TempDir(), "policy")
	if err := os.WriteFile(policy, []byte("field Shop-Manifest/Strings.first name # by its name\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		trace      string
		flags      []string
		has, hasNo string
	}{
		{"sources", nil, `Shop-Manifest/Integers flag=true b=255 `, `first="plain"`},
		{"sources", []string{"--policy", policy}, `first="plain"`, `third="日本`},
		{"sources", []string{"--field", "Shop-Manifest/Integers.b"}, `Shop-Manifest/Integers flag=true b=`, ` b=255 `},
		{"sources", []string{"--provider-text", "Shop-Manifest"}, `Shop-Manifest/Integers`, `l=-9223372036854775808`},
		{"sources", []string{"--drop-provider", "Shop-Manifest"}, `Shop-SelfDescribing/`, `Shop-Manifest/`},
		{"exceptions", nil, `ExceptionType="System.InvalidOperationException"`, `/opt/rec`},
		{"exceptions", []string{"--methods", "hash"}, `ExceptionMessage=`, `InvalidOperationException`},
	} {
		out := printed(t, c.trace, c.flags...)
		if !strings.Contains(out, c.has) || strings.Contains(out, c.hasNo) {
			t.Errorf("%s %q: %v, and %q is %v there", c.trace, c.flags, strings.Contains(out, c.has), c.hasNo, strings.Contains(out, c.hasNo))
		}
	}
}

// Two runs with one key write the same file, runs without a key do not, and a dropped provider is not a loss.
func TestScrubKeys(t *testing.T) {
	dir := t.TempDir()
	file := func(flags ...string) string {
		r := invoke(t, dir, nil, append(append([]string{"scrub", "-f"}, flags...), trace(t, "sources"), "clean.nettrace")...)
		b, err := os.ReadFile(filepath.Join(dir, "clean.nettrace"))
		if r.code != 0 || err != nil {
			t.Fatal(r.stderr, err)
		}
		return string(b)
	}
	keyed := file("--key", scrubKey)
	if keyed != file("--key", scrubKey) {
		t.Error("the same key yields different files")
	}
	random := file()
	if random == file() {
		t.Error("random keys yield the same file")
	}
	if strings.Contains(keyed, scrubKey) {
		t.Error("the file contains the key")
	}
	before := invoke(t, dir, nil, "info", trace(t, "sources")).stdout
	file("--drop-provider", "Shop-Manifest")
	after := invoke(t, dir, nil, "info", "clean.nettrace").stdout
	lost := func(s string) string { return s[strings.LastIndex(s, "Losses"):] }
	if lost(before) != lost(after) {
		t.Errorf("losses were %q and are %q", lost(before), lost(after))
	}
}

// A dry run lists places, classes and examples, and writes no file.
func TestScrubDryRun(t *testing.T) {
	dir := t.TempDir()
	r := invoke(t, dir, nil, "scrub", "--dry-run", "--json", "--examples", "1", trace(t, "sources"))
	var out struct {
		Texts, Changed int64
		Rows           []struct {
			Provider, Event, Field, Class, Action string
			Texts, Changed                        int64
			Examples                              []struct{ Before, After string }
		}
	}
	if err := json.Unmarshal([]byte(r.stdout), &out); err != nil || r.code != 0 {
		t.Fatal(err, r.stderr)
	}
	found := false
	texts := int64(0)
	for _, row := range out.Rows {
		texts += row.Texts
		if row.Provider == "Shop-Manifest" && row.Event == "Strings" && row.Field == "first" {
			found = row.Class == "text" && row.Action == "replace" && len(row.Examples) == 1 && row.Examples[0].Before == "plain" &&
				len(row.Examples[0].After) == len("plain") && row.Changed > 0
		}
	}
	if !found || texts != out.Texts || out.Changed == 0 {
		t.Errorf("%d texts in rows, want %d; the row of Shop-Manifest/Strings.first is not as expected: %s", texts, out.Texts, r.stdout)
	}
	if r := invoke(t, dir, nil, "scrub", "--dry-run", "--examples", "0", trace(t, "sources")); strings.Contains(r.stdout, "->") {
		t.Errorf("examples in %s", r.stdout)
	}
	if files, _ := os.ReadDir(dir); len(files) > 0 {
		t.Errorf("files: %v", files)
	}
}

// A large span and a large event of Chrome's format, which are divided into parts, are scrubbed as one.
func TestScrubDividedEvents(t *testing.T) {
	dir := t.TempDir()
	text := strings.Repeat(`secret \"word\" \u00e9 `, 9000)
	spans := `{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"5b8efff798038103d269b633813fc60c","spanId":"eee19b7ec3c1b174",` +
		`"name":"large","startTimeUnixNano":"1544712660000000000","endTimeUnixNano":"1544712661000000000",` +
		`"attributes":[{"key":"http.request.method","value":{"stringValue":"GET"}},{"key":"text","value":{"stringValue":"` + text + `"}}]}]}]}]}`
	events := `{"traceEvents":[{"ph":"X","name":"large","cat":"c","pid":1,"tid":1,"ts":7,"dur":1,"args":{"text":"` + text + `"}}]}`
	for _, c := range []struct{ in, data, out, has string }{
		{"in.jsonl", spans, "out.jsonl", `{"stringValue":"GET"}`}, {"in.json", events, "out.json", `"dur":1`},
	} {
		if err := os.WriteFile(filepath.Join(dir, c.in), []byte(c.data), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, args := range [][]string{{"scrub", "-f", c.in, "clean.nettrace"}, {"convert", "clean.nettrace", c.out}} {
			if r := invoke(t, dir, nil, args...); r.code != 0 {
				t.Fatalf("%q: %s", args, r.stderr)
			}
		}
		b, err := os.ReadFile(filepath.Join(dir, c.out))
		if err != nil || len(b) < 9000*len("secret  word    ") || !strings.Contains(string(b), c.has) || strings.Contains(string(b), "secret") {
			t.Errorf("%s: %d bytes, %v", c.in, len(b), err)
		}
	}
}
