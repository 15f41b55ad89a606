package parquet_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"testing"

	"go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/exporters/otlp"
	"github.com/ntconv/ntconv/exporters/parquet"
	"github.com/ntconv/ntconv/importers/chrome"
	otlpin "github.com/ntconv/ntconv/importers/otlp"
	"github.com/ntconv/ntconv/internal/tables"
	"github.com/ntconv/ntconv/internal/testing/corpus"
)

// A spanSummary is what the table spans and OTLP both say about a span.
type spanSummary struct {
	trace, id, parent, name       string
	kind                          string
	start, end                    int64
	status, message               string
	attributes, events, links     int
	scope, scopeVersion, resource string
}

func spanTraces(t *testing.T) (files []corpus.File) {
	files = []corpus.File{corpus.Trace(t, "activities"), corpus.Trace(t, "spans-stop")}
	if _, err := corpus.Find("data"); err == nil {
		for _, name := range []string{"own/spans-both", "own/spans-http", "own/spans-multi", "otel/otel-spans-both", "otel/otel-web-stop"} {
			files = append(files, corpus.SharedTrace(t, name))
		}
	}
	return files
}

// otlpSpans returns the spans that exporters/otlp writes for a trace.
func otlpSpans(t *testing.T, src ntconv.Source, o *otlp.Options) (list []*v1.ResourceSpans) {
	t.Helper()
	var out bytes.Buffer
	sink := otlp.NewFile(&out, otlp.Protobuf, src.Info(), nil, o)
	pump(t, src, sink, nil)
	var data v1.TracesData
	if err := proto.Unmarshal(out.Bytes(), &data); err != nil {
		t.Fatal(err)
	}
	return data.ResourceSpans
}

func summarize(t *testing.T, list []*v1.ResourceSpans, imported bool) (out []spanSummary) {
	t.Helper()
	kinds := []string{"unspecified", "internal", "server", "client", "producer", "consumer"}
	statuses := []string{"unset", "ok", "error"}
	for _, r := range list {
		for _, scope := range r.ScopeSpans {
			for _, s := range scope.Spans {
				sum := spanSummary{
					trace: hex.EncodeToString(s.TraceId), id: hex.EncodeToString(s.SpanId), parent: hex.EncodeToString(s.ParentSpanId),
					name: s.Name, kind: kinds[s.Kind], start: int64(s.StartTimeUnixNano), end: int64(s.EndTimeUnixNano),
					status: statuses[s.Status.GetCode()], message: s.Status.GetMessage(), events: len(s.Events), links: len(s.Links),
					scope: scope.Scope.GetName(), scopeVersion: scope.Scope.GetVersion(),
				}
				keys := map[string]bool{}
				for _, a := range s.Attributes {
					switch a.Key {
					case "ntconv.synthetic", "thread.id", "thread.name": // columns of their own
					default:
						keys[a.Key] = true
					}
				}
				sum.attributes = len(keys)
				if imported {
					resource := map[string]string{}
					for _, a := range r.Resource.GetAttributes() {
						resource[a.Key] = a.Value.GetStringValue()
					}
					sum.resource = fmt.Sprint(slices.Sorted(maps.Keys(resource)), resource["service.name"])
				}
				out = append(out, sum)
			}
		}
	}
	return sortSpans(out)
}

func tableSpans(t *testing.T, m memory, imported bool) (out []spanSummary) {
	t.Helper()
	elements := func(text string) (list []map[string]any) {
		if text != "" {
			if err := json.Unmarshal([]byte(text), &list); err != nil {
				t.Fatalf("%v: %s", err, text)
			}
		}
		return list
	}
	for _, s := range rowsOf[tables.Span](t, m, "spans") {
		sum := spanSummary{
			trace: s.TraceID, id: s.SpanID, parent: s.ParentSpanID, name: s.Name, kind: s.Kind, start: s.TSNanos, status: s.Status, message: s.StatusMessage,
			events: len(elements(s.Events)), links: len(elements(s.Links)), scope: s.Scope, scopeVersion: s.ScopeVersion,
		}
		if s.DurationNanos != nil {
			sum.end = s.TSNanos + *s.DurationNanos
			if s.EndTS == nil || *s.EndTS != sum.end/1000 || s.TS != s.TSNanos/1000 {
				t.Errorf("span %s: columns of times differ", s.SpanID)
			}
		}
		for key := range s.Attributes {
			if key != "thread.id" && key != "thread.name" {
				sum.attributes++
			}
		}
		if imported {
			sum.resource = fmt.Sprint(slices.Sorted(maps.Keys(s.Resource)), s.Resource["service.name"])
		}
		out = append(out, sum)
	}
	return sortSpans(out)
}

func sortSpans(list []spanSummary) []spanSummary {
	slices.SortFunc(list, func(a, b spanSummary) int { return bytes.Compare(fmt.Append(nil, a), fmt.Append(nil, b)) })
	return list
}

func compareSpans(t *testing.T, got, want []spanSummary) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d spans, want %d", len(got), len(want))
	}
	for i := range want {
		if got[i] != want[i] {
			t.Fatalf("span %d of %d:\n%+v\nwant\n%+v", i, len(want), got[i], want[i])
		}
	}
}

func tablesOf(t *testing.T, src ntconv.Source, o parquet.Options) memory {
	t.Helper()
	m := memory{}
	o.Ordered, o.TempDir = true, t.TempDir()
	sink, err := parquet.New(m.create, src.Info(), nil, &o)
	if err != nil {
		t.Fatal(err)
	}
	pump(t, src, sink, nil)
	return m
}

// The table spans has the spans that ntconv to otlp writes, with as many attributes, events and links.
func TestSpansAreThoseOfOTLP(t *testing.T) {
	for _, f := range spanTraces(t) {
		t.Run(f.Name, func(t *testing.T) {
			src, _ := reading(t, f.Data)
			want := summarize(t, otlpSpans(t, src, &otlp.Options{Unfinished: otlp.OpenUnfinished}), false)
			src, _ = reading(t, f.Data)
			m := tablesOf(t, src, parquet.Options{Tables: []string{"spans", "intervals"}})
			compareSpans(t, tableSpans(t, m, false), want)
			if len(want) == 0 {
				t.Error("the trace has no spans")
			}
		})
	}
}

// Slices of Chrome's format are spans as in OTLP, too.
func TestSpansOfChrome(t *testing.T) {
	data, err := os.ReadFile("../../importers/chrome/testdata/phases.json")
	if err != nil {
		t.Fatal(err)
	}
	open := func() ntconv.Source {
		src, err := chrome.New(bytes.NewReader(data), &chrome.Options{TempDir: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		return src
	}
	want := summarize(t, otlpSpans(t, open(), &otlp.Options{Unfinished: otlp.OpenUnfinished}), false)
	m := tablesOf(t, open(), parquet.Options{})
	compareSpans(t, tableSpans(t, m, false), want)
	rows := rowsOf[tables.Span](t, m, "spans")
	for _, s := range rows {
		if s.Source != "chrome" || !s.MadeID {
			t.Errorf("span %+v", s)
		}
	}
	if len(rows) < 10 {
		t.Errorf("%d spans", len(rows))
	}
}

// Imported spans are complete: attributes, events, links, status, scope and resource.
func TestSpansOfOTLPFiles(t *testing.T) {
	for _, name := range []string{"otel-spans-both", "otel-spans-events", "otel-web-tags"} {
		data := corpus.Read(t, corpus.Shared(t, "data", "otel", name+".otlp.binpb"))
		src, err := otlpin.New(bytes.NewReader(data), &otlpin.Options{ByTime: true})
		if err != nil {
			t.Fatal(err)
		}
		want := summarize(t, otlpSpans(t, src, &otlp.Options{Unfinished: otlp.OpenUnfinished}), true)
		if src, err = otlpin.New(bytes.NewReader(data), &otlpin.Options{ByTime: true}); err != nil {
			t.Fatal(err)
		}
		m := tablesOf(t, src, parquet.Options{})
		compareSpans(t, tableSpans(t, m, true), want)
		for _, s := range rowsOf[tables.Span](t, m, "spans") {
			if s.Source != "imported" || s.MadeID {
				t.Fatalf("%s: span %+v", name, s)
			}
		}
	}
}

// With Options.Active an interval has the span that was active on its thread, which is the parent or a link of it in
// OTLP, directly or through an interval that encloses it.
func TestIntervalsOfSpans(t *testing.T) {
	const runtime = otlp.GC | otlp.JIT | otlp.Contention | otlp.Exceptions | otlp.Requests
	for _, name := range []string{"filtrace-contention-net10", "filtrace-alloc-net10"} {
		data := corpus.SharedTrace(t, "nettrace/"+name).Data
		src, _ := reading(t, data)
		o := &otlp.Options{Sources: otlp.DefaultSources | runtime, Unfinished: otlp.OpenUnfinished}
		index := otlp.NewActiveSpans(src.Info(), o)
		for e := range ntconv.Events(src) {
			index.Add(e)
		}
		index.Finish()
		o.Active = index.Find
		src, _ = reading(t, data)
		want := 0
		for _, r := range otlpSpans(t, src, o) {
			for _, scope := range r.ScopeSpans {
				for _, s := range scope.Spans {
					if scope.Scope.GetName() == "Microsoft-Windows-DotNETRuntime" && (len(s.Links) > 0 || len(s.ParentSpanId) > 0 && s.Name != "GC pause") {
						want++
					}
				}
			}
		}
		src, _ = reading(t, data)
		m := tablesOf(t, src, parquet.Options{Active: index.Find})
		spans := map[string]bool{}
		for _, s := range rowsOf[tables.Span](t, m, "spans") {
			spans[s.TraceID+s.SpanID] = true
		}
		got := 0
		for _, r := range rowsOf[tables.Interval](t, m, "intervals") {
			if r.SpanID == "" {
				continue
			}
			if got++; !spans[r.TraceID+r.SpanID] {
				t.Fatalf("%s: %+v: the table of spans does not have the span", name, r)
			}
		}
		if got != want || want == 0 {
			t.Errorf("%s: %d intervals have a span, want %d", name, got, want)
		}
	}
}
