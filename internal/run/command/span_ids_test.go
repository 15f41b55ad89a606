package command

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"testing"

	"github.com/ntconv/ntconv/internal/testing/corpus"
)

// A spanFact is what must survive a timeline: the properties that the timelines of ntconv write.
type spanFact struct {
	Parent, Name, Scope string
	Kind                int
	Status              int
}

// factsOfSpans returns the spans with recorded IDs of a file of JSON lines, and how many others it has.
func factsOfSpans(t *testing.T, name string) (facts map[string]spanFact, synthetic int) {
	t.Helper()
	facts = map[string]spanFact{}
	for line := range bytes.Lines(contentAt(t, name)) {
		var request struct {
			ResourceSpans []struct {
				ScopeSpans []struct {
					Scope struct{ Name string }
					Spans []struct {
						TraceID, SpanID, ParentSpanID, Name string
						Kind                                int
						Status                              struct{ Code int }
						Attributes                          []struct{ Key string }
					}
				}
			}
		}
		if err := json.Unmarshal(line, &request); err != nil {
			t.Fatal(err)
		}
		for _, r := range request.ResourceSpans {
			for _, scope := range r.ScopeSpans {
				for _, s := range scope.Spans {
					made := false
					for _, a := range s.Attributes {
						made = made || a.Key == "ntconv.synthetic"
						if a.Key == "trace_id" || a.Key == "span_id" || a.Key == "scope" {
							t.Errorf("%s: span %s has the attribute %s", name, s.Name, a.Key)
						}
					}
					if made {
						synthetic++
						continue
					}
					facts[s.TraceID+"/"+s.SpanID] = spanFact{s.ParentSpanID, s.Name, scope.Scope.Name, s.Kind, s.Status.Code}
				}
			}
		}
	}
	return facts, synthetic
}

// Spans in timelines keep the IDs that the program recorded, so they are the same spans if a timeline is converted to
// OTLP.
func TestSpanIDsOfTimelines(t *testing.T) {
	for recording, least := range map[string]int{"spans-stop": 39, "otel-cpu": 65} {
		dir := t.TempDir()
		succeed(t, dir, "to", "otlp", corpus.Path(recording+".nettrace.zst"), "-o", "want.jsonl")
		want, others := factsOfSpans(t, filepath.Join(dir, "want.jsonl"))
		if len(want) < least {
			t.Fatalf("%s has %d spans with IDs, want at least %d", recording, len(want), least)
		}
		for _, format := range []string{"chrome", "firefox"} {
			succeed(t, dir, "to", format, corpus.Path(recording+".nettrace.zst"), "-o", "timeline.json", "-f")
			succeed(t, dir, "to", "otlp", "timeline.json", "-o", "got.jsonl", "-f")
			got, synthetic := factsOfSpans(t, filepath.Join(dir, "got.jsonl"))
			if len(got) != len(want) || synthetic != others {
				t.Errorf("%s by %s: %d spans with IDs and %d others, want %d and %d", recording, format, len(got), synthetic, len(want), others)
			}
			for id, w := range want {
				if g := got[id]; g != w {
					t.Errorf("%s by %s: span %s: got %v, want %v", recording, format, id, g, w)
				}
			}
		}
	}
}

// CPU time is still CPU time after a timeline.
func TestCPUTimeOfTimelines(t *testing.T) {
	dir := t.TempDir()
	for _, in := range []string{"cpu-v6.nettrace.zst", "go-cpu.pb.gz"} {
		for _, samples := range []string{"v8", "stackframes"} {
			succeed(t, dir, "to", "chrome", "--samples", samples, corpus.Path(in), "-o", "x.json", "-f")
			succeed(t, dir, "to", "folded", "--sample-type", "cpu", "x.json", "-o", "x.folded", "-f")
			if r := invoke(t, dir, nil, "to", "folded", "--sample-type", "wall", "x.json", "-o", "y.folded"); r.code == exitOK {
				t.Errorf("%s, %s: there is wall time: %s", in, samples, r.stderr)
			}
		}
	}
}

// Args with the names of IDs are recorded IDs only if they are valid and unique.
func TestSpanIDsOfForeignSlices(t *testing.T) {
	dir := t.TempDir()
	const trace = `"trace_id":"0123456789abcdef0123456789abcdef"`
	for args, want := range map[string]int{
		trace + `,"span_id":"0123456789abcdef"`:   1, // the second slice with these IDs is another one
		trace + `,"span_id":"0000000000000000"`:   0,
		trace + `,"span_id":"0123456789abcde"`:    0,
		trace + `,"span_id":"0123456789abcdeg"`:   0,
		trace + `,"span_id":81985529216486895`:    0,
		trace:                                     0,
		`"trace_id":7,"span_id":"0123456789abcd"`: 0,
	} {
		event := `{"ph":"X","pid":1,"tid":1,"ts":1700000000000000,"dur":1,"name":"f","args":{` + args + `}}`
		write(t, dir, "x.json", []byte("["+event+","+event+"]"))
		succeed(t, dir, "to", "otlp", "x.json", "-o", "x.jsonl", "-f")
		spans := bytes.Count(contentAt(t, dir+"/x.jsonl"), []byte(`"traceId"`))
		made := bytes.Count(contentAt(t, dir+"/x.jsonl"), []byte(`ntconv.synthetic`))
		if spans != 2 || spans-made != want {
			t.Errorf("%s: %d of %d spans have recorded IDs, want %d", args, spans-made, spans, want)
		}
	}
}
