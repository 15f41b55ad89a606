package e2e

import (
	"bytes"
	"encoding/binary"
	"path/filepath"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

// spanTraces are traces of testdata with spans of several kinds, and shared traces if available.
func spanTraces(t *testing.T) []trace {
	return append([]trace{find(t, "spans-stop"), find(t, "activities")}, spansInBlocks(t)...)
}

// spansInBlocks are shared traces with spans in several blocks of one window, if available.
func spansInBlocks(t *testing.T) (list []trace) {
	t.Helper()
	for _, name := range []string{"spans-http", "spans-both"} {
		for _, path := range glob(t, filepath.Join(sharedRoot(), "data", "own", name+".nettrace.zst")) {
			list = append(list, trace{name: name, path: path})
		}
	}
	return list
}

// convertSpans runs ntconv to otlp and returns the file.
func convertSpans(t *testing.T, in, name string, args ...string) []byte {
	t.Helper()
	out := filepath.Join(t.TempDir(), name)
	succeed(t, append([]string{"to", "otlp", in, "-o", out}, args...)...)
	b := contentAt(t, out)
	return b
}

// protobuf reads a message.
func protobuf(t *testing.T, b []byte) spanSet {
	t.Helper()
	traces, err := new(ptrace.ProtoUnmarshaler).UnmarshalTraces(b)
	must(t, err)
	set := spanSet{}
	set.add(t, traces)
	return set
}

// delimited reads messages, each preceded by its length.
func delimited(t *testing.T, b []byte) spanSet {
	t.Helper()
	set := spanSet{}
	for len(b) > 0 {
		n := binary.BigEndian.Uint32(b)
		traces, err := new(ptrace.ProtoUnmarshaler).UnmarshalTraces(b[4 : 4+n])
		must(t, err)
		set.add(t, traces)
		b = b[4+n:]
	}
	return set
}

// The Collector's own package reads every form of a file, and finds the same spans in each.
func TestCollectorReadsFiles(t *testing.T) {
	for _, tr := range spanTraces(t) {
		want := protobuf(t, convertSpans(t, tr.path, "a.binpb"))
		if want.total() < 5 {
			t.Errorf("%s: %d spans", tr.name, want.total())
		}
		sameSpans(t, tr.name+".jsonl", jsonLines(t, convertSpans(t, tr.path, "a.jsonl", "--batch", "7")), want)
		sameSpans(t, tr.name+" delimited", delimited(t, convertSpans(t, tr.path, "a.binpb", "--form", "delimited", "--batch", "7")), want)
		z2, err := zstd.NewReader(nil)
		must(t, err)
		compressed, err := z2.DecodeAll(convertSpans(t, tr.path, "a.binpb.zst"), nil)
		z2.Close()
		must(t, err)
		sameSpans(t, tr.name+".zst", protobuf(t, compressed), want)
		z, err := gzip.NewReader(bytes.NewReader(convertSpans(t, tr.path, "a.jsonl.gz")))
		must(t, err)
		var plain bytes.Buffer
		if _, err := plain.ReadFrom(z); err != nil {
			t.Fatal(err)
		}
		sameSpans(t, tr.name+".jsonl.gz", jsonLines(t, plain.Bytes()), want)
		r := run(t, command, "to", "otlp", tr.path, "-o", "-")
		sameSpans(t, tr.name+" to standard output", jsonLines(t, r.stdout), want)
	}
}
