package otlp_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/importers/otlp"
	"github.com/ntconv/ntconv/internal/span"
	"github.com/ntconv/ntconv/internal/testing/corpus"
	"github.com/ntconv/ntconv/internal/testing/spangen"
	"github.com/ntconv/ntconv/reader"
	"github.com/ntconv/ntconv/writer"
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

// Recorded metrics are rejected with an error that names them, in every form.
func TestRecordedMetrics(t *testing.T) {
	path := filepath.Join(corpus.Shared(t, "data", "otel"), "otel-metrics.otlp.binpb")
	input := corpus.Read(t, path)
	message := input[4 : 4+binary.BigEndian.Uint32(input)]
	for name, input := range map[string][]byte{
		"delimited": input, "protobuf": message, "varint": varintDelimited(message),
		"JSON": requestLines(t, strings.TrimSuffix(path, ".binpb")+".json.zst"),
	} {
		if !otlp.Recognize(input) {
			t.Errorf("%s: not recognized", name)
		}
		if _, err := otlp.New(bytes.NewReader(input), nil); !errors.Is(err, ntconv.ErrUnsupported) || !strings.Contains(err.Error(), "OTLP metrics") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Recorded spans are equal after they were written to nettrace and read again, and TraceEvent reads that file without
// errors.
func TestRecordedSpansSurviveNettrace(t *testing.T) {
	for name, path := range recordings(t) {
		if name == "otel-metrics" {
			continue
		}
		input := corpus.Read(t, path)
		want, err := read(bytes.NewReader(input), nil)
		if err != nil {
			t.Fatal(err)
		}
		src, err := otlp.New(bytes.NewReader(input), nil)
		if err != nil {
			t.Fatal(err)
		}
		var file bytes.Buffer
		w, err := writer.New(&file, src.Info(), nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := ntconv.Copy(w, src); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		var report ntconv.Report
		back, err := reader.New(bytes.NewReader(file.Bytes()), &reader.Options{Order: reader.FileOrder, Report: &report})
		if err != nil {
			t.Fatal(err)
		}
		got, err := drain(back)
		if err != nil {
			t.Fatal(err)
		}
		spangen.WantEqual(t, want, got)
		if entries := report.Entries(); len(entries) > 0 {
			t.Errorf("%s: %v", name, entries)
		}
		referenceReads(t, name, file.Bytes(), len(want))
	}
}

// referenceReads asks TraceEvent for the number of events, losses and inversions of time.
func referenceReads(t *testing.T, name string, file []byte, events int) {
	t.Helper()
	program, err := corpus.Find("oracle", "traceevent")
	if err != nil || testing.Short() {
		return
	}
	path := filepath.Join(t.TempDir(), name+".nettrace")
	if err := os.WriteFile(path, file, 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(program, "summary", path).Output()
	if err != nil {
		t.Skipf("%s: the reference reader failed: %v", name, err)
	}
	var summary struct{ Events, EventsLost, TimeInversions int }
	if err := json.Unmarshal(out, &summary); err != nil {
		t.Fatal(err)
	}
	if summary.Events != events || summary.EventsLost != 0 || summary.TimeInversions != 0 {
		t.Errorf("%s: want %d events in order, got %+v", name, events, summary)
	}
}
