package main

import (
	"strings"
	"testing"
)

// Advice depends on the origin of the input and on the reason why the output would be empty.
func TestAdviceFitsTheInput(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "c.json", []byte(`[{"ph":"X","name":"a","ts":1,"dur":2,"pid":1,"tid":1}]`))
	write(t, dir, "s.folded", []byte("a;b 1\n"))
	for _, c := range []struct {
		args      []string
		code      int
		want, not string
	}{
		{[]string{"top", "--kind", "wall", "c.json"}, exitEmpty, "no samples of threads among 1 event", "dotnet-trace"},
		{[]string{"top", "c.json"}, exitOK, "events profile", "dotnet-trace"},
		{[]string{"to", "otlp", "-o", "x.otlp", "s.folded"}, exitEmpty, "check that the program that wrote it has found samples", "dotnet-trace"},
		{[]string{"top", "--kind", "wall", trace(t, "sources-netperf3")}, exitEmpty, "record samples of threads with dotnet-trace collect", ""},
		{[]string{"to", "chrome", "--min-duration", "1h", "-o", "x.json", "c.json"}, exitEmpty, "no events (1 short slice; a smaller --min-duration includes them)", "recorded something"},
		{[]string{"to", "chrome", "--samples", "none", "--tracks", "gc", "--min-duration", "1h", "-o", "x.json", trace(t, "gcdump")}, exitEmpty, "a smaller --min-duration includes them", "record"},
		{[]string{"to", "chrome", "--min-duration", "1", "-o", "x.json", "c.json"}, exitUsage, `invalid argument "1" for "--min-duration" flag: want a number with a unit, as 1ms, 2.5s or 1m30s`, "time:"},
	} {
		r := invoke(t, dir, nil, c.args...)
		if r.code != c.code || !strings.Contains(r.stderr, c.want) || c.not != "" && strings.Contains(r.stderr, c.not) {
			t.Errorf("%q: code %d, want %q: %s", c.args, r.code, c.want, r.stderr)
		}
	}
}

// Processes of Chrome's format are not called .NET.
func TestServiceOfChrome(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "c.json", []byte(`[{"ph":"X","name":"a","ts":1,"dur":2,"pid":1,"tid":1}]`))
	r := invoke(t, dir, nil, "to", "otlp", "c.json", "-o", "-")
	if r.code != exitOK || !strings.Contains(r.stdout, `"unknown_service"`) || strings.Contains(r.stdout, "dotnet") {
		t.Errorf("code %d: %s%s", r.code, r.stdout, r.stderr)
	}
}

// Help states from when the times of timelines and of print count.
func TestHelpStatesOriginOfTimes(t *testing.T) {
	for _, command := range []string{"print", "to chrome", "to perfetto", "to firefox", "to speedscope"} {
		r := invoke(t, t.TempDir(), nil, append(strings.Fields(command), "--help")...)
		if text := strings.Join(strings.Fields(r.stdout), " "); !strings.Contains(text, "first item") || !strings.Contains(text, "start of the recording") {
			t.Errorf("%s: %s", command, r.stdout)
		}
	}
}

// A list element that cannot be decoded is reported as such: not every format has tables.
func TestElementsAreNotRows(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "c.json", []byte(`[{"ph":"X","name":"a","ts":1,"dur":2,"pid":1,"tid":1},7]`))
	r := invoke(t, dir, nil, "to", "nettrace", "c.json", "-o", "x.nettrace")
	if r.code != exitIncomplete || !strings.Contains(r.stderr, "row-skipped: 1 table row or list element could not be fully decoded") {
		t.Errorf("code %d: %s", r.code, r.stderr)
	}
}
