package main

import (
	"strings"
	"testing"
)

// A trace without a date stays undated through every format that can hold its events. Only OTLP has to state dates,
// and the summary reports it. --start-time dates the trace.
func TestUndated(t *testing.T) {
	dir := t.TempDir()
	const unknown = "recorded  at an unknown time\n"
	write(t, dir, "x.json", []byte(`[{"ph":"X","pid":1,"tid":2,"ts":9000000.25,"dur":1000000,"name":"f"},{"ph":"X","pid":1,"tid":2,"ts":9500000.25,"dur":7.5,"name":"g"}]`))
	for _, name := range []string{"x.nettrace", "x.firefox.json", "x.jsonl", "again.json", "x"} {
		format := map[string]string{
			"x.nettrace": "nettrace", "x.firefox.json": "firefox", "x.jsonl": "otlp", "again.json": "chrome", "x": "parquet",
		}[name]
		r := succeed(t, dir, "to", format, "x.json", "-o", name)
		if says := strings.Contains(r.stderr, "; the trace has no date, so times count from 1970-01-01; set --start-time"); says != (format == "otlp") {
			t.Errorf("%s: %s", name, r.stderr)
		}
		if r := succeed(t, dir, "info", name); !strings.Contains(r.stdout, unknown) {
			t.Errorf("%s: %s", name, r.stdout)
		}
		r = succeed(t, dir, "info", "--start-time", "2026-11-21T06:52:53.0005Z", name)
		if !strings.Contains(r.stdout, "recorded  2026-11-21 06:52:53.000 UTC\n") {
			t.Errorf("%s: %s", name, r.stdout)
		}
	}
	succeed(t, dir, "to", "nettrace", "--start-time", "1795243973.0005", "x.json", "-o", "dated.nettrace")
	r := succeed(t, dir, "to", "otlp", "--start-time", "1", "dated.nettrace", "-o", "dated.jsonl")
	if strings.Contains(r.stderr, "1970") || !strings.Contains(r.stderr, "; --start-time has no effect: dated.nettrace states when it began\n") {
		t.Error(r.stderr)
	}
	spans := string(contentAt(t, dir+"/dated.jsonl"))
	for _, want := range []string{`"startTimeUnixNano":"1795243973000500000","endTimeUnixNano":"1795243974000500000"`, `"endTimeUnixNano":"1795243973500507500"`} {
		if !strings.Contains(spans, want) {
			t.Errorf("%s is not in %s", want, spans)
		}
	}
	for _, bad := range []string{"yesterday", "1.", "-1", "1.0000000001", "9999999999999", "1500-01-01T00:00:00Z", ""} {
		if r := invoke(t, dir, nil, "info", "--start-time", bad, "x.json"); r.code != exitUsage || !strings.Contains(r.stderr, "--start-time") {
			t.Errorf("%q: code %d: %s", bad, r.code, r.stderr)
		}
	}
}
