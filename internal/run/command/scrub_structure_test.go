package command

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A scrubbed trace has the same profile as the original: names of methods and weights are kept.
func TestScrubKeepsProfiles(t *testing.T) {
	for _, name := range []string{"cpu-env", "cpu-v6", "alloc-verbose", "exceptions", "waits"} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			succeed(t, dir, "scrub", trace(t, name), "clean.nettrace")
			want := invoke(t, dir, nil, "to", "folded", "-q", "-o", "-", trace(t, name))
			got := invoke(t, dir, nil, "to", "folded", "-q", "-o", "-", "clean.nettrace")
			if want.code != got.code || want.stdout == "" || want.stdout != got.stdout {
				t.Errorf("codes %d and %d, folded stacks of %d and %d bytes differ", want.code, got.code, len(want.stdout), len(got.stdout))
			}
		})
	}
}

// A scrubbed trace has the same tree of spans as the original, and the same one with other IDs with --ids hash.
func TestScrubKeepsSpans(t *testing.T) {
	dir := t.TempDir()
	want := spanTree(t, dir, trace(t, "spans-stop"))
	for _, ids := range []string{"keep", "hash"} {
		succeed(t, dir, "scrub", "-f", "--ids", ids, trace(t, "spans-stop"), "clean.nettrace")
		got := spanTree(t, dir, "clean.nettrace")
		if ids == "keep" && !slices.Equal(want.rows, got.rows) {
			t.Errorf("%q became %q", want.rows, got.rows)
		}
		if !slices.Equal(want.shape, got.shape) {
			t.Errorf("--ids %s: %q became %q", ids, want.shape, got.shape)
		}
		if ids == "hash" && slices.Equal(want.rows, got.rows) {
			t.Error("--ids hash keeps the IDs")
		}
	}
}

// A tree is the spans of a trace, with their IDs, and with the times of the parent instead of IDs.
type tree struct{ rows, shape []string }

func spanTree(t *testing.T, dir, in string) (out tree) {
	t.Helper()
	succeed(t, dir, "to", "otlp", "-f", "-o", "spans.jsonl", in)
	b := contentAt(t, filepath.Join(dir, "spans.jsonl"))
	type spanJSON struct {
		TraceID, SpanID, ParentSpanID, StartTimeUnixNano, EndTimeUnixNano string
		Kind                                                              int
		Attributes, Events, Links                                         []json.RawMessage
	}
	times := map[string]string{}
	var spans []spanJSON
	for line := range strings.Lines(string(b)) {
		var batch struct {
			ResourceSpans []struct{ ScopeSpans []struct{ Spans []spanJSON } }
		}
		decode(t, []byte(line), &batch)
		for _, r := range batch.ResourceSpans {
			for _, s := range r.ScopeSpans {
				spans = append(spans, s.Spans...)
			}
		}
	}
	for _, s := range spans {
		times[s.TraceID+s.SpanID] = s.StartTimeUnixNano
	}
	for _, s := range spans {
		if slices.ContainsFunc(s.Attributes, func(a json.RawMessage) bool { return strings.Contains(string(a), "ntconv.synthetic") }) {
			continue // its IDs are hashes of the texts
		}
		what := fmt.Sprint(s.StartTimeUnixNano, s.EndTimeUnixNano, s.Kind, len(s.Attributes), len(s.Events), len(s.Links))
		out.rows = append(out.rows, s.TraceID+s.SpanID+s.ParentSpanID+" "+what)
		out.shape = append(out.shape, what+" "+times[s.TraceID+s.ParentSpanID])
	}
	slices.Sort(out.rows)
	slices.Sort(out.shape)
	return out
}
