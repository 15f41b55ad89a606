package main

import (
	"strings"
	"testing"
)

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
