package command

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/events/clr"
	"github.com/ntconv/ntconv/internal/testing/corpus"
	"github.com/ntconv/ntconv/internal/testing/spangen"
	"github.com/ntconv/ntconv/reader"
	"github.com/ntconv/ntconv/writer"
)

// A sentSpan is a span as a file holds it.
type sentSpan struct {
	TraceID, SpanID, ParentSpanID, Name string
	Attributes                          []struct {
		Key   string
		Value struct{ StringValue string }
	}
}

func readSpans(t *testing.T, lines []byte) (all []sentSpan) {
	t.Helper()
	for line := range bytes.Lines(lines) {
		var message struct {
			ResourceSpans []struct{ ScopeSpans []struct{ Spans []sentSpan } }
		}
		decode(t, line, &message)
		for _, r := range message.ResourceSpans {
			for _, s := range r.ScopeSpans {
				all = append(all, s.Spans...)
			}
		}
	}
	return all
}

// waitTrace is a recording of the ends of Activities, with a wait for a lock after each sample.
func waitTrace(t *testing.T) []byte {
	t.Helper()
	src, err := reader.NewBytes(corpus.SharedTrace(t, "otel/otel-cpu").Data, nil)
	must(t, err)
	var b bytes.Buffer
	w, err := writer.New(&b, src.Info(), &writer.Options{Renumber: true})
	must(t, err)
	isSample := func(e *ntconv.Event) bool { return clr.ClassOf(e.Type) == clr.ClassSample }
	if _, err := ntconv.Copy(w, spangen.Waits(src, isSample)); err != nil {
		t.Fatal(err)
	}
	must(t, w.Close())
	return b.Bytes()
}

// Intervals of the runtime belong to Activities of which only the end is recorded, if the input can be read twice, and
// samples at the same times to the same spans. A note says so if it cannot.
func TestIntervalsOfStopOnlyTraces(t *testing.T) {
	data, dir := waitTrace(t), t.TempDir()
	write(t, dir, "in.nettrace", data)
	if r := invoke(t, dir, nil, "to", "otlp", "--spans", "default,contention", "in.nettrace", "-o", "out.jsonl"); r.code != 0 ||
		!strings.Contains(r.stderr, "intervals of the runtime linked to spans") || strings.Contains(r.stderr, "only once") {
		t.Fatalf("%d %s", r.code, r.stderr)
	}
	spans := map[string]string{}
	sent := readSpans(t, contentAt(t, filepath.Join(dir, "out.jsonl")))
	for _, s := range sent {
		spans[s.TraceID+s.SpanID] = s.Name
	}
	waits := map[string]int{}
	for _, s := range sent {
		if s.Name == "Lock contention" && s.ParentSpanID != "" {
			waits[spans[s.TraceID+s.ParentSpanID]]++
		}
	}
	p, _, _ := convertProfile(t, "--span-name", filepath.Join(dir, "in.nettrace"))
	samples := totals(p, 0, "span_name")
	for _, name := range []string{"scan", "pay"} {
		if waits[name] < 5 || int64(waits[name]) != samples[name] || waits[""] > 0 {
			t.Errorf("%s: %d waits, %d samples; %v", name, waits[name], samples[name], waits)
		}
	}
	r := invoke(t, dir, data, "to", "otlp", "--spans", "default,contention", "-")
	if n := len(readSpans(t, []byte(r.stdout))); r.code != 0 || n != len(sent) || !strings.Contains(r.stderr, "the input can be read only once") {
		t.Errorf("standard input: %d, %d spans, %s", r.code, n, r.stderr)
	}
	if r = invoke(t, dir, data, "to", "otlp", "-"); strings.Contains(r.stderr, "only once") {
		t.Errorf("no intervals: %s", r.stderr)
	}
}

// --profile-id adds the label span_id of the samples of a span to its attributes.
func TestProfileID(t *testing.T) {
	path, dir := spanTrace(t), t.TempDir()
	succeed(t, dir, "to", "otlp", "--profile-id", "-o", "spans.jsonl", path)
	p, _, _ := convertProfile(t, path)
	samples := totals(p, 0, "span_id")
	for _, s := range readSpans(t, contentAt(t, filepath.Join(dir, "spans.jsonl"))) {
		found := ""
		for _, a := range s.Attributes {
			if a.Key == "pyroscope.profile.id" {
				found += a.Value.StringValue
			}
		}
		if samples[found] == 0 || found != s.SpanID {
			t.Errorf("%s has the profile %q", s.Name, found)
		}
	}
}
