package e2e

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"go.opentelemetry.io/collector/pdata/plog"
)

// logRecords returns the records of OTLP data as sorted texts of JSON, with what is around each.
func logRecords(t *testing.T, all ...plog.Logs) (list []string) {
	t.Helper()
	for _, data := range all {
		for _, r := range data.ResourceLogs().All() {
			for _, s := range r.ScopeLogs().All() {
				for _, l := range s.LogRecords().All() {
					text, err := json.Marshal([]any{
						r.Resource().Attributes().AsRaw(), s.Scope().Name(), l.Timestamp(), l.ObservedTimestamp(), l.SeverityNumber(), l.SeverityText(), l.Body().AsRaw(),
						l.Attributes().AsRaw(), l.TraceID().String(), l.SpanID().String(), l.Flags(), l.EventName(),
					})
					must(t, err)
					list = append(list, string(text))
				}
			}
		}
	}
	slices.Sort(list)
	return list
}

// logLines returns the records of a file of JSON lines.
func logLines(t *testing.T, name string) []string {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	var all []plog.Logs
	for line := range bytes.Lines(b) {
		if bytes.HasPrefix(line, []byte(`{"resourceLogs"`)) && bytes.HasSuffix(line, []byte("\n")) {
			data, err := new(plog.JSONUnmarshaler).UnmarshalLogs(line)
			must(t, err)
			all = append(all, data)
		}
	}
	return logRecords(t, all...)
}

// A collector receives the log records of a file for every way of sending them, and reads those of files.
func TestCollectorReceivesLogs(t *testing.T) {
	c := newCollector(t)
	for _, name := range []string{"logging", "logging-formatted", "logging-json"} {
		trace := shared(t, "own", name+".nettrace.zst")
		file := filepath.Join(t.TempDir(), "a.binpb")
		if r := run(t, command, "to", "otlp", trace, "--signals", "logs", "-o", file); r.code != 0 {
			t.Fatalf("%s: %s", name, r.stderr)
		}
		b, err := os.ReadFile(file)
		must(t, err)
		data, err := new(plog.ProtoUnmarshaler).UnmarshalLogs(b)
		must(t, err)
		want := logRecords(t, data)
		if len(want) < 5 {
			t.Fatalf("%s: %d records", name, len(want))
		}
		text := filepath.Join(t.TempDir(), "a.jsonl")
		if r := run(t, command, "to", "otlp", trace, "-o", text); r.code != 0 || !slices.Equal(logLines(t, text), want) {
			t.Errorf("%s: JSON lines differ from protobuf: %s", name, r.stderr)
		}
		for _, args := range [][]string{
			{"--endpoint", c.grpc}, {"--endpoint", c.grpc, "--compression", "gzip", "--batch", "3"}, {"--endpoint", c.http},
			{"--endpoint", c.http, "--protocol", "http/json", "--batch-bytes", "1KiB"},
		} {
			if r := run(t, command, append([]string{"to", "otlp", trace}, args...)...); r.code != 0 {
				t.Fatalf("%s %s: exit code %d: %s", name, args, r.code, r.stderr)
			}
			eventually(t, "the collector has all log records", func() bool { return len(logLines(t, c.logs)) >= len(want) })
			if got := logLines(t, c.logs); !slices.Equal(got, want) {
				t.Errorf("%s %s: received %d records, want %d:\n%s\n%s", name, args, len(got), len(want), got[0], want[0])
			}
			must(t, os.Truncate(c.logs, 0))
		}
	}
}
