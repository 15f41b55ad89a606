package parquet_test

import (
	"bytes"
	"encoding/binary"
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
	"github.com/ntconv/ntconv/reader"
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

// The table intervals has the intervals that ntconv to otlp --spans all writes.
func TestIntervalsAreThoseOfOTLP(t *testing.T) {
	const runtime = otlp.GC | otlp.JIT | otlp.Contention | otlp.Exceptions | otlp.Requests | otlp.Waits | otlp.Suspensions
	files := []corpus.File{corpus.Trace(t, "alloc-verbose"), corpus.Trace(t, "exceptions"), corpus.Trace(t, "jit")}
	if _, err := corpus.Find("data"); err == nil {
		files = append(files, corpus.SharedTrace(t, "own/waits"), corpus.SharedTrace(t, "own/alloc-gccollect"))
	}
	kinds := map[string]int{}
	for _, f := range files {
		src, _ := reading(t, f.Data)
		want := map[string][2]int64{} // count and time by name
		for _, s := range summarize(t, otlpSpans(t, src, &otlp.Options{Sources: otlp.DefaultSources | runtime, Unfinished: otlp.OpenUnfinished}), false) {
			if s.scope == "Microsoft-Windows-DotNETRuntime" {
				sum := want[s.name]
				sum[0]++
				sum[1] += max(s.end-s.start, 0)
				want[s.name] = sum
			}
		}
		src, _ = reading(t, f.Data)
		got := map[string][2]int64{}
		for _, r := range rowsOf[tables.Interval](t, tablesOf(t, src, parquet.Options{}), "intervals") {
			sum := got[r.Name]
			sum[0]++
			if r.DurationNanos != nil {
				sum[1] += *r.DurationNanos
			}
			got[r.Name] = sum
			kinds[r.Kind]++
			if r.Kind == "" || r.SpanID != "" && len(r.TraceID) != 32 {
				t.Errorf("%s: %+v", f.Name, r)
			}
		}
		if !maps.Equal(got, want) || len(want) == 0 {
			t.Errorf("%s: got %v, want %v", f.Name, got, want)
		}
	}
	for _, kind := range []string{"gc", "gc_pause", "jit", "exception"} {
		if kinds[kind] == 0 {
			t.Errorf("no interval of kind %s", kind)
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

// The program that was recorded has counted its garbage collections by generation and above.
func TestCollectionsOfRecording(t *testing.T) {
	var truth struct {
		Collections map[string]int64 `json:"collections"`
	}
	data, err := os.ReadFile(corpus.Path("alloc-verbose.truth.json"))
	if err == nil {
		err = json.Unmarshal(data, &truth)
	}
	if err != nil {
		t.Fatal(err)
	}
	src, _ := reading(t, corpus.Trace(t, "alloc-verbose").Data)
	exact := map[string]int64{}
	for _, r := range rowsOf[tables.Interval](t, tablesOf(t, src, parquet.Options{}), "intervals") {
		if r.Kind == "gc" {
			exact[r.Attributes["dotnet.gc.heap.generation"]]++
		}
	}
	got := map[string]int64{"gen2": exact["gen2"], "gen1+": exact["gen1"] + exact["gen2"], "gen0+": exact["gen0"] + exact["gen1"] + exact["gen2"]}
	if !maps.Equal(got, truth.Collections) {
		t.Errorf("collections %v, want %v", got, truth.Collections)
	}
}

// Two exports of a trace have the same bytes, maps included.
func TestSpansAreDeterministic(t *testing.T) {
	for _, f := range spanTraces(t)[:2] {
		var first memory
		for range 3 {
			src, err := reader.New(bytes.NewReader(f.Data), &reader.Options{Order: reader.ByTime})
			if err != nil {
				t.Fatal(err)
			}
			m := tablesOf(t, src, parquet.Options{Tables: []string{"spans", "intervals", "counters", "samples"}})
			if first == nil {
				first = m
			}
			for name := range m {
				if !bytes.Equal(m[name].Bytes(), first[name].Bytes()) {
					t.Errorf("%s: two exports differ in %s", f.Name, name)
				}
			}
		}
	}
}

// manySpans is a source of Start and Stop events of several threads.
type manySpans struct {
	manySamples
	types [2]*ntconv.Type
}

func newManySpans(n int) *manySpans {
	s := &manySpans{manySamples: *newManySamples(2 * n)}
	field := []ntconv.Field{{Name: "Order", Type: ntconv.FieldType{Code: ntconv.TypeInt32}}}
	s.types = [2]*ntconv.Type{
		{Provider: "Shop", ID: 1, Name: "OrderStart", Opcode: 1, HasOpcode: true, Fields: field},
		{Provider: "Shop", ID: 2, Name: "OrderStop", Opcode: 2, HasOpcode: true, Fields: field},
	}
	return s
}

func (s *manySpans) Next() (*ntconv.Event, error) {
	i := s.next
	e, err := s.manySamples.Next()
	if err == nil {
		e.Type, e.Thread, e.Stack = s.types[i/20%2], s.threads[i%20], nil // 20 threads start, and then they stop
		e.Capture = e.Thread
		e.Payload = binary.LittleEndian.AppendUint32(e.Payload[:0], uint32(i/40))
	}
	return e, err
}

func BenchmarkSpans(b *testing.B) {
	const n = 100_000
	for b.Loop() {
		src := newManySpans(n)
		sink, err := parquet.New(memory{}.create, src.Info(), nil, &parquet.Options{Tables: []string{"spans", "intervals"}, TempDir: b.TempDir()})
		if err != nil {
			b.Fatal(err)
		}
		pump(b, src, sink, nil)
		if made := sink.Summary().Spans; made != n {
			b.Fatalf("%d spans", made)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/span")
}
