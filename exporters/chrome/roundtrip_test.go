package chrome_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/exporters/chrome"
	"github.com/ntconv/ntconv/exporters/firefox"
	importer "github.com/ntconv/ntconv/importers/chrome"
	geckoimporter "github.com/ntconv/ntconv/importers/firefox"
	"github.com/ntconv/ntconv/internal/span"
	"github.com/ntconv/ntconv/internal/span/stored"
	"github.com/ntconv/ntconv/internal/span/tracker"
	"github.com/ntconv/ntconv/internal/testing/corpus"
	"github.com/ntconv/ntconv/internal/testing/timelines"
	"github.com/ntconv/ntconv/ntconvtest"
	"github.com/ntconv/ntconv/reader"
	"github.com/ntconv/ntconv/symbol"
	"github.com/ntconv/ntconv/writer"
)

// phases is a file with events of all phases, as other programs write them.
const phases = `{"displayTimeUnit":"ms","otherData":{"version":"1.2"},"metadata":{"a":[1,{"b":null}]},"traceEvents":[
{"ph":"M","pid":1,"tid":2,"cat":"__metadata","ts":0,"name":"thread_name","args":{"name":"worker"}},
{"ph":"M","pid":1,"name":"process_labels","args":{"labels":"x,y"}},
{"ph":"B","pid":1,"tid":2,"ts":1700000000000.125,"cat":"c","name":"begin","args":{"n":9007199254740993}},
{"ph":"i","pid":1,"tid":2,"ts":1700000000000.126,"cat":"c,d","name":"instant","s":"t"},
{"ph":"I","pid":1,"tid":2,"ts":1700000000000.2,"cat":"c","name":"old instant","s":"g"},
{"ph":"E","pid":1,"tid":2,"ts":1700000000000.25,"cat":"c","name":"begin"},
{"ph":"X","pid":1,"tid":2,"ts":1700000000001,"dur":2.5,"tdur":1,"tts":7,"cat":"c","name":"complete","cname":"good"},
{"ph":"C","pid":1,"ts":1700000000002,"name":"counter","args":{"a":1,"b":2.5}},
{"ph":"b","pid":1,"tid":2,"ts":1700000000003,"cat":"c","name":"async","id2":{"local":"0x1"}},
{"ph":"n","pid":1,"tid":2,"ts":1700000000003.5,"cat":"c","name":"async","id2":{"local":"0x1"}},
{"ph":"e","pid":1,"tid":3,"ts":1700000000004,"cat":"c","name":"async","id2":{"local":"0x1"}},
{"ph":"S","pid":1,"tid":2,"ts":1700000000005,"cat":"c","name":"old","id":7},
{"ph":"T","pid":1,"tid":2,"ts":1700000000005,"cat":"c","name":"old","id":7,"args":{"step":"one"}},
{"ph":"F","pid":1,"tid":2,"ts":1700000000006,"cat":"c","name":"old","id":7},
{"ph":"s","pid":1,"tid":2,"ts":1700000000007,"cat":"c","name":"flow","id":"a"},
{"ph":"f","pid":1,"tid":3,"ts":1700000000008,"cat":"c","name":"flow","id":"a","bp":"e"},
{"ph":"N","pid":1,"tid":2,"ts":1700000000009,"cat":"c","name":"object","id":"0x9"},
{"ph":"O","pid":1,"tid":2,"ts":1700000000010,"cat":"c","name":"object","id":"0x9","args":{"snapshot":{"deep":[[1],[2,{"x":"y"}]]}}},
{"ph":"D","pid":1,"tid":2,"ts":1700000000011,"cat":"c","name":"object","id":"0x9"},
{"ph":"R","pid":1,"tid":2,"ts":1700000000012,"cat":"blink.user_timing","name":"mark"},
{"ph":"?","pid":1,"tid":2,"ts":1700000000013,"cat":"c","name":"unknown","args":{"text":"\ud800 \u0001é"}}
]}`

// imported returns a Chrome file as a source.
func imported(t *testing.T, text string) ntconv.Source {
	t.Helper()
	src, err := importer.New(strings.NewReader(text), &importer.Options{TempDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	return symbol.Synthesize(src, nil)
}

// exportedFrom writes a source in Chrome's format.
func exportedFrom(t *testing.T, src ntconv.Source, o chrome.Options) []byte {
	t.Helper()
	var out bytes.Buffer
	names := symbol.New(nil)
	o.TempDir = t.TempDir()
	timelines.Write(t, symbol.Watch(src, names), chrome.New(&out, src.Info(), names, &o))
	return out.Bytes()
}

// eventsOf returns the events of a file in JSON with sorted members, and its other members.
func eventsOf(t *testing.T, text []byte) (events []string, others map[string]any) {
	t.Helper()
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	if err := dec.Decode(&others); err != nil {
		t.Fatal(err)
	}
	for _, e := range others["traceEvents"].([]any) {
		b, err := json.Marshal(normal(e))
		if err != nil {
			t.Fatal(err)
		}
		events = append(events, string(b))
	}
	delete(others, "traceEvents")
	return events, others
}

// normal gives all numbers that are not integers the same form.
func normal(v any) any {
	switch v := v.(type) {
	case json.Number:
		if f, err := v.Float64(); err == nil && strings.ContainsAny(string(v), ".eE") {
			return json.Number(strconv.FormatFloat(f, 'g', -1, 64))
		}
	case []any:
		for i := range v {
			v[i] = normal(v[i])
		}
	case map[string]any:
		for k := range v {
			v[k] = normal(v[k])
		}
	}
	return v
}

// TestRoundTrip: Chrome to Chrome, also through a nettrace file, preserves every event, its time and the other members
// of the file.
func TestRoundTrip(t *testing.T) {
	want, others := eventsOf(t, []byte(phases))
	slices.Sort(want)
	for _, way := range []string{"direct", "nettrace"} {
		src := imported(t, phases)
		if way == "nettrace" {
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
			if src, err = reader.NewBytes(file.Bytes(), nil); err != nil {
				t.Fatal(err)
			}
		}
		got, has := eventsOf(t, exportedFrom(t, src, chrome.Options{}))
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("%s:\n got %s\nwant %s", way, strings.Join(got, "\n     "), strings.Join(want, "\n     "))
		}
		a, _ := json.Marshal(has)
		b, _ := json.Marshal(others)
		if !bytes.Equal(a, b) {
			t.Errorf("%s: other members %s, want %s", way, a, b)
		}
	}
}

// TestExportImport: the output of this package can be imported, and exporting it again yields the same file.
func TestExportImport(t *testing.T) {
	timelines.SmallTraces(t, func(t *testing.T, file corpus.File) {
		first, _ := exported(t, file.Data, chrome.Options{})
		again := exportedFrom(t, imported(t, string(first)), chrome.Options{})
		want, wantOthers := eventsOf(t, first)
		got, gotOthers := eventsOf(t, again)
		if a, b := withoutProfiles(got), withoutProfiles(want); !slices.Equal(a, b) {
			t.Errorf("%d events, want %d", len(a), len(b))
			for i := range a {
				if i >= len(b) || a[i] != b[i] {
					t.Fatalf("got %s\nwant %s", a[i], b[min(i, len(b)-1)])
				}
			}
		}
		delete(wantOthers, "samples")
		a, _ := json.Marshal(gotOthers)
		b, _ := json.Marshal(wantOthers)
		if !bytes.Equal(a, b) {
			t.Errorf("other members %s, want %s", a, b)
		}
		x, y := check(t, parse(t, again)), count(t, parse(t, first))
		for key, w := range y.weights {
			if strings.HasSuffix(key, "(root)") || strings.HasSuffix(key, "(idle)") {
				continue
			}
			// Which gaps are too short for an idle sample depends on nanoseconds, which the first file has not: see
			// v8Sampler.end.
			if diff := x.weights[key] - w; diff > 200_000 || -diff > 200_000 {
				t.Errorf("%s: %d ns, want %d ns", key, x.weights[key], w)
			}
		}
	})
}

// withoutProfiles returns the events, sorted, without those of profiles and the marks of threads with samples, which every
// export builds again.
func withoutProfiles(events []string) []string {
	events = slices.DeleteFunc(slices.Clone(events), func(e string) bool { return strings.Contains(e, `"ph":"P"`) || strings.Contains(e, `"cat":"samples"`) })
	slices.Sort(events)
	return events
}

// TestAttributesRoundTrip: attributes of a span, and the facts about it, are those of the span that an importer reads
// from the files of exporters with args, with their names and values. Bytes are "hex:" and digits, and in the format of
// the Firefox Profiler an object is its JSON.
func TestAttributesRoundTrip(t *testing.T) {
	thread := &ntconv.Thread{TID: 2, Process: &ntconv.Process{PID: 1}}
	start := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	info := &ntconv.Info{Clock: ntconv.Clock{Freq: 1e9, Wall: start}, PointerSize: 8}
	encoder := stored.NewEncoder(stored.Spans)
	encoder.Encode(&span.Span{
		Context: span.Context{TraceID: span.TraceID{1}, ID: span.ID{2}}, ParentID: span.ID{3}, Name: "pay", Kind: span.KindServer,
		Start: uint64(start.UnixNano()), End: uint64(start.UnixNano()) + 5000, Scope: &span.Scope{Name: "shop"}, Resource: &span.Resource{},
		Status: span.StatusError, StatusMessage: "no", TraceState: "a=b", Attributes: []span.Attribute{
			{Key: "http.method", Value: span.String("GET")}, {Key: "size", Value: span.Int(-7)}, {Key: "ratio", Value: span.Float(0.5)},
			{Key: "ok", Value: span.Bool(true)}, {Key: "raw", Value: span.Bytes("\x01\xff")}, {Key: "kind", Value: span.String("mine")},
			{Key: "list", Value: span.Array([]span.Value{span.Int(1), span.String("two")})}, {Key: "map", Value: span.Map([]span.Attribute{{Key: "a", Value: span.Int(1)}})},
		},
	}, &ntconv.Event{Thread: thread, Capture: thread})
	var events []*ntconv.Event
	for e := encoder.Next(); e != nil; e = encoder.Next() {
		events = append(events, e.Clone())
	}
	var json, gecko bytes.Buffer
	timelines.Write(t, ntconvtest.NewSource(info, events...), chrome.New(&json, info, nil, nil), firefox.New(&gecko, info, nil, nil))
	fromGecko, err := geckoimporter.New(&gecko, nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, src := range map[string]ntconv.Source{"chrome": imported(t, json.String()), "firefox": symbol.Synthesize(fromGecko, nil)} {
		object := map[string]string{"chrome": `{"a"="1"}`, "firefox": `"{\"a\":1}"`}[name]
		got := attributesOf(t, src, "pay")
		for _, want := range []string{
			`http.method="GET"`, `fact kind: server`, `kind="mine"`, `list=["1" "two"]`, `map=` + object, `ok=true`, `ratio=0.5`, `size=-7`,
			`raw="hex:01ff"`, `fact scope: shop`, `fact status: error`, `fact status_message: no`, `fact trace_state: a=b`, `fact span_id: 0200000000000000`,
			`fact parent_span_id: 0300000000000000`, `fact trace_id: 01000000000000000000000000000000`,
		} {
			if !strings.Contains(" "+got, " "+want+" ") {
				t.Errorf("%s: no attribute %s in %s", name, want, got)
			}
		}
	}
}

// attributesOf returns the facts and attributes of a span as text.
func attributesOf(t *testing.T, src ntconv.Source, name string) (text string) {
	t.Helper()
	tr := tracker.New(src.Info(), func(s *span.Span) {
		if s.Name == name {
			for f := range span.FactCount {
				text += "fact " + f.String() + ": " + string(s.AppendFact(nil, f)) + " "
			}
			for i := range s.Attributes {
				text += s.Attributes[i].Key + "=" + textOf(s.Attributes[i].Value) + " "
			}
		}
	}, nil)
	for e, err := range ntconv.Events(src) {
		if err != nil {
			t.Fatal(err)
		}
		tr.Add(e)
	}
	tr.Finish()
	return text
}

func textOf(v span.Value) (text string) {
	switch v.Kind() {
	case span.ValueString:
		return strconv.Quote(v.Str())
	case span.ValueArray:
		for _, e := range v.Elems() {
			text += " " + strconv.Quote(strings.Trim(textOf(e), `"`))
		}
		return "[" + strings.TrimSpace(text) + "]"
	case span.ValueMap:
		for _, m := range v.Members() {
			text += fmt.Sprintf("%q=%q", m.Key, textOf(m.Value))
		}
		return "{" + text + "}"
	}
	return string(v.AppendText(nil))
}
