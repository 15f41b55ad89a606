package formats

import (
	"bytes"
	"github.com/ntconv/ntconv/reader"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/exporters/pprof"
	"github.com/ntconv/ntconv/internal/testing/corpus"
	"github.com/ntconv/ntconv/ntconvtest"
)

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

// No other input is mistaken for OTLP: traces, profiles that ntconv writes of them, and any beginning of either, and text.
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
}

// --order decides whether spans are read by time.
func TestOrderOfOTLP(t *testing.T) {
	const text = `{"resourceSpans":[{"scopeSpans":[{"spans":[` +
		`{"traceId":"0102030405060708090a0b0c0d0e0f10","spanId":"0000000000000001","name":"a","startTimeUnixNano":"9","endTimeUnixNano":"9"},` +
		`{"traceId":"0102030405060708090a0b0c0d0e0f10","spanId":"0000000000000002","name":"b","startTimeUnixNano":"1","endTimeUnixNano":"1"}]}]}]}`
	for order, late := range map[reader.Order]bool{reader.ByTime: false, reader.FileOrder: true} {
		src, err := openOTLP(strings.NewReader(text), &ReadOptions{Order: order, Report: new(ntconv.Report)})
		if err != nil {
			t.Fatal(err)
		}
		events, err := ntconvtest.Record(src)
		if err != nil || len(events) != 2 || (events[0].Time > events[1].Time) != late {
			t.Errorf("order %v: %v, %v", order, events, err)
		}
	}
}
