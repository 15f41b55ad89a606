package command

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

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
		must(t, os.WriteFile(filepath.Join(dir, c.in), []byte(c.data), 0o600))
		for _, args := range [][]string{{"scrub", "-f", c.in, "clean.nettrace"}, {"convert", "clean.nettrace", c.out}} {
			succeed(t, dir, args...)
		}
		b, err := os.ReadFile(filepath.Join(dir, c.out))
		if err != nil || len(b) < 9000*len("secret  word    ") || !strings.Contains(string(b), c.has) || strings.Contains(string(b), "secret") {
			t.Errorf("%s: %d bytes, %v", c.in, len(b), err)
		}
	}
}
