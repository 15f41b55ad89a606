package e2e

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
)

// allBodies returns log records with every type of body, with and without each field, and with a body that is larger
// than an event of a trace.
func allBodies() plog.Logs {
	data := plog.NewLogs()
	r := data.ResourceLogs().AppendEmpty()
	r.Resource().Attributes().PutStr("service.name", "shop")
	s := r.ScopeLogs().AppendEmpty()
	s.Scope().SetName("till")
	for i, set := range []func(pcommon.Value){
		func(pcommon.Value) {},
		func(v pcommon.Value) { v.SetStr("text \x00 \U0001f600") },
		func(v pcommon.Value) { v.SetInt(-1 << 63) },
		func(v pcommon.Value) { v.SetDouble(0.1) },
		func(v pcommon.Value) { v.SetBool(true) },
		func(v pcommon.Value) { v.SetEmptyBytes().FromRaw([]byte{0, 255}) },
		func(v pcommon.Value) { v.SetEmptySlice().AppendEmpty().SetEmptyMap().PutStr("k", "v") },
		func(v pcommon.Value) { v.SetStr(strings.Repeat("é", 40_000)) },
	} {
		l := s.LogRecords().AppendEmpty()
		l.SetObservedTimestamp(1_800_000_000_000_000_000 + pcommon.Timestamp(i))
		set(l.Body())
		if i%2 == 0 {
			l.SetTimestamp(1_800_000_000_000_000_000 + pcommon.Timestamp(i))
			l.SetSeverityNumber(plog.SeverityNumberWarn2)
			l.SetSeverityText("W")
			l.SetEventName("sold")
			l.SetTraceID(pcommon.TraceID{1})
			l.SetSpanID(pcommon.SpanID{2})
			l.SetFlags(plog.DefaultLogRecordFlags.WithIsSampled(true))
			l.Attributes().PutInt("n", int64(i))
		}
	}
	return data
}

// Log records that are converted to a trace and back have the same contents, according to the Collector's own package,
// and TraceEvent reads the trace without an error.
func TestOTLPLogsRoundTrip(t *testing.T) {
	b, err := new(plog.ProtoMarshaler).MarshalLogs(allBodies())
	must(t, err)
	text, err := new(plog.JSONMarshaler).MarshalLogs(allBodies())
	must(t, err)
	want := logRecords(t, allBodies())
	for name, input := range map[string][]byte{"a.binpb": b, "a.json": text} {
		dir := t.TempDir()
		path, trace, out, lines := filepath.Join(dir, name), filepath.Join(dir, "a.nettrace"), filepath.Join(dir, "b.binpb"), filepath.Join(dir, "b.jsonl")
		must(t, os.WriteFile(path, input, 0o600))
		succeed(t, "to", "nettrace", path, "-o", trace)
		succeed(t, "to", "otlp", "--signals", "logs", trace, "-o", out)
		succeed(t, "to", "otlp", trace, "-o", lines)
		written, err := os.ReadFile(out)
		must(t, err)
		data, err := new(plog.ProtoUnmarshaler).UnmarshalLogs(written)
		must(t, err)
		if got := logRecords(t, data); !slices.Equal(got, want) {
			t.Errorf("%s: got\n%.2000q\nwant\n%.2000q", name, got, want)
		}
		if got := logSignal(t).lines(t, lines); !slices.Equal(got, want) {
			t.Errorf("%s: lines are\n%.2000q\nwant\n%.2000q", name, got, want)
		}
		checkTraceEvent(t, trace, len(want)+1)
	}
}
