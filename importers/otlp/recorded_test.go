package otlp_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/importers/otlp"
	"github.com/ntconv/ntconv/internal/span"
	"github.com/ntconv/ntconv/internal/testing/corpus"
	"github.com/ntconv/ntconv/internal/testing/spangen"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// recordings returns the paths of what the official .NET SDK sent, by name: those of testdata, and more if there are
// any.
func recordings(t testing.TB) map[string]string {
	files := map[string]string{}
	add := func(dir string) {
		paths, err := filepath.Glob(filepath.Join(dir, "*.otlp.binpb"))
		if err != nil || len(paths) == 0 {
			t.Fatal(len(paths), err)
		}
		for _, p := range paths {
			files[strings.TrimSuffix(filepath.Base(p), ".otlp.binpb")] = p
		}
	}
	add("testdata")
	if dir, err := corpus.Find("data", "otel"); err == nil {
		add(dir)
	}
	return files
}

// The importer decodes the same spans from recordings of the SDK as google.golang.org/protobuf, and the same from their
// JSON.
func TestRecordedSpans(t *testing.T) {
	for name, path := range recordings(t) {
		if name == "otel-metrics" {
			continue
		}
		input := corpus.Read(t, path)
		if !otlp.Recognize(input[:4096]) {
			t.Errorf("%s: not recognized", name)
		}
		var want []*span.Span
		for rest := input; len(rest) > 0; {
			size := binary.BigEndian.Uint32(rest)
			data := new(tracepb.TracesData)
			if err := proto.Unmarshal(rest[4:4+size], data); err != nil {
				t.Fatal(err)
			}
			want = append(want, spangen.FromProto(data)...)
			rest = rest[4+size:]
		}
		var report ntconv.Report
		got, err := read(bytes.NewReader(input), &otlp.Options{Report: &report})
		if err != nil || len(got) == 0 {
			t.Fatal(name, len(got), err)
		}
		spangen.WantEqual(t, want, got)
		wantClean(t, &report)

		got, err = read(bytes.NewReader(requestLines(t, strings.TrimSuffix(path, ".binpb")+".json.zst")), &otlp.Options{Report: &report})
		if err != nil {
			t.Fatal(name, err)
		}
		spangen.WantEqual(t, withoutNaNs(want), got)
		wantClean(t, &report)
	}
}

// requestLines returns the requests of a recording, one per line.
func requestLines(t testing.TB, path string) (lines []byte) {
	var recording struct{ Requests []json.RawMessage }
	if err := json.Unmarshal(corpus.Read(t, path), &recording); err != nil {
		t.Fatal(err)
	}
	for _, r := range recording.Requests {
		var line bytes.Buffer
		if err := json.Compact(&line, r); err != nil {
			t.Fatal(err)
		}
		// The recording has bytes as hexadecimal digits; OTLP/JSON has base64, as protojson does.
		text := bytes.ReplaceAll(line.Bytes(), []byte(`{"bytesValue":"0102ff"}`), []byte(`{"bytesValue":"AQL/"}`))
		lines = append(append(lines, text...), '\n')
	}
	return lines
}
