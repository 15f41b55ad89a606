package e2e

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

// allTypes returns a span with every type of attribute, and with a value that is larger than an event of a trace.
func allTypes(t *testing.T) []byte {
	t.Helper()
	traces := ptrace.NewTraces()
	r := traces.ResourceSpans().AppendEmpty()
	r.SetSchemaUrl("https://opentelemetry.io/schemas/1.30.0")
	r.Resource().Attributes().PutStr("service.name", "shop")
	s := r.ScopeSpans().AppendEmpty()
	s.Scope().SetName("types")
	s.Scope().SetVersion("1")
	sp := s.Spans().AppendEmpty()
	sp.SetTraceID(pcommon.TraceID{15: 1})
	sp.SetSpanID(pcommon.SpanID{7: 1})
	sp.SetName("all \x00 types")
	sp.SetFlags(0x301)
	sp.TraceState().FromRaw("a=b")
	sp.SetStartTimestamp(1_800_000_000_000_000_001)
	sp.SetEndTimestamp(1_800_000_000_000_000_002)
	sp.SetDroppedAttributesCount(1 << 31)
	a := sp.Attributes()
	a.PutBool("true", true)
	a.PutInt("int", -1<<63)
	a.PutDouble("double", 0.1)
	a.PutStr("large", strings.Repeat("é", 40_000))
	a.PutEmptyBytes("bytes").FromRaw([]byte{0, 1, 255})
	list := a.PutEmptySlice("list")
	list.AppendEmpty().SetStr("x")
	list.AppendEmpty().SetEmptyMap().PutStr("k", "v")
	list.AppendEmpty()
	a.PutEmpty("empty")
	e := sp.Events().AppendEmpty()
	e.SetName("event")
	e.SetTimestamp(7)
	e.Attributes().PutInt("n", 1)
	l := sp.Links().AppendEmpty()
	l.SetTraceID(pcommon.TraceID{0: 1})
	l.SetSpanID(pcommon.SpanID{0: 1})
	l.SetFlags(0x100)
	b, err := new(ptrace.ProtoMarshaler).MarshalTraces(traces)
	must(t, err)
	return b
}

// OTLP that is converted to a trace and back has the same contents, according to the Collector's own package.
func TestOTLPRoundTrip(t *testing.T) {
	path := filepath.Join(t.TempDir(), "types.binpb")
	must(t, os.WriteFile(path, allTypes(t), 0o600))
	roundTrip(t, path, protobuf(t, allTypes(t)))
}

// The example of opentelemetry-proto (examples/trace.json) has upper-case IDs, times as numbers, and JSON over several
// lines.
const protoExample = `{
  "resourceSpans": [{
    "resource": {"attributes": [{"key": "service.name", "value": {"stringValue": "my.service"}}]},
    "scopeSpans": [{
      "scope": {"name": "my.library", "version": "1.0.0", "attributes": [{"key": "my.scope.attribute", "value": {"stringValue": "some scope attribute"}}]},
      "spans": [{
        "traceId": "5B8EFFF798038103D269B633813FC60C", "spanId": "EEE19B7EC3C1B174", "parentSpanId": "EEE19B7EC3C1B173",
        "name": "I'm a server span", "startTimeUnixNano": 1544712660000000000, "endTimeUnixNano": 1544712661000000000, "kind": 2,
        "attributes": [{"key": "my.span.attr", "value": {"stringValue": "some value"}}]
      }]
    }]
  }]
}
`

// The example of the protocol round-trips.
func TestOTLPOfProtoExample(t *testing.T) {
	path := filepath.Join(t.TempDir(), "trace.json")
	must(t, os.WriteFile(path, []byte(protoExample), 0o600))
	traces, err := new(ptrace.JSONUnmarshaler).UnmarshalTraces([]byte(protoExample))
	must(t, err)
	want := spanSet{}
	want.add(t, traces)
	checkTraceEvent(t, roundTrip(t, path, want), 1)
}

// The output of an SDK round-trips, and TraceEvent reads the intermediate trace without an error.
func TestOTLPOfSDK(t *testing.T) {
	inputs := 0
	for _, path := range glob(t, filepath.Join(shared(t, "data"), "otel", "*.otlp.binpb")) {
		if strings.Contains(path, "metrics") {
			continue
		}
		inputs++
		t.Run(filepath.Base(path), func(t *testing.T) {
			b := contentAt(t, path)
			want := delimited(t, b)
			checkTraceEvent(t, roundTrip(t, path, want), len(want))
		})
	}
	if inputs < 7 {
		t.Errorf("only %d inputs", inputs)
	}
}

// TraceEvent reads spans of all types, including one that is larger than an event can be.
func TestTraceEventReadsSpans(t *testing.T) {
	path := filepath.Join(t.TempDir(), "types.binpb")
	must(t, os.WriteFile(path, allTypes(t), 0o600))
	checkTraceEvent(t, roundTrip(t, path, protobuf(t, allTypes(t))), 2)
}

func checkTraceEvent(t *testing.T, trace string, events int) {
	t.Helper()
	r := run(t, traceevent(t), "events", trace)
	if n := bytes.Count(r.stdout, []byte("\n")); r.code != 0 || len(r.stderr) > 0 || n < events {
		t.Errorf("exit code %d, %d lines for %d events: %.500s", r.code, n, events, r.stderr)
	}
}

// roundTrip converts OTLP to a trace, which it returns, and back in every form.
func roundTrip(t *testing.T, path string, want spanSet) (trace string) {
	t.Helper()
	sameSpans(t, "directly", protobuf(t, convertSpans(t, path, "a.binpb")), want)
	trace = filepath.Join(t.TempDir(), "a.nettrace")
	succeed(t, "to", "nettrace", path, "-o", trace)
	sameSpans(t, "through a trace", protobuf(t, convertSpans(t, trace, "b.binpb")), want)
	for _, form := range []string{"a.jsonl", "a.jsonl.gz", "a.binpb.zst"} {
		file := filepath.Join(t.TempDir(), form)
		succeed(t, "convert", trace, file)
		sameSpans(t, "through "+form, jsonLines(t, convertSpans(t, file, "c.jsonl")), want)
	}
	r := run(t, command, "from", "otlp", "to", "nettrace", path, "-o", "-")
	if first, err := os.ReadFile(trace); err != nil || !bytes.Equal(first, r.stdout) {
		t.Errorf("%v: ntconv from otlp writes another trace", err)
	}
	return trace
}
