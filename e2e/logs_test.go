package e2e

import (
	"encoding/json"
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

// logSignal returns how log records are read.
func logSignal(t *testing.T) *sentSignal {
	return &sentSignal{
		name: "logs", first: `{"resourceLogs"`, least: 5, file: func(c *collector) string { return c.logs },
		proto: func(b []byte) []string {
			data, err := new(plog.ProtoUnmarshaler).UnmarshalLogs(b)
			must(t, err)
			return logRecords(t, data)
		},
		json: func(line []byte) []string {
			data, err := new(plog.JSONUnmarshaler).UnmarshalLogs(line)
			must(t, err)
			return logRecords(t, data)
		},
	}
}

// A collector receives the log records of a file for every way of sending them, and reads those of files.
func TestCollectorReceivesLogs(t *testing.T) {
	s := logSignal(t)
	s.traces = []string{shared(t, "data", "own", "logging.nettrace.zst"), shared(t, "data", "own", "logging-formatted.nettrace.zst"), shared(t, "data", "own", "logging-json.nettrace.zst")}
	signalAtCollector(t, s)
}
