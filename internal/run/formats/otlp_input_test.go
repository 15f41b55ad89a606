package formats

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/exporters/pprof"
	"github.com/ntconv/ntconv/internal/files/fileio"
	"github.com/ntconv/ntconv/internal/testing/corpus"
	"github.com/ntconv/ntconv/internal/testing/spangen"
	"github.com/ntconv/ntconv/ntconvtest"
	"google.golang.org/protobuf/proto"
)

// otlpInputs returns an input of every form.
func otlpInputs(t *testing.T) map[string][]byte {
	data := spangen.Proto(spangen.Spans().Example(4))
	message, err := proto.Marshal(data)
	if err != nil || len(message) < 100 {
		t.Fatal(len(message), err)
	}
	text := spangen.JSON(data, spangen.Style{})
	return map[string][]byte{
		"protobuf":  message,
		"delimited": append(binary.BigEndian.AppendUint32(nil, uint32(len(message))), message...),
		"varint":    append(binary.AppendUvarint(nil, uint64(len(message))), message...),
		"JSON":      text, "JSON lines": bytes.Repeat(append(text, '\n'), 2),
		"pretty JSON": spangen.JSON(data, spangen.Style{Indent: "    "}), "array": []byte("[" + string(text) + "]"), "BOM": append([]byte("\ufeff"), text...),
		"metrics": []byte(`{"resourceMetrics": []}`), "profiles": []byte(`{"resourceProfiles":[]}`), "logs": []byte(`{"resourceLogs":[]}`),
	}
}

// Every form of OTLP is recognized by its beginning, however it is compressed and named.
func TestOTLPIsRecognized(t *testing.T) {
	zw, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range otlpInputs(t) {
		var gz bytes.Buffer
		w := gzip.NewWriter(&gz)
		_, _ = w.Write(data) // to memory
		_ = w.Close()
		for _, stored := range [][]byte{data, gz.Bytes(), zw.EncodeAll(data, nil)} {
			in, err := fileio.FromReader("spans", bytes.NewReader(stored), fileio.InputOptions{})
			if err != nil {
				t.Fatal(err)
			}
			stream, err := in.Stream()
			if err != nil {
				t.Fatal(err)
			}
			head := make([]byte, HeadSize)
			n, _ := stream.Read(head)
			if f, err := Detect(Readable(), "x.pb", head[:n]); err != nil || f.Name != "otlp" {
				t.Errorf("%s: %v, %v", name, f, err)
			}
		}
	}
}

// Recordings of the SDK are recognized as well.
func TestRecordedOTLPIsRecognized(t *testing.T) {
	paths, err := filepath.Glob(filepath.Join(corpus.Shared(t, "data", "otel"), "*.binpb"))
	if err != nil || len(paths) == 0 {
		t.Fatal(paths, err)
	}
	for _, path := range paths {
		if f, err := Detect(Readable(), path, headOf(corpus.Read(t, path))); err != nil || f.Name != "otlp" {
			t.Errorf("%s: %v, %v", path, f, err)
		}
	}
}

// No other input is mistaken for OTLP: traces, profiles that ntconv writes of them, and any beginning of either; text,
// and the files of this module.
func TestOthersAreNotOTLP(t *testing.T) {
	in := otlpIn()
	wantOther := func(name string, data []byte) {
		t.Helper()
		for _, n := range []int{SniffSize, 9, 10, 16, 100, HeadSize, len(data)} {
			if in.Sniff(data[:min(n, len(data))]) {
				t.Errorf("%s: the first %d bytes are mistaken for OTLP", name, n)
			}
		}
	}
	for _, f := range corpus.Traces(t) {
		wantOther(f.Name, f.Data)
	}
	for _, f := range ntconvtest.Fixtures() {
		var out bytes.Buffer
		sink := pprof.New(&out, f.Info, new(ntconv.NoNames), &pprof.Options{Uncompressed: true})
		if _, err := ntconv.Copy(sink, f.Source()); err != nil {
			t.Fatal(err)
		}
		if err := sink.Close(); err != nil {
			t.Fatal(err)
		}
		wantOther(f.Name, out.Bytes())
	}
	for _, text := range []string{
		"", "\n", "\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n", "\nhello world, this is text", "{}", "[]", `{"a":1}`, `{"a":"resourceSpans"}`, `{"traceEvents":[]}`, "{", "[[",
		"\x0a\x00", "\x0a\x04\x08\x01\x10\x02", strings.Repeat("\x0a", 100), strings.Repeat("\x00", 100), "\x00\x00\x00\x02\x0a\x00",
	} {
		wantOther(text, []byte(text))
	}
	if err := filepath.WalkDir(filepath.Join("..", "..", ".."), func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.Contains(path, ".git") || strings.Contains(path, "otlp") {
			return err
		}
		data, err := os.ReadFile(path)
		if err == nil {
			wantOther(path, data[:min(len(data), HeadSize)])
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
}
