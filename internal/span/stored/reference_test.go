package stored_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/ntconv/ntconv/internal/testing/corpus"
	"github.com/ntconv/ntconv/internal/testing/spangen"
)

// TraceEvent and dotnet-trace read spans of any size and with any content, and TraceEvent decodes every field.
func TestReferenceReadsSpans(t *testing.T) {
	if testing.Short() {
		t.Skip("runs another program")
	}
	program := corpus.Shared(t, "oracle", "traceevent")
	spans := large()
	for i := range 20 {
		spans = append(spans, spangen.Spans().Example(i)...)
	}
	events := encode(newThread(), spans...)
	path := filepath.Join(t.TempDir(), "spans.nettrace")
	if err := os.WriteFile(path, nettrace(t, events), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(program, "events", path).Output()
	if err != nil {
		if probe := exec.Command(program, "summary", corpus.Shared(t, "data", "vectors", "ParseMinimalTraceV6.nettrace")); probe.Run() != nil {
			t.Skipf("the reference reader cannot be run: %v", err)
		}
		t.Fatalf("the reference reader refuses spans: %v", err)
	}
	lines := bytes.Split(bytes.TrimSpace(out), []byte("\n"))
	if len(lines) != len(events) {
		t.Fatalf("want %d events, got %d", len(events), len(lines))
	}
	for i, line := range lines {
		var e struct {
			Name, TraceID, CRC32 string
			Payload              map[string]any
		}
		if err := json.Unmarshal(line, &e); err != nil {
			t.Fatal(err)
		}
		want := events[i]
		if e.Name != want.Type.Name || e.CRC32 != fmt.Sprintf("%08x", crc32.ChecksumIEEE(want.Payload)) || len(e.Payload) != len(want.Type.Fields) {
			t.Fatalf("event %d: want %s with %d fields, got %s %v", i, want.Type.Name, len(want.Type.Fields), e.Name, e.Payload)
		}
		if bytes.Contains(line, []byte("EXCEPTION")) || bytes.Contains(line, []byte(`{"error"`)) {
			t.Errorf("event %d cannot be decoded: %.300s", i, line)
		}
	}
	convert := exec.Command(program, "convert", "--format", "Speedscope", "-o", filepath.Join(t.TempDir(), "x"), path)
	if out, err := convert.CombinedOutput(); err != nil || bytes.Contains(out, []byte("ERROR")) {
		t.Errorf("dotnet-trace: %v: %.500s", err, out)
	}
}
